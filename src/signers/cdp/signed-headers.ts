import { createPrivateKey, hash, type KeyObject, randomUUID } from 'node:crypto';
import type { Clock } from '../../domain/clock.ts';
import { type JwtAlgorithm, signedJwt } from '../remote/jwt.ts';

/** How long a token is valid. */
const SECONDS = 120;

/** The credentials that prove who the caller is, and that it may use wallets. */
export interface CdpCredentials {
  apiKeyId: string;
  /** 64 bytes in base64, the seed of an Ed25519 key and its public key; or an older P-256 key in PEM. */
  apiKeySecret: string;
  /** A P-256 key: PKCS #8 in base64. */
  walletSecret: string;
}

/**
 * The headers of a POST, made for exactly this address and body.
 * https://docs.cdp.coinbase.com/api-reference/v2/authentication
 * @throws Error when a credential is not valid
 */
export function cdpAuthorization(
  { apiKeyId, apiKeySecret, walletSecret }: CdpCredentials,
  clock: Pick<Clock, 'now'>,
): (url: URL, body: string) => Record<string, string> {
  const api = readApiKey(apiKeySecret);
  const wallet = readWalletKey(walletSecret);
  return (url, body) => {
    const iat = Math.floor(clock.now() / 1_000);
    const uris = [`POST ${url.host}${url.pathname}`];
    const claims = { sub: apiKeyId, iss: 'cdp', iat, nbf: iat, exp: iat + SECONDS, uris };
    // The hash must be of the body with sorted keys. Bodies with one key are always sorted.
    const use = { uris, reqHash: hash('sha256', body, 'hex'), iat, nbf: iat, jti: randomUUID() };
    const nonce = randomUUID().replaceAll('-', '');
    return {
      authorization: `Bearer ${signedJwt(api.algorithm, api.key, { kid: apiKeyId, nonce }, claims)}`,
      'x-wallet-auth': signedJwt('ES256', wallet, {}, use),
    };
  };
}

function readApiKey(secret: string): { algorithm: JwtAlgorithm; key: KeyObject } {
  try {
    if (secret.includes('-----BEGIN')) return { algorithm: 'ES256', key: p256(secret.replaceAll('\\n', '\n')) };
    const bytes = Buffer.from(secret, 'base64');
    if (bytes.length !== 64) throw new Error('not 64 bytes');
    const [d, x] = [bytes.toString('base64url', 0, 32), bytes.toString('base64url', 32)];
    return { algorithm: 'EdDSA', key: createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' }) };
  } catch {
    throw new Error('api_key_secret is neither an Ed25519 key of 64 bytes in base64 nor a P-256 key in PEM');
  }
}

function readWalletKey(secret: string): KeyObject {
  try {
    return p256({ key: Buffer.from(secret, 'base64'), format: 'der', type: 'pkcs8' });
  } catch {
    throw new Error('wallet_secret is not a P-256 key: PKCS #8 in base64');
  }
}

function p256(given: Parameters<typeof createPrivateKey>[0]): KeyObject {
  const key = createPrivateKey(given);
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('another curve');
  return key;
}
