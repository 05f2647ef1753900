/** The alerts about an account's sequences fire for their own fault only. */
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { alertScene, firedAll, firesOnly } from '../support/alert-scene.ts';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { TRANSFER } from '../support/instances.ts';
import { type FrontRule, startNodeFront } from '../support/node-front.ts';
import { createWorkspace } from '../support/workspace.ts';

const [GAPPED, UNPROVED] = [1, 2] as const;
const TOO_MANY = 8;

const anvil = await startAnvil({ args: ['--no-mining'] });
t.teardown(() => anvil.stop());
const front = await startNodeFront(anvil);
t.teardown(() => front.stop());
const workspace = await createWorkspace({ rpcUrl: front.url, accounts: 2, env: { HOST: '127.0.0.1' } });
t.teardown(() => workspace.remove());
for (const address of workspace.addresses) await anvil.rpc('anvil_setBalance', [address, '0x56bc75e2d63100000']);

/** Makes an endpoint lie about the transaction count of one account. It has no proofs that would deny it. */
const lies: FrontRule = async ({ method, params }, pass) => {
  if (method === 'eth_getProof') return { error: { code: -32_601, message: 'the method eth_getProof does not exist' } };
  const isAsked = workspace.addresses[GAPPED - 1] === String(params[0]).toLowerCase();
  if (method !== 'eth_getTransactionCount' || !isAsked) return undefined;
  const answer = await pass();
  const count = typeof answer === 'object' && 'result' in answer ? Number(answer.result) : 0;
  return { result: `0x${(count + TOO_MANY).toString(16)}` };
};

const PRUNED = ['eth_getTransactionReceipt', 'eth_getTransactionByHash', 'eth_getBlockReceipts'];
/** Makes an endpoint report a nonce as used without a transaction that used it. */
const prunes: FrontRule = ({ method }) => (PRUNED.includes(method) ? { result: null } : undefined);

t.test('gaps that are filled with empty transactions, and nonces that nobody can prove the use of', async (t) => {
  const scene = await alertScene(t, workspace.env, composeService);
  const transactions = (relayer: number) => `/api/v1/relayers/local-${relayer}/transactions`;
  const saying = async (what: RegExp) => {
    while (!what.test((await scene.scrape()) ?? '')) await delay(250);
  };
  const isSubmitted = async (relayer: number) =>
    (await scene.service.request('GET', transactions(relayer))).body.data.every(
      ({ status }: { status: string }) => status === 'submitted',
    );
  front.rule(lies);
  for (const relayer of [GAPPED, UNPROVED]) {
    t.equal((await scene.service.request('POST', transactions(relayer), TRANSFER)).status, 200);
  }
  while (!((await isSubmitted(GAPPED)) && (await isSubmitted(UNPROVED)))) await delay(250);
  await scene.minutes(2);
  firesOnly(t, scene, []);
  front.rule(prunes);
  await anvil.rpc('anvil_mine', ['0x80']);
  await saying(/isolayer_transaction_decisions_total\{[^}]*kind="gap-filled"\} 8\n/);
  await saying(/isolayer_transactions_parked\{[^}]*reason="sequence"\} 1\n/);
  await scene.minutes(2);
  firesOnly(t, scene, ['IsolayerFillingGaps']);
  await scene.minutes(16);
  firesOnly(t, scene, ['IsolayerFillingGaps', 'IsolayerNonceUnproved']);
  firedAll(t, scene, ['IsolayerFillingGaps', 'IsolayerNonceUnproved']);
});
