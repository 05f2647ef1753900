/** The store contract tests which relayers a filter selects. This file tests how much is read for that. */
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { relayerOf, temporaryStore } from '../../../../../support/store.ts';

t.test('what a filter is asked of is read in short: only those of the page whole', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  await store.write(async (writer) => {
    for (const id of ['a', 'b', 'c']) await writer.putRelayer(relayerOf({ id, name: `Payer ${id}` }));
  });
  const vandal = new DatabaseSync(path);
  t.teardown(() => vandal.close());
  vandal.exec(`update relayers set policies = 'null' where id = 'c'`);
  const page = async (number: number) => await store.read.relayers({ page: number, perPage: 1 }, { search: 'payer' });
  t.match(await page(2), { items: [{ id: 'b' }], total: 3 });
  t.match(await page(4), { items: [], total: 3 });
  await t.rejects(page(1), { name: 'UnreadableRecord' });
});
