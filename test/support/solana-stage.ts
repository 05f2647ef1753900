import { setTimeout as sleep } from 'node:timers/promises';
import { Keypair, PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js';
import type { Test } from 'tap';
import { composeService } from './composed-service.ts';
import type { AnswerBody, StartedService } from './service.ts';
import { type SvmScene, startSvmScene } from './svm-scene.ts';
import { createWorkspace, type WorkspaceOptions } from './workspace.ts';

const RELAYER = '/api/v1/relayers/local-1';
const TRANSACTIONS = `${RELAYER}/transactions`;

const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
const SOL = 1_000_000_000n;

/** Longer than anything takes on a busy machine. */
const WITHIN_MS = 15_000;
const POLL_MS = 50;

/** Final states. */
const ENDS = new Set(['confirmed', 'failed', 'expired', 'canceled']);

/** An instruction as requests write it. */
export interface AskedInstruction {
  program_id: string;
  accounts: { pubkey: string; is_signer: boolean; is_writable: boolean }[];
  data: string;
}

/** A service with one Solana relayer over an SVM that makes blocks only when told to. */
export interface SolanaStage extends SvmScene {
  service: StartedService;
  relayer: PublicKey;
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: AnswerBody }>;
  /** Sends a transaction. Returns the answer. */
  post(body: object): Promise<{ status: number; body: AnswerBody }>;
  /** Sends a transaction that has to be accepted. Resolves with its id. */
  send(body: object): Promise<string>;
  get(id: string): Promise<AnswerBody>;
  /** Waits without making blocks. */
  until(id: string, holds: (transaction: AnswerBody) => boolean): Promise<AnswerBody>;
  /** Makes blocks until the transaction has the status. */
  tickUntil(id: string, status: string): Promise<AnswerBody>;
  /** Builds a transaction that the relayer pays for, in base64. The others sign it under the latest blockhash. */
  built(others: readonly Keypair[], ...instructions: TransactionInstruction[]): Promise<string>;
}

/** Starts the service and the SVM. Both end with the test. By default the relayer has 10 SOL and pays the fees. */
export async function solanaStage(
  t: Test,
  policies: object = {},
  options: WorkspaceOptions = {},
): Promise<SolanaStage> {
  const scene = await startSvmScene();
  t.teardown(() => scene.svm.stop());
  const workspace = await createWorkspace({
    rpcUrl: scene.svm.url,
    relayer: { network_type: 'solana', policies: { fee_payment_strategy: 'relayer', ...policies } },
    network: { type: 'solana' },
    ...options,
  });
  t.teardown(() => workspace.remove());
  const relayer = Keypair.fromSeed(Buffer.from(workspace.privateKey.slice(2), 'hex')).publicKey;
  await scene.svm.airdrop(relayer.toBase58(), 10n * SOL);
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());

  const ask: SolanaStage['ask'] = (method, path, body) => service.request(method, `${RELAYER}${path}`, body);
  const post: SolanaStage['post'] = (body) => service.request('POST', TRANSACTIONS, body);
  const get = async (id: string) => (await service.request('GET', `${TRANSACTIONS}/${id}`)).body.data;
  const within = async (id: string, holds: (transaction: AnswerBody) => boolean, between: () => Promise<void>) => {
    const until = performance.now() + WITHIN_MS;
    for (;;) {
      const transaction = await get(id);
      if (holds(transaction)) return transaction;
      if (ENDS.has(transaction.status) || performance.now() > until)
        throw new Error(`still ${JSON.stringify({ ...transaction, transaction: '…' })}\n${service.output()}`);
      await between();
    }
  };
  return {
    ...scene,
    service,
    relayer,
    ask,
    post,
    get,
    async send(body) {
      const { status, body: answer } = await post(body);
      if (status !== 200) throw new Error(`not accepted: ${status} ${JSON.stringify(answer)}`);
      return answer.data.id;
    },
    until: (id, holds) => within(id, holds, () => sleep(POLL_MS)),
    tickUntil: (id, status) =>
      within(
        id,
        (transaction) => transaction.status === status,
        async () => {
          await scene.svm.tick();
          await sleep(POLL_MS);
        },
      ),
    async built(others, ...instructions) {
      const { blockhash, lastValidBlockHeight } = await scene.connection.getLatestBlockhash();
      const transaction = new Transaction({ feePayer: relayer, blockhash, lastValidBlockHeight }).add(...instructions);
      if (others.length > 0) transaction.partialSign(...others);
      return transaction.serialize({ requireAllSignatures: false }).toString('base64');
    },
  };
}

/** An instruction that leaves a text on the chain. */
export function memo(text: string): AskedInstruction {
  return { program_id: MEMO.toBase58(), accounts: [], data: Buffer.from(text).toString('base64') };
}
