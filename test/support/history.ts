import { DatabaseSync } from 'node:sqlite';
import type { StoreReader } from '../../src/store/store.ts';

const HISTORY_LANE = 'evm:1:0xaa';

/** SQL that turns an integer into a text of fixed width. */
const WIDE = {
  sqlite: (integer: string) => `printf('%020d', ${integer})`,
  postgres: (integer: string) => `lpad((${integer})::text, 20, '0')`,
} as const;

/** When the first transaction of a history was accepted. One follows each second. */
const BEGAN = 1_700_000_000_000;

/** Statements that fill the store with final transactions of one relayer and lane, and with a few open ones above. */
export function historyOf(count: number, database: keyof typeof WIDE): string[] {
  const wide = WIDE[database];
  const each = `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${count + 2})`;
  const at = `${BEGAN} + i * 1000`;
  const status = `case when i > ${count} then 'submitted' when i % 50 = 0 then 'failed' else 'confirmed' end`;
  const ended = `case when i > ${count} then null else ${at} end`;
  const next = `case when i > ${count} then ${at} + 50000 else null end`;
  return [
    `insert into relayers (id, revision, created_at, name, network, network_type, address, paused, signer_id, policies)
      values ('r1', 1, 1, 'r1', 'n', 'evm', '0xaa', 0, 's', '{}')`,
    `insert into transactions (id, relayer_id, revision, network_type, lane, status, created_at, sent_at, confirmed_at,
        request, fields, anchor_kind, on_death, sequence, hash, next_action_at, ended_at) ${each}
      select 't' || i, 'r1', i, 'evm', '${HISTORY_LANE}', ${status}, ${at}, ${at}, ${ended}, '{}', '{}', 'sequence',
        'end', ${wide('i')}, 'h' || i, ${next}, ${ended} from n`,
    `insert into lanes (lane, settled) values ('${HISTORY_LANE}', '${String(count).padStart(20, '0')}')`,
    `insert into attempts (transaction_id, ordinal, lane, anchor, raw, hash, created_at, purpose, request, fields) ${each}
      select 't' || i, 1, '${HISTORY_LANE}', 'sequence:' || ${wide('i')}, '0x', 'h' || i, ${at}, 'send', '{}', '{}' from n`,
    `insert into decisions (transaction_id, at, kind, text) ${each} select 't' || i, ${at}, 'mined', 'in a block' from n`,
    `insert into intents (transaction_id, lane, action, created_at, settled_at) ${each}
      select 't' || i, '${HISTORY_LANE}', '{"kind":"cancel"}', ${at}, ${at} from n`,
  ];
}

/** Fills the file of an embedded database that no process has open. */
export function fillSqlite(path: string, count: number): void {
  const database = new DatabaseSync(path);
  database.exec('pragma synchronous = off; begin');
  for (const statement of historyOf(count, 'sqlite')) database.exec(statement);
  database.exec('commit');
  database.close();
}

/**
 * Transactions like the first one that a relayer has, which have all ended, beside its own lane. Ten million take
 * minutes: without a log, and with room for the indexes.
 */
export function fillEnded(path: string, { relayerId, count }: { relayerId: string; count: number }): void {
  const database = new DatabaseSync(path);
  database.exec(
    'pragma journal_mode = delete; pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -2000000; begin',
  );
  database
    .prepare(`insert into transactions (id, relayer_id, revision, network_type, lane, status, created_at, sent_at,
      confirmed_at, request, fields, anchor_kind, on_death, sequence, hash, ended_at)
      with recursive n(i) as (select 0 union all select i + 1 from n where i < ${count - 1})
      select 't' || i, $relayerId, i, 'evm', '${HISTORY_LANE}', iif(i % 50 = 0, 'failed', 'confirmed'), at, at, at,
        request, fields, 'sequence', 'end', ${WIDE.sqlite('i')}, 'h' || i, at
      from (select i, ${BEGAN} + i * 1000 as at from n),
        (select request, fields from transactions where relayer_id = $relayerId order by accepted limit 1)`)
    .run({ relayerId });
  database.exec('commit; pragma journal_mode = wal');
  database.close();
}

/** The reads that the engine repeats all the time, as of the moment after such a history. */
export function engineReads(read: StoreReader, count: number): Readonly<Record<string, () => Promise<unknown>>> {
  const now = BEGAN + (count + 2) * 1_000;
  const id = `t${count + 2}`;
  return {
    settledSequence: () => read.settledSequence(HISTORY_LANE),
    knownSequence: () => read.knownSequence(HISTORY_LANE),
    openTransactions: () => read.openTransactions(HISTORY_LANE),
    duePending: () => read.duePending(HISTORY_LANE, 'sequence', now, 32),
    dueLanes: () => read.dueLanes(now),
    nextPendingAt: () => read.nextPendingAt(HISTORY_LANE, now),
    intents: () => read.intents(HISTORY_LANE, 32),
    intentOutcome: () => read.intentOutcome(1),
    waitingIntents: () => read.waitingIntents(),
    cancelable: () => read.cancelable('r1'),
    pendingCount: () => read.pendingCount('r1'),
    openCounts: () => read.openCounts(),
    lastConfirmedAt: () => read.lastConfirmedAt('r1'),
    transaction: async () => read.transaction('r1', id),
    transactionOfLane: () => read.transactionOfLane(HISTORY_LANE, id),
    transactionBySequence: () => read.transactionBySequence('r1', BigInt(count)),
    endedAt: () => read.endedAt(id),
    transactionByContent: () => read.transactionByContent(HISTORY_LANE, 'bytes'),
    transactionByHash: () => read.transactionByHash(HISTORY_LANE, 'a hash'),
    children: () => read.children(id),
    attempts: () => read.attempts(id),
    decisions: () => read.decisions(id, 100),
    intentRecords: () => read.intentRecords(id, 100),
    budgeted: () => read.budgeted([id]),
  };
}
