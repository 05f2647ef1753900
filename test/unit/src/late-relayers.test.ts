import t, { type Test } from 'tap';
import { createChains } from '../../../src/chains/registry.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { LateRelayers } from '../../../src/late-relayers.ts';
import { createLog } from '../../../src/observability/log.ts';
import { FakeSigner } from '../../support/fake-signer.ts';
import { eventually } from '../../support/plugin-host.ts';
import { relayerOf, storeFor } from '../../support/store.ts';

/** Relayers `one` and `two`, both waiting for the same signer, whose answer the test sets. */
async function stage(t: Test) {
  const store = await storeFor(t);
  const lines: string[] = [];
  const rechecked: string[] = [];
  const signer = { answer: async (): Promise<FakeSigner> => Promise.reject(new Error('sealed')), asked: 0 };
  const declared = ['one', 'two'].map((id) => ({ ...relayerOf({ id, address: '' }), declaration: {} }));
  const late = new LateRelayers({
    chains: createChains(systemClock),
    store,
    declared: () => declared,
    everyMs: 5,
    signers: {
      signer() {
        signer.asked += 1;
        return signer.answer();
      },
    },
    engine: { recheck: (id) => rechecked.push(id) },
    log: createLog('info', { write: (line) => lines.push(line) }),
  });
  t.teardown(() => late.close());
  late.add(declared.map(({ id, signerId }) => ({ id, signerId, error: new Error('sealed') })));
  const ids = async () => (await store.read.allRelayers()).map(({ id }) => id).sort();
  return { store, late, signer, declared, lines, rechecked, ids };
}

t.test('a relayer is made once its signer tells its key, and why it waits is told once', async (t) => {
  const { signer, lines, rechecked, ids } = await stage(t);
  await eventually(
    () => signer.asked,
    (count) => count >= 6,
  );
  t.strictSame([await ids(), rechecked], [[], []]);
  t.match(lines.join(''), /"level":"error".*"relayerId":"one".*sealed.*it is tried again/);
  t.equal(lines.length, 2);
  signer.answer = async () => Promise.reject(new Error('forbidden'));
  await eventually(
    () => lines.length,
    (count) => count === 4,
  );
  t.match(lines.at(-1), /forbidden/, 'another reason is told');
  signer.answer = async () => new FakeSigner();
  t.strictSame(await eventually(ids, ({ length }) => length === 2), ['one', 'two']);
  await eventually(
    () => rechecked.length,
    (count) => count === 2,
  );
  t.match(lines.at(-1), /"level":"info".*"relayerId":"two".*had returned its key/);
  const { asked } = signer;
  await new Promise((resolve) => setTimeout(resolve, 30));
  t.equal(signer.asked, asked, 'nobody is asked any more');
});

t.test('one that is there by now, or is not declared any more, waits no more', async (t) => {
  const { store, signer, declared, ids } = await stage(t);
  await store.write((writer) => writer.putRelayer(relayerOf({ id: 'one', address: '0x01' })));
  declared.pop();
  signer.answer = async () => new FakeSigner();
  const { asked } = signer;
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.ok(signer.asked <= asked + 2);
  t.strictSame(await ids(), ['one']);
  t.match(await store.read.relayer('one'), { address: '0x01' });
});

t.test('it ends', async (t) => {
  const { late, signer } = await stage(t);
  await late.close();
  const { asked } = signer;
  late.add([{ id: 'three', signerId: 'k', error: new Error('sealed') }]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  t.equal(signer.asked, asked);
});
