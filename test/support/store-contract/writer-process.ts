import { systemClock } from '../../../src/domain/clock.ts';
import { createLog } from '../../../src/observability/log.ts';
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts';
import { attemptOf, transactionOf } from '../store.ts';

// A process that a test kills. It writes transactions with their first attempt for ever, and prints the id of each
// completed write.
const target = process.argv[2] ?? '';
const log = createLog('silent');
const store = target.startsWith('postgres:')
  ? await openPostgresStore({ url: target, log })
  : await openSqliteStore({ path: target, log, clock: systemClock });

async function writeForEver(): Promise<never> {
  for (;;) {
    const transaction = transactionOf();
    await store.write(async (writer) => {
      await writer.insertTransaction(transaction);
      await writer.insertAttempt(attemptOf(transaction));
    });
    await told(`${transaction.id}\n`);
  }
}

/** Resolves when the reader has taken the line. The reader may be slow. */
function told(line: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(line, () => resolve()));
}

await Promise.all(Array.from({ length: 8 }, writeForEver));
