import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { createLog } from '../../src/observability/log.ts';
import { openPostgresStore } from '../../src/store/postgres.ts';
import { createSealer } from '../../src/store/sealing.ts';
import { startPostgres } from '../support/postgres.ts';
import { storeFor } from '../support/store.ts';
import { storeContract } from '../support/store-contract/contract.ts';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

t.test('on SQLite', async (t) => {
  storeContract(t, storeFor);
});

// Each test has a database of its own, and waiting for the server is most of it.
t.test('on PostgreSQL', { jobs: 4 }, async (t) => {
  storeContract(t, async (test: Test) => {
    const url = await postgres.createDatabase();
    const sealer = createSealer([randomBytes(32)], randomBytes);
    const store = await openPostgresStore({ url, log: createLog('silent'), sealer });
    test.teardown(() => store.close());
    return store;
  });
});
