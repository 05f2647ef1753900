import { setTimeout as sleep } from 'node:timers/promises';
import { Keypair } from '@stellar/stellar-sdk';
import type { Test } from 'tap';
import { composeService } from './composed-service.ts';
import type { AnswerBody, StartedService } from './service.ts';
import { LUMEN, type StellarScene, startStellarScene } from './stellar-scene.ts';
import { createWorkspace, type WorkspaceOptions } from './workspace.ts';

const RELAYER = '/api/v1/relayers/local-1';
const TRANSACTIONS = `${RELAYER}/transactions`;

/** Longer than anything takes on a busy machine. */
const WITHIN_MS = 60_000;
const POLL_MS = 50;

/** Final states. */
const ENDS = new Set(['confirmed', 'failed', 'expired', 'canceled']);

/** A service with one Stellar relayer over a network that closes ledgers only when told to. */
export interface StellarStage extends StellarScene {
  service: StartedService;
  relayer: Keypair;
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: AnswerBody }>;
  /** Sends a transaction. Returns the answer. */
  post(body: object): Promise<{ status: number; body: AnswerBody }>;
  /** Sends a transaction that has to be accepted. Resolves with its id. */
  submit(body: object): Promise<string>;
  /** Waits without closing ledgers. */
  until(id: string, holds: (transaction: AnswerBody) => boolean): Promise<AnswerBody>;
  /** Closes ledgers until the transaction has the status. */
  tickUntil(id: string, status: string): Promise<AnswerBody>;
  /** Closes ledgers until the transaction has ended in any way. */
  tickUntilEnd(id: string): Promise<AnswerBody>;
}

/**
 * Starts the service and the network. Both end with the test. By default the relayer has 100 lumens and pays the fees.
 * @param settings more of the network, once it is there
 */
export async function stellarStage(
  t: Test,
  policies: object = {},
  options: WorkspaceOptions = {},
  settings: (scene: StellarScene) => Promise<object> = async () => ({}),
): Promise<StellarStage> {
  const scene = await startStellarScene();
  t.teardown(() => scene.net.stop());
  const workspace = await createWorkspace({
    rpcUrl: scene.net.url,
    relayer: { network_type: 'stellar', policies: { fee_payment_strategy: 'relayer', ...policies } },
    network: {
      type: 'stellar',
      passphrase: scene.net.passphrase,
      horizon_url: scene.net.horizonUrl,
      // Ledgers close as soon as a test asks for them, so the service looks more often than once a second.
      average_blocktime_ms: 500,
      ...(await settings(scene)),
    },
    ...options,
  });
  t.teardown(() => workspace.remove());
  const relayer = Keypair.fromRawEd25519Seed(Buffer.from(workspace.privateKey.slice(2), 'hex'));
  await scene.net.fund(relayer.publicKey(), 100n * LUMEN);
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());

  const ask: StellarStage['ask'] = (method, path, body) => service.request(method, `${RELAYER}${path}`, body);
  const post: StellarStage['post'] = (body) => service.request('POST', TRANSACTIONS, { network: 'testnet', ...body });
  const within = async (id: string, holds: (transaction: AnswerBody) => boolean, between: () => Promise<void>) => {
    const end = performance.now() + WITHIN_MS;
    for (;;) {
      const { body } = await service.request('GET', `${TRANSACTIONS}/${id}`);
      if (holds(body.data)) return body.data;
      if (ENDS.has(body.data.status) || performance.now() > end)
        throw new Error(`still ${JSON.stringify(body.data)}\n${service.output()}`);
      await between();
    }
  };
  const tickOnce = async () => {
    await scene.net.tick();
    await sleep(POLL_MS);
  };
  return {
    ...scene,
    service,
    relayer,
    ask,
    post,
    async submit(body) {
      const { status, body: answer } = await post(body);
      if (status !== 200) throw new Error(`not accepted: ${status} ${JSON.stringify(answer)}`);
      return answer.data.id;
    },
    until: (id, holds) => within(id, holds, () => sleep(POLL_MS)),
    tickUntil: (id, status) => within(id, (transaction) => transaction.status === status, tickOnce),
    tickUntilEnd: (id) => within(id, ({ status }) => ENDS.has(status), tickOnce),
  };
}

/** After this many ledgers, a node no longer counts what a fee bump paid for its place. Quotes are then as before. */
export const FEE_LEDGERS = 10;

/** A payment of lumens as requests write it. */
export const payment = (to: string | Keypair, stroops: bigint) => ({
  type: 'payment',
  destination: typeof to === 'string' ? to : to.publicKey(),
  amount: String(stroops),
  asset: { type: 'native' },
});
