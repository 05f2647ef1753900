/**
 * Measures relaying on PostgreSQL behind a proxy that counts round trips and holds each answer back. The counts are the
 * same on any machine. Commits are not flushed: the delay stands for that too. One server and node serve all rounds.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Agent } from 'undici';
import { createLog } from '../../../src/observability/log.ts';
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts';
import { startAnvil } from '../../support/anvil.ts';
import { type Postgres, startPostgres } from '../../support/postgres.ts';
import { type PostgresFront, startPostgresFront } from '../../support/postgres-front.ts';
import { declareRelayers, type RelayerAccount } from '../../support/relayer-accounts.ts';
import { startService } from '../../support/service.ts';
import { createWorkspace } from '../../support/workspace.ts';
import { BLOCK_GAS, BLOCK_SECONDS, throughService } from './evm.ts';
import { IN_FLIGHT, perSecond, until } from './relaying.ts';

/** The figures for one delay and number of accounts. */
export interface PostgresFigures {
  delayMs: number;
  accounts: number;
  accepted: number;
  mined: number;
  /** Round trips of the service for each transaction, from its request until it is final. */
  roundTrips: number;
  /** The same without the requests: the transactions wait in the database, as many in each lane. */
  inLane: number;
  /** Transactions per second of that. */
  drained: number;
}

export interface PostgresBench {
  transactions: number;
  delays: readonly number[];
  accounts: readonly number[];
  /** Numbers of lanes that have open transactions. */
  lanes: readonly number[];
}

/** How long a search for due lanes takes, in milliseconds: the best of some. It looks at a part of the lanes. */
export interface DueLanesFigures {
  lanes: number;
  ms: number;
  /** Of all the searches that look at every lane. */
  allMs: number;
}

const PATIENCE_MS = 300_000;
/** Transactions before the rounds, so that code is compiled. */
const WARM_UP = 100;
const SEARCHES = 7;

export async function benchPostgres(
  bench: PostgresBench,
): Promise<{ relaying: PostgresFigures[]; dueLanes: DueLanesFigures[] }> {
  const postgres = await startPostgres();
  try {
    return { relaying: await benchRelaying(postgres, bench), dueLanes: await benchDueLanes(postgres, bench) };
  } finally {
    await postgres.stop();
  }
}

/** One connection to the database, past the service and the proxy. */
function directly(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 1 });
  // `end` does not wait until the connection is closed, and the server's farewell at its stop would end the process.
  pool.on('error', () => {});
  return pool;
}

async function benchRelaying(postgres: Postgres, bench: PostgresBench): Promise<PostgresFigures[]> {
  const database = await postgres.createDatabase();
  const front = await startPostgresFront(database);
  const anvil = await startAnvil({ blockTime: BLOCK_SECONDS, args: ['--gas-limit', String(BLOCK_GAS)] });
  const agent = new Agent({ connections: IN_FLIGHT });
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    env: {
      RATE_LIMIT_REQUESTS_PER_SECOND: '1000000',
      RATE_LIMIT_BURST_SIZE: '1000000',
      LOG_LEVEL: 'info',
      DATABASE_URL: front.url,
      STORAGE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    },
  });
  const figures: PostgresFigures[] = [];
  try {
    const relayers = await declareRelayers(workspace, anvil, { relayers: Math.max(...bench.accounts) });
    const service = await startService(workspace.env);
    const pool = directly(database);
    try {
      await throughService(service, anvil, agent, relayers, WARM_UP);
      for (const delayMs of bench.delays) {
        for (const accounts of bench.accounts) {
          const some = relayers.slice(0, accounts);
          await untilFinal(pool);
          front.delayMs = delayMs;
          const before = front.roundTrips;
          const rates = await throughService(service, anvil, agent, some, bench.transactions);
          await untilFinal(pool);
          const roundTrips = (front.roundTrips - before) / bench.transactions;
          figures.push({ delayMs, accounts, ...rates, roundTrips, ...(await drain(pool, front, some, bench)) });
        }
        front.delayMs = 0;
      }
    } finally {
      await pool.end();
      await service.stop();
    }
  } finally {
    await agent.close();
    await anvil.stop();
    await workspace.remove();
    await front.stop();
  }
  return figures;
}

/** Puts copies of ended transactions into the database as pending ones, for the service's next search to find. */
async function drain(
  pool: pg.Pool,
  front: PostgresFront,
  relayers: readonly RelayerAccount[],
  { transactions }: PostgresBench,
): Promise<{ inLane: number; drained: number }> {
  const copies = Math.ceil(transactions / relayers.length);
  const { delayMs } = front;
  const [before, began] = [front.roundTrips, performance.now()];
  await pool.query(
    `insert into transactions (id, relayer_id, revision, network_type, lane, status, created_at, request, fields,
        anchor_kind, on_death, next_action_at)
      select gen_random_uuid(), relayer_id, 1, network_type, lane, 'pending', one.at, request, '{}', anchor_kind,
        on_death, one.at
      from (select distinct on (relayer_id) *, floor(extract(epoch from clock_timestamp()) * 1000)::bigint as at
        from transactions where relayer_id = any($1) order by relayer_id, accepted) as one, generate_series(1, $2)`,
    [relayers.map(({ relayerId }) => relayerId), copies],
  );
  // Any of these makes the service look.
  await pool.query(
    `select pg_notify('isolayer', json_build_object('from', 'bench', 'hints', json_agg(json_build_array('lane', lane)))::text)
      from (select distinct lane from transactions where status = 'pending') as lanes`,
  );
  await untilFinal(pool);
  const count = copies * relayers.length;
  front.delayMs = delayMs;
  return { inLane: (front.roundTrips - before) / count, drained: perSecond(count, began) };
}

async function untilFinal(pool: pg.Pool): Promise<void> {
  await until(
    async () => {
      const { rows } = await pool.query('select 1 from transactions where next_action_at is not null limit 1');
      return rows.length === 0;
    },
    50,
    PATIENCE_MS,
  );
}

async function benchDueLanes(postgres: Postgres, { lanes }: PostgresBench): Promise<DueLanesFigures[]> {
  const url = await postgres.createDatabase();
  const store = await openPostgresStore({ url, log: createLog('silent') });
  const pool = directly(url);
  const figures: DueLanesFigures[] = [];
  let made = 0;
  try {
    for (const count of [...lanes].sort((one, other) => one - other)) {
      await pool.query(
        `insert into transactions (id, relayer_id, revision, network_type, lane, status, created_at, request, fields,
            anchor_kind, on_death, next_action_at)
          select 't' || i, 'r' || i, 1, 'evm', 'evm:1:' || i, 'pending', 1, '{}', '{}', 'sequence', 'end', 1
          from generate_series($1::int, $2::int) as i`,
        [made + 1, count],
      );
      made = count;
      await pool.query('vacuum analyze transactions');
      await sleep(100);
      const took: number[] = [];
      const tookAll: number[] = [];
      for (let search = 0; search < SEARCHES; search += 1) {
        const began = performance.now();
        let { upTo } = await store.read.dueLanes(Date.now());
        took.push(performance.now() - began);
        while (upTo !== undefined) ({ upTo } = await store.read.dueLanes(Date.now(), upTo));
        tookAll.push(performance.now() - began);
      }
      figures.push({ lanes: count, ms: Math.min(...took), allMs: Math.min(...tookAll) });
    }
    return figures;
  } finally {
    await pool.end();
    await store.close();
  }
}
