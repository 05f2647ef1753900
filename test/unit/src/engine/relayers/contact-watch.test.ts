import t, { type Test } from 'tap';
import type { Served } from '../../../../../src/chains/connections.ts';
import { ContactWatch, type ContactWatchDeps } from '../../../../../src/engine/relayers/relayer-health.ts';
import { EngineWorld, relayerNamed } from '../../../../support/engine-world.ts';

async function stage(t: Test, parts: Partial<ContactWatchDeps> = {}) {
  const world = await EngineWorld.open(t);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r2', { network: 'other' })));
  const contact = { isLost: false, servedAt: 0 };
  const listeners = new Set<(concerns: (relayer: Served) => boolean) => void>();
  const told: string[] = [];
  const watch = new ContactWatch({
    store: world.store,
    contacts: {
      contactOf: () => contact,
      onContact(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    followMs: 5,
    onLost: (id) => told.push(`lost ${id}`),
    onBack: (id) => told.push(`back ${id}`),
    log: world.log,
    ...parts,
  });
  t.teardown(() => watch.close());
  const change = (isLost: boolean) => {
    contact.isLost = isLost;
    for (const listener of listeners) listener(({ network }) => network === 'fake');
  };
  return { world, watch, change, told, listeners };
}

t.test('a lost contact is told for the relayers of its network only, and so is its return', async (t) => {
  const { world, change, told } = await stage(t);
  change(true);
  await world.until('it is told', async () => told.length > 0);
  change(false);
  await world.until('it is told', async () => told.length > 1);
  t.strictSame(told, ['lost r1', 'back r1']);
});

t.test('a contact that comes and goes often is told only now and then', async (t) => {
  const { world, change, told } = await stage(t, { followMs: 30 });
  for (let count = 0; count < 9; count += 1) change(count % 2 === 0);
  await world.until('it is told', async () => told.length > 0);
  t.strictSame(told, ['lost r1']);
});

t.test('a store that cannot be read is told in the log; the end may come at any time, twice', async (t) => {
  const { world, watch, change, told, listeners } = await stage(t);
  const read = { ...world.store.read, allRelayers: () => Promise.reject(new Error('the database is away')) };
  const failing = await stage(t, { store: { read }, followMs: 0 });
  failing.change(true);
  await failing.world.until('it is told', async () => /contact not followed/.test(failing.world.logLines.join('')));
  change(true);
  await watch.close();
  await watch.close();
  t.equal(listeners.size, 0);
  t.strictSame(told, []);
});
