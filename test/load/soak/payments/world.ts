import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Postgres, startPostgres } from '../../../support/postgres.ts';
import { createWorkspace } from '../../../support/workspace.ts';
import type { Nodes, SoakChain, SoakNetwork } from './chain.ts';
import { PAYER } from './jobs.ts';

/** With `lazy-postgres` the server answers commits before they are on disk, unless it is told otherwise. */
export type Database = 'sqlite' | 'postgres' | 'lazy-postgres';

export interface WorldOptions {
  database: Database;
  chain: SoakChain;
  /** Returns the endpoints that the service uses instead of the chain's own. */
  endpoints?: (nodes: Nodes) => Promise<string[]>;
}

/** A chain, a database and a configuration, and the environment for instances of the service. */
export interface World {
  readonly network: SoakNetwork;
  readonly database: Database;
  /** Null if the database is embedded. */
  readonly postgres: { readonly server: Postgres; readonly url: string } | null;
  /** The number of instances that run at the same time. */
  readonly instances: number;
  /** The environment of an instance. Each instance has its own data folder, the same after each restart. */
  environmentOf(instance: number): Record<string, string>;
  /** Safe to call twice. */
  close(): Promise<void>;
}

const PAYER_SOURCE = `export const handler = async ({ api, params: { payments } }) => {
  const ids = [];
  for (const { relayerId, body } of payments) ids.push((await api.useRelayer(relayerId).sendTransaction(body)).id);
  return ids;
};`;

/** Opens a world whose relayers have funds. */
export async function openWorld(options: WorldOptions): Promise<World> {
  const opened: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of opened.splice(0).toReversed()) await end();
  };
  try {
    return await open(options, opened, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function open(
  { database, chain, endpoints }: WorldOptions,
  opened: (() => Promise<unknown>)[],
  close: () => Promise<void>,
): Promise<World> {
  const nodes = await chain.start();
  opened.push(() => nodes.stop());
  const urls = (await endpoints?.(nodes)) ?? (await nodes.endpoints(1)).map(({ url }) => url);
  const workspace = await createWorkspace({
    rpcUrl: urls[0] ?? '',
    pluginFiles: { [`${PAYER}.ts`]: PAYER_SOURCE },
    network: { rpc_urls: urls, ...nodes.settings },
  });
  opened.push(() => rm(workspace.dir, { recursive: true, force: true, maxRetries: 5 }));
  const network = await nodes.settle(workspace);
  const shared: Record<string, string> = {
    ...workspace.env,
    // Many processes load the same modules, so they share a compile cache.
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(workspace.dir, 'compiled'),
    HOST: '127.0.0.1',
    API_KEY: 'one-key-for-every-instance-of-the-soak',
    STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    RATE_LIMIT_REQUESTS_PER_SECOND: '1000000',
    RATE_LIMIT_BURST_SIZE: '1000000',
    // In hours. Transactions without an idempotency key are deleted this soon after their end.
    TRANSACTION_EXPIRATION_HOURS: '0.03',
    // Short, so that endpoints that withhold answers do not take most of a soak's time.
    RPC_TIMEOUT_MS: '2000',
    PROVIDER_PAUSE_DURATION_SECS: '5',
    LOG_LEVEL: 'info',
  };
  const postgres = database === 'sqlite' ? null : await openPostgres(database, opened);
  if (postgres !== null) shared['DATABASE_URL'] = postgres.url;
  return {
    network,
    database,
    postgres,
    instances: postgres === null ? 1 : 2,
    environmentOf: (instance) => ({ ...shared, DATA_DIR: join(workspace.dir, `data-${instance}`) }),
    close,
  };
}

/** Loses the commits of up to ten seconds in a crash: https://www.postgresql.org/docs/current/wal-async-commit.html */
const LAZY = { synchronous_commit: 'off', wal_writer_delay: '10s' };

async function openPostgres(
  database: Exclude<Database, 'sqlite'>,
  opened: (() => Promise<unknown>)[],
): Promise<NonNullable<World['postgres']>> {
  const server = await startPostgres({ durable: true, settings: database === 'lazy-postgres' ? LAZY : {} });
  opened.push(() => server.stop());
  return { server, url: await server.createDatabase() };
}
