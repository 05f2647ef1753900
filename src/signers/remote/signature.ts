import { createPublicKey, type KeyObject } from 'node:crypto';
import { recoverPublicKey, uncompressedPoint } from '../secp256k1.ts';
import type { Curve } from '../signer.ts';

/**
 * Turns the signatures that services return for secp256k1 into the signer's 65 bytes. The services return DER or r ‖ s.
 * Half of them return a high s. None returns a reliable recovery id. No signature is trusted without a check.
 */

/** The order of secp256k1 (SEC 2, section 2.4.1). */
const ORDER = 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fffe_baae_dce6_af48_a03b_bfd2_5e8c_d036_4141n;

/**
 * Proves that a key signed a digest. Takes `r ‖ s` from any service, and returns `r ‖ s ‖ recovery` with low s (EIP-2).
 * @param publicKey 65 bytes
 * @throws Error when it is not a signature of that key over that digest
 */
export function proveSignature(digest: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): Uint8Array {
  if (signature.length !== 64)
    throw new Error(`a signature is r and s of 32 bytes each, not ${signature.length} bytes`);
  const proven = new Uint8Array(65);
  proven.set(signature);
  const s = BigInt(`0x${Buffer.from(signature.subarray(32)).toString('hex')}`);
  // Low s: the other s of the same signature, with the other recovery id.
  if (s > ORDER / 2n && s < ORDER) proven.set(scalar(ORDER - s), 32);
  for (const recoveryId of [0, 1]) {
    proven[64] = recoveryId;
    const signer = recoverPublicKey(digest, proven);
    if (signer !== undefined && Buffer.compare(signer, publicKey) === 0) return proven;
  }
  throw new Error('the signature that came back was made by another key, or over something else');
}

/**
 * `r ‖ s` of a DER signature (RFC 3279, section 2.2.3).
 * @throws Error when it is not exactly that
 */
export function signatureOfDer(der: Uint8Array): Uint8Array {
  const [tag, length] = der;
  if (tag !== 0x30 || length !== der.length - 2) throw new Error('the signature that came back is not DER');
  const r = integerAt(der, 2);
  const s = integerAt(der, r.end);
  if (s.end !== der.length) throw new Error('the signature that came back has more than r and s');
  return Buffer.concat([scalar(r.value), scalar(s.value)]);
}

function integerAt(der: Uint8Array, at: number): { value: bigint; end: number } {
  const length = der[at + 1] ?? 0;
  const end = at + 2 + length;
  // 33 bytes: 32 and a leading zero, which keeps the number positive.
  if (der[at] !== 0x02 || length < 1 || length > 33 || end > der.length) {
    throw new Error('the signature that came back is not DER');
  }
  return { value: BigInt(`0x${Buffer.from(der.subarray(at + 2, end)).toString('hex')}`), end };
}

function scalar(value: bigint): Buffer {
  const digits = value.toString(16).padStart(64, '0');
  if (digits.length > 64) throw new Error('the signature that came back has an r or s of more than 32 bytes');
  return Buffer.from(digits, 'hex');
}

/** Reads a public key in the forms of the services. Returns the form of signers: 65 bytes `04 ‖ X ‖ Y`, or 32. */

/**
 * A key in SubjectPublicKeyInfo (RFC 5280), as PEM or as DER.
 * @throws Error when it is a key of another curve, or none
 */
export function publicKeyOfSpki(curve: Curve, spki: string | Uint8Array): Uint8Array {
  let key: KeyObject;
  try {
    key =
      typeof spki === 'string'
        ? createPublicKey(spki)
        : createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  } catch (cause) {
    throw new Error('its public key cannot be read', { cause });
  }
  if (key.asymmetricKeyType === 'ed25519') return ofCurve(curve, 'ed25519', fieldOf(key.export({ format: 'jwk' }).x));
  const { namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  if (namedCurve !== 'secp256k1') throw new Error(`its key is of type ${key.asymmetricKeyType} ${namedCurve}`.trim());
  return ofCurve(curve, 'secp256k1', publicKeyOfJwk(key.export({ format: 'jwk' })));
}

/**
 * The secp256k1 point of a JWK (RFC 8812, section 3.1).
 * @throws Error when x and y are no point of the curve
 */
export function publicKeyOfJwk({ x, y }: { x?: string | undefined; y?: string | undefined }): Uint8Array {
  return publicKeyOfPoint(Buffer.concat([Buffer.from([4]), fieldOf(x), fieldOf(y)]));
}

/**
 * A secp256k1 point, compressed or not.
 * @throws Error when it is no point of the curve
 */
export function publicKeyOfPoint(point: Uint8Array): Uint8Array {
  const whole = uncompressedPoint(point);
  if (whole === undefined) throw new Error('its public key is not a point of secp256k1');
  return whole;
}

function fieldOf(text: string | undefined): Buffer {
  const bytes = Buffer.from(text ?? '', 'base64url');
  if (bytes.length !== 32) throw new Error(`a coordinate of its public key has ${bytes.length} bytes instead of 32`);
  return bytes;
}

function ofCurve(expected: Curve, actual: Curve, publicKey: Uint8Array): Uint8Array {
  if (expected !== actual) throw new Error(`its key is on ${actual}, and is asked to sign on ${expected}`);
  return publicKey;
}
