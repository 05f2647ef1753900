import { type KeyObject, sign } from 'node:crypto';
import type { JsonObject } from '../../domain/json/json.ts';

/** The algorithms of RFC 7518 and RFC 8037 that services ask for. */
export type JwtAlgorithm = 'RS256' | 'ES256' | 'EdDSA';

/** A signed JSON Web Token in its compact form (RFC 7519). */
export function signedJwt(algorithm: JwtAlgorithm, key: KeyObject, header: JsonObject, claims: JsonObject): string {
  const parts = [{ alg: algorithm, typ: 'JWT', ...header }, claims];
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  // EdDSA has its own hash. ES256 has r ‖ s instead of DER.
  const signature = sign(algorithm === 'EdDSA' ? null : 'sha256', Buffer.from(text), {
    key,
    dsaEncoding: 'ieee-p1363',
  });
  return `${text}.${signature.toString('base64url')}`;
}
