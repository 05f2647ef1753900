import { createPrivateKey, hash, type KeyObject, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { fromBase58 } from '../domain/base58.ts';
import type { Clock } from '../domain/clock.ts';
import { type JwtAlgorithm, signedJwt } from './remote/access-token.ts';
import { createRemoteSigner, type RemoteKey } from './remote/remote-signer.ts';
import { createServiceClient, REMOTE_LIMIT_MS, readTextAtPath, serviceUrlSchema } from './remote/service-client.ts';
import { recoverPublicKey } from './secp256k1.ts';
import { type Curve, type SignerKind, secretSchema } from './signer.ts';

const API = 'https://api.cdp.coinbase.com/platform';

const configSchema = z.strictObject({
  api_key_id: z.string().min(1).describe('Id of the secret API key'),
  api_key_secret: secretSchema.describe('Secret of the API key'),
  wallet_secret: secretSchema.describe('Wallet secret, which permits signing'),
  account_address: z
    .string()
    .refine((text) => isEvm(text) || solanaKeyOf(text) !== undefined, 'not an address of an EVM or Solana account')
    .describe('Address of the account that signs: EVM (0x…) or Solana'),
  endpoint: serviceUrlSchema.optional().describe(`Base URL of the API. Default: ${API}`),
});

const signatureSchema = z.object({ signature: z.string().regex(/^0x[0-9a-fA-F]{130}$/) });

const transactionSchema = z.object({ signedTransaction: z.base64() });

const messageSchema = z.object({ signature: z.string() });

/** Sends a request to an account. */
type AskAccount = <Answer>(path: string, body: object, answer: z.ZodType<Answer>) => Promise<Answer>;

/** `cdp`: a server account of the Coinbase Developer Platform. */
export const cdpSignerKind: SignerKind<z.output<typeof configSchema>> = {
  type: 'cdp',
  curves: ['secp256k1', 'ed25519'],
  curvesOf: ({ account_address }) => [curveOf(account_address)],
  notFor: { stellar: 'with an Ed25519 account CDP signs transactions of Solana and texts, and no other bytes' },
  configSchema,
  limitMs: REMOTE_LIMIT_MS,
  async create(id, { account_address: address, ...config }, tools) {
    const client = createServiceClient('CDP', (body) => readTextAtPath(body, ['errorMessage']), tools);
    const authorize = cdpAuthorization(
      {
        apiKeyId: config.api_key_id,
        apiKeySecret: tools.secrets(config.api_key_secret),
        walletSecret: tools.secrets(config.wallet_secret),
      },
      tools.clock,
    );
    const family = isEvm(address) ? 'evm' : 'solana';
    const base = `${(config.endpoint ?? API).replace(/\/+$/, '')}/v2/${family}/accounts/${address}`;

    const ask: AskAccount = (path, content, answer) => {
      const url = new URL(`${base}/${path}`);
      const body = JSON.stringify(content);
      const headers = () => ({ 'content-type': 'application/json', ...authorize(url, body) });
      return client.ask({ url, headers, body, answer });
    };

    const find = async (curve: Curve) => {
      const actual = curveOf(address);
      if (actual !== curve) throw new Error(`its account is on ${actual}, and is asked to sign on ${curve}`);
      return family === 'evm' ? await evmKey(address, ask) : solanaKey(address, ask);
    };
    return createRemoteSigner(id, find, { signsTexts: family === 'solana' });
  },
};

/** Finds the public key of an account. Only its address is known, so the key is recovered from a signature. */
async function evmKey(address: string, ask: AskAccount): Promise<RemoteKey> {
  const sign = async (digest: Uint8Array): Promise<Buffer> => {
    const content = { hash: `0x${Buffer.from(digest).toString('hex')}` };
    const { signature } = await ask('sign', content, signatureSchema);
    return Buffer.from(signature.slice(2, 130), 'hex');
  };
  const digest = personalDigest('Isolayer asks which key this account has');
  const signature = await sign(digest);
  for (const recoveryId of [0, 1]) {
    const publicKey = recoverPublicKey(digest, Buffer.concat([signature, Buffer.from([recoveryId])]));
    if (publicKey !== undefined && addressOf(publicKey) === address.toLowerCase()) return { publicKey, sign };
  }
  throw new Error(`the signature that came back was made by another key than that of ${address}`);
}

function solanaKey(address: string, ask: AskAccount): RemoteKey {
  const publicKey = Buffer.from(solanaKeyOf(address) ?? '');
  return {
    publicKey,
    async sign(message) {
      const { transaction, place } = unsignedTransaction(Buffer.from(message), publicKey);
      const content = { transaction: transaction.toString('base64') };
      const { signedTransaction } = await ask('sign/transaction', content, transactionSchema);
      return signatureIn(Buffer.from(signedTransaction, 'base64'), place);
    },
    async signText(text) {
      if (isTransactionOf(Buffer.from(text, 'utf8'), publicKey)) throw new Error('the text is a transaction');
      const { signature } = await ask('sign/message', { message: text }, messageSchema);
      return fromBase58(signature, 64) ?? new Uint8Array();
    },
  };
}

/** The public key of a Solana address: the address is the key itself. */
function solanaKeyOf(address: string): Uint8Array | undefined {
  return fromBase58(address, 32);
}

function isEvm(address: string): boolean {
  return /^0x[0-9a-fA-F]{40}$/.test(address);
}

function curveOf(address: string): Curve {
  return isEvm(address) ? 'secp256k1' : 'ed25519';
}

/** The digest of a text (EIP-191). No chain accepts it as a transaction. */
function personalDigest(text: string): Buffer {
  return hash('keccak-256', Buffer.from(`\u0019Ethereum Signed Message:\n${text.length}${text}`), 'buffer');
}

function addressOf(publicKey: Uint8Array): string {
  return `0x${hash('keccak-256', publicKey.subarray(1), 'buffer').toString('hex', 12)}`;
}

/**
 * The form of a Solana transaction around its message, as far as a service needs it that signs whole transactions. First
 * come the signatures, then the message, which begins with a header and the accounts.
 * https://solana.com/docs/core/transactions
 */

const SIGNATURE = 64;

const KEY = 32;

/**
 * A transaction with empty signatures, and the place of the account's signature among them.
 * @throws Error when the bytes are no message of version 0 or before, or the account does not sign it
 */
export function unsignedTransaction(message: Buffer, account: Buffer): { transaction: Buffer; place: number } {
  const [first = 0xff] = message;
  // Version 0 has a byte before the header. Messages from before versions have none.
  const header = first === 0x80 ? 1 : 0;
  const needed = message[header] ?? 0;
  const { count, next } = compactAt(message, header + 3);
  if (first > 0x80 || needed === 0 || needed > count || next + count * KEY > message.length) {
    throw new Error('CDP signs transactions of Solana and texts, and no other bytes');
  }
  for (let place = 0; place < needed; place += 1) {
    const at = next + place * KEY;
    if (!message.subarray(at, at + KEY).equals(account)) continue;
    return { transaction: Buffer.concat([compact(needed), Buffer.alloc(needed * SIGNATURE), message]), place };
  }
  throw new Error('the transaction is not one that this account signs');
}

/** Whether bytes are a transaction that the account signs. */
function isTransactionOf(bytes: Buffer, account: Buffer): boolean {
  try {
    return unsignedTransaction(bytes, account).place >= 0;
  } catch {
    return false;
  }
}

/** The signature at a place; empty where there is none. */
export function signatureIn(transaction: Buffer, place: number): Buffer {
  const { count, next } = compactAt(transaction, 0);
  return place < count
    ? transaction.subarray(next + place * SIGNATURE, next + (place + 1) * SIGNATURE)
    : Buffer.alloc(0);
}

/** Reads a number of up to 16 bits. Each byte has seven of them, the lowest first. */
function compactAt(bytes: Buffer, at: number): { count: number; next: number } {
  let count = 0;
  for (let index = 0; index < 3; index += 1) {
    const byte = bytes[at + index] ?? 0;
    count |= (byte & 0x7f) << (7 * index);
    if (byte < 0x80) return { count, next: at + index + 1 };
  }
  return { count: 0, next: at + 3 };
}

function compact(count: number): Buffer {
  return count < 0x80 ? Buffer.from([count]) : Buffer.from([(count & 0x7f) | 0x80, count >> 7]);
}

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
