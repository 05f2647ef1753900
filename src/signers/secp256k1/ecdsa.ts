import { curve } from './libsecp256k1.ts';

/** ECDSA on secp256k1 by libsecp256k1, which itself gives the recovery id and the low s of EIP-2. */

/** Whether 32 bytes are a private key: a scalar from 1 to the group order less one. */
export function isSecp256k1Scalar(key: Uint8Array): boolean {
  return key.length === 32 && curve.isScalar(key);
}

/** A point of the curve, compressed or not, as 65 bytes `04 ‖ X ‖ Y`; undefined when it is none. */
export function uncompressedPoint(point: Uint8Array): Uint8Array | undefined {
  return curve.pointOf(point);
}

/**
 * The public key of a scalar: 65 bytes, `04 ‖ X ‖ Y`.
 * @throws Error when the scalar is out of range
 */
export function secp256k1PublicKey(key: Uint8Array): Uint8Array {
  const point = curve.multiplyBase(key);
  if (point === undefined) throw new Error('the key is not a secp256k1 scalar');
  return point;
}

/**
 * Signs a 32-byte digest deterministically (RFC 6979): 65 bytes, `r ‖ s ‖ recovery`.
 * @throws Error when the signature does not lead back to the public key, which only faulty hardware can cause
 */
export function signDigest(digest: Uint8Array, key: Uint8Array, publicKey: Uint8Array): Uint8Array {
  const { signature, recoveryId } = curve.sign(digest, key);
  const signed = new Uint8Array(65);
  signed.set(signature);
  signed[64] = recoveryId;
  assertSignedBy(digest, signed, publicKey);
  return signed;
}

/**
 * Checks that a key made a signature with its recovery id. One recovery proves both.
 * @throws Error
 */
export function assertSignedBy(digest: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): void {
  const recoveryId = signature[64];
  if (signature.length !== 65 || (recoveryId !== 0 && recoveryId !== 1)) {
    throw new Error('the signature is not r, s and a recovery id of 0 or 1');
  }
  const signer = curve.recover(digest, signature.subarray(0, 64), recoveryId);
  if (signer === undefined || Buffer.compare(signer, publicKey) !== 0) {
    throw new Error('the signature was made by another key');
  }
}

/**
 * The public key (65 bytes) that a signature with its recovery id leads back to. Undefined when no key can have made
 * it.
 */
export function recoverPublicKey(digest: Uint8Array, signature: Uint8Array): Uint8Array | undefined {
  const recoveryId = signature[64];
  if (signature.length !== 65 || (recoveryId !== 0 && recoveryId !== 1)) return undefined;
  return curve.recover(digest, signature.subarray(0, 64), recoveryId);
}
