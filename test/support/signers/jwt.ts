import { type KeyObject, verify } from 'node:crypto';

/** A token as a service reads it. */
export interface ReadJwt {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
}

/**
 * Checks a token as a service does: its algorithm, its signature, and that it is valid now.
 * @throws Error
 */
export function readJwt(
  text: string,
  algorithm: 'RS256' | 'ES256' | 'EdDSA',
  key: KeyObject,
  longestSeconds: number,
  nowMs = Date.now(),
): ReadJwt {
  const [head = '', body = '', signature = '', ...more] = text.split('.');
  if (signature === '' || more.length > 0) throw new Error('not a compact token');
  const [header, claims] = [head, body].map(
    (part) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Record<string, unknown>,
  ) as [ReadJwt['header'], ReadJwt['claims']];
  if (header['alg'] !== algorithm || header['typ'] !== 'JWT') throw new Error(`alg is not ${algorithm}`);
  const hash = algorithm === 'EdDSA' ? null : 'sha256';
  const bytes = Buffer.from(signature, 'base64url');
  if (!verify(hash, Buffer.from(`${head}.${body}`), { key, dsaEncoding: 'ieee-p1363' }, bytes)) {
    throw new Error('the signature is not that of the key');
  }
  const now = nowMs / 1_000;
  const [iat, exp] = [Number(claims['iat']), Number(claims['exp'] ?? Infinity)];
  if (!(iat <= now + 5) || !(exp > now) || (exp !== Infinity && exp - iat > longestSeconds)) {
    throw new Error('it does not count now');
  }
  return { header, claims };
}
