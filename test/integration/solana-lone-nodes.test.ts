/** Claims of a single node count only as far as it can prove them, or the other nodes can check them. */
import t, { type Test } from 'tap';
import type { SvmEndpoint } from '../doubles/svm/svm.ts';
import { SolanaScenario } from '../support/solana-scenario.ts';
import { anyone, startSvmScene, transfer } from '../support/svm-scene.ts';

const scene = await startSvmScene();
const { svm } = scene;
t.teardown(() => svm.stop());

/** A relayer with two nodes. The second one never answers. */
async function besideSilence(t: Test): Promise<{ scenario: SolanaScenario; node: SvmEndpoint }> {
  const [node, silent] = [await svm.endpoint(), await svm.endpoint()];
  await silent.fault({ act: { kind: 'http', status: 503 } });
  return { scenario: await SolanaScenario.open(t, scene, { urls: [node.url, silent.url] }), node };
}

t.test('a status ends nothing while no other node speaks and the node has no such transaction', async (t) => {
  for (const err of [null, { InstructionError: [0, { Custom: 1 }] }]) {
    const { scenario, node } = await besideSilence(t);
    await scenario.start();
    await svm.dropNext(1_000);
    const id = await scenario.send();
    await scenario.untilStatus(id, 'submitted');
    const slot = Number(await svm.rpc('getSlot'));
    const forged = { slot, confirmations: null, err, confirmationStatus: 'finalized' };
    await node.fault({
      methods: ['getSignatureStatuses'],
      act: { kind: 'result', result: { context: { slot: 2 ** 40 }, value: [forged] } },
    });
    const asked = await node.calls('getTransaction');
    await scenario.until('asked', async () => (await node.calls('getTransaction')) > asked + 2, { mining: true });
    t.equal((await scenario.get(id)).status, 'mined');
    await node.clearFaults();
    await svm.dropNext(0);
    await scenario.untilStatus(id, 'confirmed', { mining: true });
    t.equal(await scenario.executions(id), 1);
  }
});

t.test('a node that keeps no transactions is believed when no other speaks', async (t) => {
  const { scenario, node } = await besideSilence(t);
  await node.fault({
    methods: ['getTransaction'],
    act: { kind: 'error', code: -32_011, message: 'Transaction history is not available from this node' },
  });
  await scenario.start();
  const id = await scenario.send();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
});

t.test('the only node confirms by its latest blocks where it keeps no history, and proves no death', async (t) => {
  const node = await svm.endpoint();
  const scenario = await SolanaScenario.open(t, scene, { urls: [node.url] });
  await node.fault({
    methods: ['getSignatureStatuses'],
    holding: '"searchTransactionHistory":true',
    act: { kind: 'error', code: -32_011, message: 'Transaction history is not available from this node' },
  });
  await scenario.start();
  const id = await scenario.send();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);

  await svm.dropNext(1_000);
  const lost = await scenario.send();
  await scenario.untilStatus(lost, 'submitted');
  await scenario.lapse();
  const asked = await node.calls('getSignatureStatuses');
  await scenario.until('asked', async () => (await node.calls('getSignatureStatuses')) > asked + 6, { mining: true });
  t.strictSame([(await scenario.get(lost)).status, (await scenario.attempts(lost)).length], ['submitted', 1]);
  await node.clearFaults();
  await svm.dropNext(0);
  await scenario.untilStatus(lost, 'confirmed', { mining: true });
  t.equal(await scenario.executions(lost), 1);
});

t.test(
  'a node without its methods for a history ends no payment that was dropped, and the payment says so',
  async (t) => {
    const node = await svm.endpoint();
    const scenario = await SolanaScenario.open(t, scene, {
      urls: [node.url],
      timing: { unprovedMs: 50, unresolvedLookMs: 200 },
    });
    const missing = { kind: 'error', code: -32_601, message: 'Method not found' } as const;
    await node.fault({ methods: ['getFirstAvailableBlock', 'minimumLedgerSlot'], act: missing });
    await scenario.start();
    await svm.dropNext(1_000);
    const lost = await scenario.send();
    await scenario.untilStatus(lost, 'submitted');
    await scenario.lapse();
    const reason = async () => (await scenario.get(lost)).statusReason ?? '';
    await scenario.until('told', async () => /does not tell of a history back to slot \d+/.test(await reason()), {
      mining: true,
    });
    t.strictSame([(await scenario.get(lost)).status, (await scenario.attempts(lost)).length], ['submitted', 1]);
    await svm.dropNext(0);
    await node.clearFaults();
    await scenario.untilStatus(lost, 'confirmed', { mining: true });
    t.equal(await scenario.executions(lost), 1);
  },
);

t.test('without figures that are only advice a payment is priced, sent and confirmed', async (t) => {
  for (const act of [
    { kind: 'error', code: -32_601, message: 'Method not found' },
    { kind: 'error', code: -32_000, message: 'not on this plan' },
    { kind: 'http', status: 403 },
    { kind: 'result', result: 'soon' },
    { kind: 'result', result: null },
  ] as const) {
    const node = await svm.endpoint();
    const scenario = await SolanaScenario.open(t, scene, { urls: [node.url] });
    await node.fault({
      methods: ['getRecentPrioritizationFees', 'getFeeForMessage', 'getFirstAvailableBlock', 'minimumLedgerSlot'],
      act,
    });
    await scenario.start();
    const id = await scenario.send();
    await scenario.untilStatus(id, 'confirmed', { mining: true });
    t.equal(await scenario.executions(id), 1, JSON.stringify(act));
    t.equal((await scenario.attempts(id))[0]?.fields['fee'], 5_000);
  }
});

t.test('how long a blockhash serves is not what one node makes of it', async (t) => {
  const [liar, honest] = [await svm.endpoint(), await svm.endpoint()];
  const height = () => svm.rpc('getBlockHeight', [{ commitment: 'processed' }]).then(Number);
  const [slot, user] = [Number(await svm.rpc('getSlot')), await scene.funded()];
  for (const blockHeight of [10 ** 9, 10]) {
    const scenario = await SolanaScenario.open(t, scene, { urls: [liar.url, honest.url] });
    const far = { absoluteSlot: slot, blockHeight };
    await liar.fault({ methods: ['getEpochInfo'], times: 2, act: { kind: 'result', result: far } });
    await scenario.start();
    await svm.dropNext(1_000);
    const id = await scenario.sendBuilt([user], transfer(user, anyone(), 5_000_000));
    await scenario.untilStatus(id, 'submitted');
    const [attempt] = await scenario.attempts(id);
    t.equal(Number(attempt?.fields['last_valid_block_height']), (await height()) + 150, `${blockHeight}`);
    await svm.dropNext(0);
    await scenario.lapse();
    await scenario.untilStatus(id, 'expired', { mining: true });
    await liar.clearFaults();
  }
});

t.test('while two nodes are far from each other nothing is signed', async (t) => {
  const [one, other] = [await svm.endpoint(), await svm.endpoint()];
  const scenario = await SolanaScenario.open(t, scene, { urls: [one.url, other.url] });
  const far = { absoluteSlot: Number(await svm.rpc('getSlot')), blockHeight: 10 ** 9 };
  const { context, value } = (await svm.rpc('getLatestBlockhash')) as { context: object; value: object };
  const late = { context, value: { ...value, lastValidBlockHeight: 10 ** 9 } };
  await other.fault({ methods: ['getEpochInfo'], act: { kind: 'result', result: far } });
  await other.fault({ methods: ['getLatestBlockhash'], act: { kind: 'result', result: late } });
  await scenario.start();
  const id = await scenario.send();
  const reason = async () => (await scenario.get(id)).statusReason ?? '';
  await scenario.until('in doubt', async () => (await reason()).includes(`near height ${10 ** 9 - 150}`));
  t.equal((await scenario.attempts(id)).length, 0);
  await other.clearFaults();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
});

t.test('a node that is behind does not have a client’s new blockhash expire', async (t) => {
  const [node, user, to] = [await svm.endpoint({ behind: 8 }), await scene.funded(), anyone()];
  const scenario = await SolanaScenario.open(t, scene, { urls: [node.url] });
  await scenario.start();
  await svm.tick();
  const id = await scenario.sendBuilt([user], transfer(user, to, 5_000_000));
  const reason = async () => (await scenario.get(id)).statusReason ?? '';
  await scenario.until('parked', async () => /may be behind/.test(await reason()));
  await node.setBehind(0);
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scene.connection.getBalance(to), 5_000_000);
});

t.test('what one node refuses waits for a word of the others that are there', async (t) => {
  const [liar, late] = [await svm.endpoint(), await svm.endpoint()];
  const scenario = await SolanaScenario.open(t, scene, { urls: [liar.url, late.url] });
  const refused = { err: { InstructionError: [0, { Custom: 1 }] }, logs: [], unitsConsumed: 0 };
  const act = { kind: 'result', result: { context: { slot: 1 }, value: refused } } as const;
  await liar.fault({ methods: ['simulateTransaction'], act });
  await late.fault({ methods: ['simulateTransaction'], act: { kind: 'hang' } });
  await scenario.start();
  const id = await scenario.send();
  const isParked = async () => /Simulation failed/.test((await scenario.get(id)).statusReason ?? '');
  await scenario.until('parked', isParked);
  t.equal((await scenario.get(id)).status, 'pending');
  await late.clearFaults();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
});
