import t from 'tap';
import { relayAndKeep } from '../../../../../src/store/migrations/relay-and-keep.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('an empty database gets what relayers and plugins keep', async (t) => {
  const { take } = await beforeStep(t, relayAndKeep);
  t.strictSame(await take(), ['attempts', 'chain_identities', 'meta', 'plugin_kv', 'relayers', 'transactions']);
});

t.test('only what is open is looked for when something is due', async (t) => {
  const { database, take } = await beforeStep(t, relayAndKeep);
  await take();
  const index = database.prepare("select sql from sqlite_schema where name = 'transactions_due'").get();
  t.match(index?.['sql'], /where "next_action_at" is not null/);
});
