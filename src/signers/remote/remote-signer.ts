import { ed25519Verifier } from '../ed25519.ts';
import type { Curve, Signer } from '../signer.ts';
import { proveSignature } from './signature.ts';

/** One key that a service keeps, as found at its first use. Each version of a key counts as a key of its own. */
export interface RemoteKey {
  /** secp256k1: 65 bytes, uncompressed. ed25519: 32 bytes. */
  readonly publicKey: Uint8Array;
  /** secp256k1: `r ‖ s` over the digest, with low or high s. ed25519: 64 bytes over the message. Not verified. */
  sign(payload: Uint8Array): Promise<Uint8Array>;
  /** ed25519: 64 bytes over the text in UTF-8. Not verified. */
  signText?(text: string): Promise<Uint8Array>;
}

/**
 * A signer for a key that a service keeps. The key is found once and stays the same, because an address is derived from
 * it. A signature is returned only when it leads back to that key. So a rotated, repointed or mixed-up key causes an
 * error here.
 * @param signsTexts whether its key has `signText`
 */
export function createRemoteSigner(
  id: string,
  find: (curve: Curve) => Promise<RemoteKey>,
  { signsTexts = false } = {},
): Signer {
  const keys = new Map<Curve, Promise<ProvenKey>>();

  function keyOf(curve: Curve): Promise<ProvenKey> {
    let known = keys.get(curve);
    if (known === undefined) {
      known = find(curve).then((key) => provenKey(curve, key));
      keys.set(curve, known);
      known.catch(() => keys.delete(curve));
    }
    return known;
  }

  return {
    id,
    publicKey: async (curve) => (await keyOf(curve)).publicKey,
    sign: async (curve, payload) => (await keyOf(curve)).sign(payload),
    ...(signsTexts ? { signText: async (text: string) => (await keyOf('ed25519')).signText(text) } : {}),
    async close() {
      keys.clear();
    },
  };
}

interface ProvenKey {
  publicKey: Uint8Array;
  sign(payload: Uint8Array): Promise<Uint8Array>;
  signText(text: string): Promise<Uint8Array>;
}

const NO_TEXTS = async () => {
  throw new Error('its service signs no texts');
};

function provenKey(curve: Curve, { publicKey, sign, signText = NO_TEXTS }: RemoteKey): ProvenKey {
  if (curve === 'secp256k1') {
    return {
      publicKey,
      async sign(digest) {
        if (digest.length !== 32) throw new Error(`a digest has 32 bytes, not ${digest.length}`);
        return proveSignature(digest, await sign(digest), publicKey);
      },
      signText: NO_TEXTS,
    };
  }
  const isSigned = ed25519Verifier(publicKey);
  const proven = (message: Uint8Array, signature: Uint8Array): Uint8Array => {
    if (isSigned(message, signature)) return signature;
    throw new Error('the signature that came back was made by another key, or over something else');
  };
  return {
    publicKey,
    sign: async (message) => proven(message, await sign(message)),
    signText: async (text) => proven(Buffer.from(text, 'utf8'), await signText(text)),
  };
}
