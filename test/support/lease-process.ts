/**
 * The owner of a lease in its own process, so that a test can really stop it. It takes the lease `lane`, prints `held`,
 * and stops itself. With `outside` it stops before a write. With `inside` it stops within a write, after the write's
 * statement. When it is told to continue, it goes on with that write and prints the outcome.
 *
 * Arguments: database URL, `outside` or `inside`.
 */
import { writeSync } from 'node:fs';
import { createLog } from '../../src/observability/log.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres.ts';
import { hastyLeases } from './postgres.ts';
import { transactionOf } from './store.ts';
import { leaseOf } from './store-contract/leases.ts';

const [url = '', place] = process.argv.slice(2);
const say = (text: string) => writeSync(process.stdout.fd, `${text}\n`);
const store = await openPostgresStore({ url, log: createLog('silent'), ...hastyLeases });
const lease = await leaseOf(store, 'lane');
const stop = () => {
  say('held');
  process.kill(process.pid, 'SIGSTOP');
};

if (place === 'outside') stop();
try {
  await store.writeUnder(lease, async (writer) => {
    await writer.insertTransaction(transactionOf({ id: 'stale' }));
    if (place === 'inside') stop();
    await writer.insertTransaction(transactionOf({ id: 'stale too' }));
  });
  say('written');
} catch (error) {
  say(error instanceof Error ? error.name : 'unknown');
}
await store.close();
