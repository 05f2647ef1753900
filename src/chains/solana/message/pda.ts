import { createHash } from 'node:crypto';
import { addressOf, keyOf } from '../address.ts';
import { ASSOCIATED_TOKEN_PROGRAM } from '../programs.ts';

/** The field of edwards25519, and the d of its equation -x² + y² = 1 + dx²y² (RFC 8032 5.1). */
const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/** The associated account that holds a wallet's tokens of a mint. Everybody derives the same address. */
export function associatedTokenAddress(owner: string, mint: string, tokenProgram: string): string {
  return programAddress([keyOf(owner), keyOf(tokenProgram), keyOf(mint)], ASSOCIATED_TOKEN_PROGRAM);
}

/**
 * Whether 32 bytes are a point of edwards25519, so that there may be a secret key for them. The bytes hold y, and in
 * the highest bit the sign of x. Decompression (RFC 8032 5.1.3) finds x by x² = u/v with u = y² - 1 and v = dy² + 1. It
 * succeeds when u/v, and so uv, is a square. Like the runtime (curve25519-dalek) this takes a y that is not reduced,
 * and a zero x with a sign.
 */
export function isOnCurve(bytes: Uint8Array): boolean {
  const y = BigInt.asUintN(255, BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`));
  const square = (y * y) % P;
  return isSquare(((square - 1n + P) * (D * square + 1n)) % P);
}

/**
 * The first address off the curve, with bumps from 255 downwards. It has no secret key, so only the program can sign
 * for it.
 */
export function programAddress(seeds: readonly Buffer[], program: string): string {
  const end = Buffer.concat([keyOf(program), Buffer.from('ProgramDerivedAddress')]);
  for (let bump = 255; bump >= 0; bump -= 1) {
    const hash = createHash('sha256');
    for (const part of [...seeds, Buffer.from([bump]), end]) hash.update(part);
    const key = hash.digest();
    if (!isOnCurve(key)) return addressOf(key);
  }
  throw new Error('no bump makes an address off the curve, which chance does once in 2^256 times');
}

/**
 * Whether a number has a square root modulo P. Computes the Jacobi symbol by reciprocity, which is far faster than
 * Euler's criterion.
 */
function isSquare(value: bigint): boolean {
  let isResidue = true;
  let [top, bottom] = [value, P];
  while (top !== 0n) {
    for (; (top & 1n) === 0n; top >>= 1n) {
      const rest = bottom & 7n;
      if (rest === 3n || rest === 5n) isResidue = !isResidue;
    }
    if ((top & bottom & 3n) === 3n) isResidue = !isResidue;
    [top, bottom] = [bottom % top, top];
  }
  return isResidue;
}
