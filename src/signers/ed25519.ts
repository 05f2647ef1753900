import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/** The key pair of an Ed25519 seed (RFC 8032), in OpenSSL's keeping. */
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
