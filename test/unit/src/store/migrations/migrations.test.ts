import t from 'tap';
import { baseline } from '../../../../../src/store/migrations/baseline.ts';
import { migrations } from '../../../../../src/store/migrations/migrations.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('all steps lead from an empty database to the tables of the schema', async (t) => {
  const { database, takeAll } = await beforeStep(t, baseline);
  await takeAll();
  const tables = database.prepare("select name from sqlite_schema where type = 'table' order by name").all();
  t.strictSame(
    tables.map(({ name }) => name),
    [
      'api_keys',
      'attempts',
      'audit_records',
      'budgets',
      'chain_identities',
      'decisions',
      'effects',
      'idempotency_keys',
      'instances',
      'intents',
      'kept_bytes',
      'lanes',
      'leases',
      'meta',
      'migrations',
      'networks',
      'notifications',
      'outbox',
      'plugin_kv',
      'plugin_kv_usage',
      'plugin_locks',
      'plugin_settings',
      'rate_buckets',
      'relayer_balances',
      'relayers',
      'signers',
      'spending',
      'transaction_events',
      'transactions',
    ],
  );
  t.equal(new Set(migrations.map(({ name }) => name)).size, migrations.length, 'each step has its own name');
});
