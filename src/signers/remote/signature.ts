import { recoverPublicKey } from '../secp256k1/ecdsa.ts';

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
export function provenSignature(digest: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): Uint8Array {
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
