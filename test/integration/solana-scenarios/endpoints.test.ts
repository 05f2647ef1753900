/** Nodes that lag, lie, limit requests, do not answer, or answer nonsense. */
import t from 'tap';
import { SolanaScenario } from '../../support/solana-scenario.ts';
import { startSvmScene } from '../../support/svm-scene.ts';

const scene = await startSvmScene();
const { svm } = scene;
t.teardown(() => svm.stop());

t.test('a node that lags behind proves no death, and a second one has to agree', async (t) => {
  const ahead = await svm.endpoint();
  const scenario = await SolanaScenario.open(t, scene, { urls: [svm.url, ahead.url] });
  await scenario.start();
  await svm.dropNext(1_000);
  const id = await scenario.send();
  await scenario.untilStatus(id, 'submitted');
  await svm.dropNext(0);
  await scenario.lapse();
  await ahead.setBehind(200);
  await new Promise((resolve) => setTimeout(resolve, 500));
  t.equal((await scenario.attempts(id)).length, 1, 'one of two nodes does not show it');
  await ahead.setBehind(0);
  await scenario.until('signed anew', async () => (await scenario.attempts(id)).length === 2);
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
});

t.test('a node that denies what another shows does not permit a second payment', async (t) => {
  const liar = await svm.endpoint();
  const scenario = await SolanaScenario.open(t, scene, { urls: [liar.url, svm.url] });
  await liar.fault({
    methods: ['getSignatureStatuses'],
    act: { kind: 'result', result: { context: { slot: 2 ** 40 }, value: [null] } },
  });
  await scenario.start();
  const id = await scenario.send();
  await scenario.until('taken', async () => (await scenario.attempts(id))[0]?.acceptedAt != null, { mining: true });
  await scenario.lapse();
  await new Promise((resolve) => setTimeout(resolve, 500));
  t.equal((await scenario.attempts(id)).length, 1);
  await liar.clearFaults();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
});

t.test('what was seen in a block is not taken back by a node that has not come that far', async (t) => {
  const node = await svm.endpoint();
  const scenario = await SolanaScenario.open(t, scene, { urls: [node.url] });
  await scenario.start();
  const id = await scenario.send();
  await scenario.untilStatus(id, 'submitted');
  await svm.tick(2);
  await scenario.untilStatus(id, 'mined');
  await node.setBehind(2);
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.equal((await scenario.get(id)).status, 'mined');
  await node.setBehind(0);
  await scenario.untilStatus(id, 'confirmed', { mining: true });
});

t.test('a node that limits, fails or is behind once is asked again at once', async (t) => {
  for (const act of [
    { kind: 'http', status: 429 },
    { kind: 'http', status: 503 },
    { kind: 'error', code: -32_005, message: 'Node is behind by 42 slots', data: { numSlotsBehind: 42 } },
  ] as const) {
    const scenario = await SolanaScenario.open(t, scene);
    await svm.fault({ methods: ['sendTransaction'], times: 1, act });
    await scenario.start();
    const id = await scenario.send();
    await scenario.untilStatus(id, 'confirmed', { mining: true });
    t.equal((await scenario.attempts(id)).length, 1);
  }
});

t.test('answers of no use are no answers', async (t) => {
  for (const act of [
    { kind: 'http', status: 200, body: '<html>busy</html>' },
    { kind: 'http', status: 200, body: '{"jsonrpc":"2.0","id":1,"resul' },
    { kind: 'result', result: null },
    { kind: 'result', result: { value: 'x' } },
    { kind: 'result', result: 'AAAA' },
  ] as const) {
    const scenario = await SolanaScenario.open(t, scene);
    await svm.fault({ times: 6, act });
    await scenario.start();
    const id = await scenario.send();
    await scenario.untilStatus(id, 'confirmed', { mining: true });
    t.equal(await scenario.executions(id), 1, JSON.stringify(act));
  }
});

t.test('a client’s mistakes count against no node', async (t) => {
  const scenario = await SolanaScenario.open(t, scene);
  await scenario.start();
  for (let count = 0; count < 10; count += 1) {
    const answer = await scenario.call('noSuchMethod', []);
    t.match(answer, { error: { code: -32_601 } });
    t.match(await scenario.call('getBalance', ['no key']), { error: { code: -32_602 } });
    t.match(await scenario.call('sendTransaction', ['AAAA', { encoding: 'base64' }]), { error: { code: -32_602 } });
  }
  t.type((await scenario.call('getBlockHeight', [])).result, 'number');
  t.match((await scenario.call('getAccountInfo', [scenario.address])).result, { value: { executable: false } });
  const id = await scenario.send();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
});

t.test('an engine that starts without a node goes on when there is one', async (t) => {
  const scenario = await SolanaScenario.open(t, scene);
  await svm.fault({ act: { kind: 'http', status: 503 } });
  await scenario.start();
  const isDisabled = async () => (await scenario.store.read.relayer('r1'))?.disabledReason != null;
  await scenario.until('disabled', isDisabled);
  await svm.clearFaults();
  await scenario.until('enabled', async () => !(await isDisabled()));
  const id = await scenario.send();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
});
