import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/** The key pair of an Ed25519 seed (RFC 8032), held by OpenSSL. */
export interface Ed25519Pair {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /**
   * 64 bytes.
   * @throws Error when the signature does not verify, which only faulty hardware can cause
   */
  sign(message: Uint8Array): Uint8Array;
}

/** PKCS #8 of an Ed25519 key up to the seed (RFC 8410 section 7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** SubjectPublicKeyInfo of an Ed25519 key up to its 32 bytes (RFC 8410 section 4). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/**
 * Checks signatures against a public key of 32 bytes.
 * @throws Error when it is no public key
 */
export function ed25519Verifier(publicKey: Uint8Array): (message: Uint8Array, signature: Uint8Array) => boolean {
  if (publicKey.length !== 32) throw new Error(`an Ed25519 public key has 32 bytes, not ${publicKey.length}`);
  const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' });
  return (message, signature) => signature.length === 64 && verify(null, message, key, signature);
}

/** Makes the pair of a 32-byte seed; the seed may be wiped afterwards. */
export function ed25519Pair(seed: Uint8Array): Ed25519Pair {
  const der = Buffer.concat([PKCS8_PREFIX, seed]);
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } finally {
    der.fill(0);
  }
  const publicKey = createPublicKey(privateKey);
  return {
    publicKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32),
    sign(message) {
      const signature = sign(null, message, privateKey);
      if (!verify(null, message, publicKey, signature)) throw new Error('the signature does not verify');
      return signature;
    },
  };
}
