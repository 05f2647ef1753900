import { AppError } from '../domain/errors.ts';
import { isSecp256k1Scalar, secp256k1PublicKey, signDigest } from './ecdsa.ts';
import { type Ed25519Pair, ed25519Pair } from './ed25519.ts';
import type { Curve, Signer } from './signer.ts';

/**
 * A signer over 32 bytes in this process: a secp256k1 scalar on one curve, an Ed25519 seed on the other. It takes the
 * buffer over and wipes it when closed. Nothing of it can be printed: the key lives in a closure only.
 */
export function createKeySigner(id: string, key: Buffer): Signer {
  let closed = false;
  let secpPublicKey: Uint8Array | undefined;
  let edPair: Ed25519Pair | undefined;

  function secp256k1(): Uint8Array {
    if (!isSecp256k1Scalar(key)) throw new Error('the key is zero or not below the order of secp256k1');
    secpPublicKey ??= secp256k1PublicKey(key);
    return secpPublicKey;
  }

  function ed25519(): Ed25519Pair {
    edPair ??= ed25519Pair(key);
    return edPair;
  }

  async function attempt<T>(use: () => T): Promise<T> {
    if (closed) throw new AppError('SIGNER_FAILED', { id, reason: 'it is closed' });
    try {
      return use();
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'it gave no reason';
      throw new AppError('SIGNER_FAILED', { id, reason }, { cause: error });
    }
  }

  return {
    id,
    publicKey: (curve: Curve) =>
      attempt(() => Uint8Array.from(curve === 'secp256k1' ? secp256k1() : ed25519().publicKey)),
    sign: (curve: Curve, payload: Uint8Array) =>
      attempt(() => {
        if (curve === 'ed25519') return ed25519().sign(payload);
        if (payload.length !== 32) throw new Error(`a digest has 32 bytes, not ${payload.length}`);
        return signDigest(payload, key, secp256k1());
      }),
    async close() {
      closed = true;
      edPair = undefined;
      key.fill(0);
    },
  };
}
