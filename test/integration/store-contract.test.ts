import t, { type Test } from 'tap';
import { createLog } from '../../src/observability/log.ts';
import { openPostgresStore } from '../../src/store/postgres.ts';
import { startPostgres } from '../support/postgres.ts';
import { storeFor } from '../support/store.ts';
import { storeContract } from '../support/store-contract/contract.ts';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

t.test('on SQLite', async (t) => {
  storeContract(t, storeFor);
});

t.test('on PostgreSQL', async (t) => {
  storeContract(t, async (test: Test) => {
    const store = await openPostgresStore({ url: await postgres.createDatabase(), log: createLog('silent') });
    test.teardown(() => store.close());
    return store;
  });
});
