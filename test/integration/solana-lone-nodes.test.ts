/** What one node says alone: it is believed no further than it can show, and than the others can check. */
import t, { type Test } from 'tap';
import { SolanaScenario } from '../support/solana-scenario.ts';
import type { SvmEndpoint } from '../support/svm.ts';
import { startSvmScene } from '../support/svm-scene.ts';

const scene = await startSvmScene();
const { svm } = scene;
t.teardown(() => svm.stop());

/** A relayer with two nodes, the second of which never answers. */
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
