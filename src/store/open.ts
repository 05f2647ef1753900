import { join } from 'node:path';
import { systemClock } from '../domain/clock.ts';
import type { Log } from '../observability/log.ts';
import type { Sealer } from './sealing.ts';
import { openSqliteStore } from './sqlite/sqlite.ts';
import type { Store } from './store.ts';

export interface StoreParts {
  dataDir: string;
  log: Log;
  sealer: Sealer;
  /** Connections to a database server; absent: by the machine's cores. */
  connections?: number | undefined;
  /** Cuts the connections to a database server. */
  cut: AbortSignal;
}

/** How long a start waits for a database server that does not answer. */
const DATABASE_PATIENCE_MS = 30_000;

/** Opens PostgreSQL, which instances share, if there is a URL. Otherwise opens the database file in the data folder. */
export async function openStore(
  url: string | undefined,
  { dataDir, log, sealer, connections, cut }: StoreParts,
): Promise<Store> {
  if (url !== undefined) {
    // Loads the client only here: it is some 4 MB of code that the embedded store does not need.
    const { openPostgresStore } = await import('./postgres/postgres.ts');
    return await openPostgresStore({ url, log, sealer, connections, patienceMs: DATABASE_PATIENCE_MS, cut });
  }
  return await openSqliteStore({ path: join(dataDir, 'isolayer.db'), log, clock: systemClock, sealer });
}
