import { createHash, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { PublicKey, VersionedTransaction } from '@solana/web3.js';
import { computeAddress, hexlify } from 'ethers';
import type { Curve } from '../../../src/signers/signer.ts';
import { toBase58 } from '../../doubles/svm/base58.ts';
import { readJwt } from './jwt.ts';
import { type Answered, type Asked, ServiceDouble } from './service-double.ts';
import { newServiceKey, type ServiceKey } from './service-key.ts';
import type { SignerDouble } from './signer-double.ts';
import { solanaMessage } from './signer-families.ts';

/** One server account of the developer platform. https://docs.cdp.coinbase.com/api-reference/v2 */
export class CdpDouble {
  readonly service = new ServiceDouble((asked) => this.#answer(asked));
  apiKeyId: string = randomUUID();
  apiKey: { privateKey: KeyObject; publicKey: KeyObject };
  wallet = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly curve: Curve;
  address: string;
  /** The clock for the validity of tokens, in milliseconds. */
  now = Date.now;
  key: ServiceKey;
  isAllowed = true;
  readonly #used = new Set<string>();
  /** All tokens that it received. */
  readonly shown: string[] = [];

  constructor(curve: Curve, api: 'ed25519' | 'p256' = 'ed25519') {
    this.curve = curve;
    this.key = newServiceKey(curve);
    this.apiKey =
      api === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { publicKey } = this.key;
    this.address = curve === 'secp256k1' ? computeAddress(hexlify(publicKey)) : new PublicKey(publicKey).toBase58();
  }

  get apiKeySecret(): string {
    const { privateKey } = this.apiKey;
    if (privateKey.asymmetricKeyType === 'ec') return privateKey.export({ format: 'pem', type: 'sec1' }).toString();
    const { d = '', x = '' } = privateKey.export({ format: 'jwk' });
    return Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]).toString('base64');
  }

  get walletSecret(): string {
    return this.wallet.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
  }

  #answer(asked: Asked): Answered {
    try {
      this.#checkTokens(asked);
    } catch (error) {
      return said(401, 'unauthorized', `The request is not properly authenticated: ${(error as Error).message}`);
    }
    const family = this.curve === 'secp256k1' ? 'evm' : 'solana';
    const path = asked.url.pathname.replace(`/platform/v2/${family}/accounts/${this.address}/`, '');
    if (asked.method !== 'POST' || path.startsWith('/')) return said(404, 'not_found', 'Account not found.');
    if (!this.isAllowed) return said(403, 'policy_violation', 'The request was rejected by a policy.');
    if (family === 'evm' && path === 'sign') return this.#signedHash(asked.json ?? {});
    if (family === 'solana' && path === 'sign/transaction') return this.#signedTransaction(asked.json ?? {});
    if (family === 'solana' && path === 'sign/message') return this.#signedMessage(asked.json ?? {});
    return said(404, 'not_found', 'No such operation.');
  }

  #signedMessage({ message, ...more }: Record<string, unknown>): Answered {
    const isText = typeof message === 'string' && message !== '' && Object.keys(more).length === 0;
    if (!isText) return said(400, 'invalid_request', 'message must be a string.');
    return { status: 200, json: { signature: toBase58(this.key.sign(Buffer.from(message, 'utf8'))) } };
  }

  /** @throws Error */
  #checkTokens({ method, url, headers, bytes }: Asked): void {
    const bearer = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    const walletToken = String(headers['x-wallet-auth'] ?? '');
    this.shown.push(bearer, walletToken);
    const uri = `${method} ${url.host}${url.pathname}`;
    const algorithm = this.apiKey.privateKey.asymmetricKeyType === 'ec' ? 'ES256' : 'EdDSA';
    const { header, claims } = readJwt(bearer, algorithm, this.apiKey.publicKey, 120, this.now());
    if (header['kid'] !== this.apiKeyId || claims['sub'] !== this.apiKeyId || claims['iss'] !== 'cdp')
      throw new Error('key');
    if (!/^[0-9a-f]{32}$/.test(String(header['nonce']))) throw new Error('nonce');
    if (JSON.stringify(claims['uris']) !== JSON.stringify([uri])) throw new Error('uris');
    if (claims['exp'] === undefined) throw new Error('exp');

    const { claims: use } = readJwt(walletToken, 'ES256', this.wallet.publicKey, 120, this.now());
    if (JSON.stringify(use['uris']) !== JSON.stringify([uri])) throw new Error('uris of the wallet token');
    const sorted = JSON.stringify(inOrder(JSON.parse(bytes.toString('utf8'))));
    if (use['reqHash'] !== createHash('sha256').update(sorted).digest('hex')) throw new Error('reqHash');
    const jti = String(use['jti']);
    if (jti === 'undefined' || this.#used.has(jti)) throw new Error('jti');
    this.#used.add(jti);
  }

  #signedHash({ hash, ...more }: Record<string, unknown>): Answered {
    const isHash = typeof hash === 'string' && /^0x[0-9a-f]{64}$/.test(hash) && Object.keys(more).length === 0;
    if (!isHash) return said(400, 'invalid_request', 'hash must be 32 bytes in hexadecimal.');
    const signature = this.key.sign(Buffer.from(hash.slice(2), 'hex'));
    return { status: 200, json: { signature: `0x${signature.toString('hex')}1b` } };
  }

  #signedTransaction({ transaction, ...more }: Record<string, unknown>): Answered {
    try {
      const read = VersionedTransaction.deserialize(Buffer.from(String(transaction), 'base64'));
      if (Object.keys(more).length > 0) throw new Error('more');
      read.addSignature(new PublicKey(this.address), this.key.sign(read.message.serialize()));
      return { status: 200, json: { signedTransaction: Buffer.from(read.serialize()).toString('base64') } };
    } catch {
      return said(400, 'malformed_transaction', 'Malformed unsigned transaction.');
    }
  }
}

/** A `cdp` signer's key. */
export async function startCdp(curve: Curve, api?: 'p256'): Promise<SignerDouble & { cdp: CdpDouble }> {
  const cdp = new CdpDouble(curve, api);
  await cdp.service.start();
  return {
    type: 'cdp',
    curve,
    cdp,
    service: cdp.service,
    key: cdp.key,
    publicKey: cdp.key.publicKey,
    ...(curve === 'ed25519' ? { payload: solanaMessage } : {}),
    config: {
      api_key_id: cdp.apiKeyId,
      api_key_secret: { type: 'plain', value: cdp.apiKeySecret },
      wallet_secret: { type: 'plain', value: cdp.walletSecret },
      account_address: cdp.address,
      endpoint: `${cdp.service.url}/platform`,
    },
    busy: said(429, 'rate_limit_exceeded', 'Rate limit exceeded.'),
    secrets: () => [cdp.apiKeySecret, cdp.walletSecret, ...cdp.shown.filter((token) => token !== '')],
    mixUp: () => {
      cdp.key = newServiceKey(curve);
    },
    revoke: () => {
      cdp.isAllowed = false;
    },
    restore: () => {
      cdp.isAllowed = true;
    },
  };
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, inOrder(inner)]),
  );
}

function said(status: number, errorType: string, errorMessage: string): Answered {
  return { status, json: { errorType, errorMessage, correlationId: 'c' } };
}
