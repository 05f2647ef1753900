import { Configuration, RelayersApi } from '@openzeppelin/relayer-sdk';
import { createTransferCheckedInstruction } from '@solana/spl-token';
import { Keypair, type PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js';
import type { Test } from 'tap';
import { type Jupiter, startJupiter } from './jupiter.ts';
import type { AnswerBody } from './service.ts';
import { type SolanaStage, solanaStage } from './solana-stage.ts';
import { makeToken, type Token } from './token-scene.ts';
import type { WorkspaceOptions } from './workspace.ts';

/** What a JSON-RPC call answers. */
export interface RpcAnswer {
  id: unknown;
  result: AnswerBody;
  error?: { code: number; message: string; description: string };
}

/** A relayer whose users pay its fees in tokens, with a stand-in for the market. */
export interface GaslessStage extends SolanaStage {
  readonly jupiter: Jupiter;
  readonly sdk: RelayersApi;
  /** A token of 6 decimals; a lamport is worth a fifth of its smallest unit. */
  readonly usd: Token;
  /** The rent of an account of `usd`, in lamports. */
  readonly rent: number;
  /** Sets the policies. All others are unset, and users pay. */
  policies(set?: object): Promise<void>;
  /** One call over the public client. */
  rpc(method: string, params: unknown): Promise<RpcAnswer>;
  /** The refusal of a call, as code and description. */
  refusal(method: string, params: unknown): Promise<string>;
  /** A wallet with some of `usd`, and no SOL. */
  user(amount?: bigint): Promise<Keypair>;
  /** Moves some of `usd` from a user to a wallet. */
  pay(from: Keypair, to: PublicKey, amount: bigint): TransactionInstruction;
  /** A transaction that a user pays for, unsigned, in base64. */
  draft(payer: PublicKey, ...instructions: TransactionInstruction[]): Promise<string>;
  /** The same bytes with one more signature. */
  signedBy(wallet: Keypair, base64: string): string;
}

/** Starts the relayer, its service and its chain, with plugins of the test. Everything ends with the test. */
export async function gaslessStage(
  t: Test,
  { plugins = [], pluginFiles = {} }: Pick<WorkspaceOptions, 'plugins' | 'pluginFiles'> = {},
): Promise<GaslessStage> {
  const jupiter = await startJupiter(t);
  const stage = await solanaStage(
    t,
    { fee_payment_strategy: 'user' },
    {
      env: { JUPITER_API_URL: jupiter.url },
      plugins: [
        { id: 'asks', path: 'calls.ts', permissions: { relayers: { 'local-1': ['rpc'] } } },
        { id: 'acts', path: 'calls.ts', permissions: { relayers: { 'local-1': ['rpc', 'sign', 'send'] } } },
        ...plugins,
      ],
      pluginFiles: { 'calls.ts': CALLS, ...pluginFiles },
    },
  );
  const { connection, service } = stage;
  const sdk = new RelayersApi(new Configuration({ basePath: service.url, accessToken: service.apiKey }));
  const usd = await makeToken(stage, { decimals: 6 });
  jupiter.price(usd.mint.toBase58(), 0.2);
  const rpc: GaslessStage['rpc'] = async (method, params) => {
    const { data } = await sdk.rpc('local-1', { jsonrpc: '2.0', id: 7, method, params });
    return data as RpcAnswer;
  };
  return {
    ...stage,
    jupiter,
    sdk,
    usd,
    rpc,
    signedBy,
    rent: await connection.getMinimumBalanceForRentExemption(165),
    async policies(set = {}) {
      const { status, body } = await stage.ask('PATCH', '', { policies: { ...UNSET, ...set } });
      if (status !== 200) throw new Error(JSON.stringify(body));
    },
    async refusal(method, params) {
      const { error } = await rpc(method, params);
      return `${error?.code} ${error?.message} ${error?.description}`;
    },
    async user(amount = 10_000_000n) {
      const wallet = Keypair.generate();
      await usd.give(wallet.publicKey, amount);
      return wallet;
    },
    pay(from, to, amount) {
      const [source, destination] = [usd.accountOf(from.publicKey), usd.accountOf(to)];
      const token = [usd.decimals, undefined, usd.program] as const;
      return createTransferCheckedInstruction(source, usd.mint, destination, from.publicKey, amount, ...token);
    },
    async draft(feePayer, ...instructions) {
      const { blockhash: recentBlockhash } = await connection.getLatestBlockhash();
      const transaction = new Transaction({ feePayer, recentBlockhash }).add(...instructions);
      return transaction.serialize({ requireAllSignatures: false, verifySignatures: false }).toString('base64');
    },
  };
}

/** A plugin that makes the JSON-RPC call that it is given. */
const CALLS = `export async function handler({ api, params }) {
  return api.useRelayer('local-1').rpc({ jsonrpc: '2.0', id: 3, ...params });
}`;

const UNSET = {
  allowed_programs: null,
  allowed_accounts: null,
  disallowed_accounts: null,
  allowed_tokens: null,
  max_signatures: null,
  max_tx_data_size: null,
  max_allowed_fee_lamports: null,
  fee_margin_percentage: null,
  min_balance: null,
  fee_payment_strategy: 'user',
};

function signedBy(wallet: Keypair, base64: string): string {
  const transaction = Transaction.from(Buffer.from(base64, 'base64'));
  transaction.partialSign(wallet);
  return transaction.serialize({ requireAllSignatures: false }).toString('base64');
}
