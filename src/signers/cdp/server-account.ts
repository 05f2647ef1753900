import { hash } from 'node:crypto';
import { z } from 'zod';
import { fromBase58 } from '../../domain/base58.ts';
import { createRemoteSigner, type RemoteKey } from '../remote/remote-signer.ts';
import { createServiceClient, REMOTE_LIMIT_MS, serviceUrlSchema, textAt } from '../remote/service-client.ts';
import { recoverPublicKey } from '../secp256k1/ecdsa.ts';
import { secretSchema } from '../secret.ts';
import type { Curve, SignerKind } from '../signer.ts';
import { cdpAuthorization } from './signed-headers.ts';
import { isTransactionOf, signatureIn, unsignedTransaction } from './solana-transaction.ts';

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
    const client = createServiceClient('CDP', (body) => textAt(body, ['errorMessage']), tools);
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
