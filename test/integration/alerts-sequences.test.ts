/** The alerts about an account's sequences fire under the fault that each is for, and not without it. */
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { alertScene, firedAll, firesOnly } from '../support/alert-scene.ts';
import { startAnvil } from '../support/anvil.ts';
import { TRANSFER } from '../support/instances.ts';
import { type FrontRule, startNodeFront } from '../support/node-front.ts';
import { createWorkspace } from '../support/workspace.ts';

const [GAPPED, FAR] = [1, 2] as const;
const TOO_MANY = { [GAPPED]: 8, [FAR]: 1_000 };

const anvil = await startAnvil({ args: ['--no-mining'] });
t.teardown(() => anvil.stop());
const front = await startNodeFront(anvil);
t.teardown(() => front.stop());
const workspace = await createWorkspace({ rpcUrl: front.url, accounts: 2, env: { HOST: '127.0.0.1' } });
t.teardown(() => workspace.remove());
for (const address of workspace.addresses) await anvil.rpc('anvil_setBalance', [address, '0x56bc75e2d63100000']);

/** An endpoint that makes up counts: a few too many for one account, far too many for the other. */
const lies: FrontRule = async ({ method, params }, pass) => {
  const told = [GAPPED, FAR].find((relayer) => workspace.addresses[relayer - 1] === String(params[0]).toLowerCase());
  if (method !== 'eth_getTransactionCount' || told === undefined) return undefined;
  const answer = await pass();
  const count = typeof answer === 'object' && 'result' in answer ? Number(answer.result) : 0;
  return { result: `0x${(count + TOO_MANY[told]).toString(16)}` };
};

t.test('gaps that are filled with empty transactions, and what was signed far beyond the account', async (t) => {
  const scene = await alertScene(t, workspace.env);
  const transactions = (relayer: number) => `/api/v1/relayers/local-${relayer}/transactions`;
  const saying = async (what: RegExp) => {
    while (!what.test((await scene.scrape()) ?? '')) await delay(250);
  };
  const isSigned = async (relayer: number) =>
    (await scene.service.request('GET', transactions(relayer))).body.data.every(
      ({ nonce }: { nonce: number | null }) => nonce !== null,
    );
  front.rule(lies);
  for (const relayer of [GAPPED, FAR]) {
    t.equal((await scene.service.request('POST', transactions(relayer), TRANSFER)).status, 200);
  }
  while (!((await isSigned(GAPPED)) && (await isSigned(FAR)))) await delay(250);
  await scene.minutes(2);
  firesOnly(t, scene, []);
  front.rule();
  // What an account is far from is proved in a block that was made since.
  await delay(1_000);
  await anvil.rpc('evm_mine', []);
  await saying(/transaction_decisions_total\{[^}]*kind="gap-filled"\} 8\n/);
  await saying(/transactions_parked\{[^}]*reason="sequence"\} 1\n/);
  await scene.minutes(2);
  firesOnly(t, scene, ['IsolayerFillingGaps']);
  await scene.minutes(16);
  firesOnly(t, scene, ['IsolayerFillingGaps', 'IsolayerNonceOutOfReach']);
  firedAll(t, scene, ['IsolayerFillingGaps', 'IsolayerNonceOutOfReach']);
});
