import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Anvil, startAnvil } from '../../test/support/anvil.ts';
import { type Postgres, startPostgres } from '../../test/support/postgres.ts';
import { declareRelayers, type RelayerAccount } from '../../test/support/relayer-accounts.ts';
import { createWorkspace } from '../../test/support/workspace.ts';
import { COUNTER, PAYER, REVERTER } from './plan.ts';

/** The depth from which a block is final; the weather takes less back. */
export const CONFIRMATIONS = 3;

export type Database = 'sqlite' | 'postgres';
/** Whether a block comes each second or with each transaction. */
export type Blocks = 'interval' | 'automine';

export interface WorldOptions {
  database: Database;
  blocks: Blocks;
  /** The endpoints of the network in place of the node's own address. */
  endpoints?: (nodeUrl: string) => Promise<string[]>;
}

/** A node, a database, a configuration, and what it takes to start instances of the service on them. */
export interface World {
  readonly anvil: Anvil;
  readonly database: Database;
  /** Null where the database is embedded. */
  readonly postgres: { readonly server: Postgres; readonly url: string } | null;
  readonly blocks: Blocks;
  readonly relayers: readonly RelayerAccount[];
  /** How many instances work at the same time. */
  readonly instances: number;
  /** The environment of one of the instances. It has a data folder of its own, the same after each restart. */
  environmentOf(instance: number): Record<string, string>;
  /** Safe to call twice. */
  close(): Promise<void>;
}

const PAYER_SOURCE = `export const handler = async ({ api, params: { payments } }) => {
  const ids = [];
  for (const { relayerId, body } of payments) ids.push((await api.useRelayer(relayerId).sendTransaction(body)).id);
  return ids;
};`;

/** Two of the relayers share an account, and with it a lane and its nonces. */
const RELAYERS = 4;
const ACCOUNTS = 3;

/** Opens a world with relayers that have funds, and contracts to call. */
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
  { database, blocks, endpoints }: WorldOptions,
  opened: (() => Promise<unknown>)[],
  close: () => Promise<void>,
): Promise<World> {
  const anvil = await startAnvil(blocks === 'interval' ? { blockTime: 1 } : {});
  opened.push(() => anvil.stop());
  for (const { address, code } of [COUNTER, REVERTER]) await anvil.rpc('anvil_setCode', [address, code]);
  const urls = (await endpoints?.(anvil.url)) ?? [anvil.url];
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    pluginFiles: { [`${PAYER}.ts`]: PAYER_SOURCE },
    network: { rpc_urls: urls, required_confirmations: CONFIRMATIONS, average_blocktime_ms: 1_000 },
  });
  opened.push(() => rm(workspace.dir, { recursive: true, force: true, maxRetries: 5 }));
  const relayers = await declareRelayers(workspace, anvil, { relayers: RELAYERS, accounts: ACCOUNTS });
  const shared: Record<string, string> = {
    ...workspace.env,
    // Many processes load the same modules.
    NODE_COMPILE_CACHE: join(workspace.dir, 'compiled'),
    HOST: '127.0.0.1',
    API_KEY: 'one-key-for-every-instance-of-the-soak',
    STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    RATE_LIMIT_REQUESTS_PER_SECOND: '1000000',
    RATE_LIMIT_BURST_SIZE: '1000000',
    // What has no key to name it is gone this soon after its end, in hours.
    TRANSACTION_EXPIRATION_HOURS: '0.01',
    // An endpoint that holds an answer back for ever must not take most of a soak's time.
    RPC_TIMEOUT_MS: '2000',
    PROVIDER_PAUSE_DURATION_SECS: '5',
    LOG_LEVEL: 'info',
  };
  const postgres = database === 'postgres' ? await openPostgres(opened) : null;
  if (postgres !== null) shared['DATABASE_URL'] = postgres.url;
  return {
    anvil,
    database,
    postgres,
    blocks,
    relayers,
    instances: database === 'postgres' ? 2 : 1,
    environmentOf: (instance) => ({ ...shared, DATA_DIR: join(workspace.dir, `data-${instance}`) }),
    close,
  };
}

async function openPostgres(opened: (() => Promise<unknown>)[]): Promise<NonNullable<World['postgres']>> {
  const server = await startPostgres({ durable: true });
  opened.push(() => server.stop());
  return { server, url: await server.createDatabase() };
}
