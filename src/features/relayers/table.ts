import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import { whenKnown } from '../../domain/when-known.ts';
import type { Connection } from '../../store/connection.ts';
import { preparedQuery, rememberedRead } from '../../store/prepared.ts';
import type { Tables } from '../../store/schema.ts';
import { DAMAGED_URL } from '../../store/sealing.ts';
import type { StoreReader, StoreWriter } from '../../store/store.ts';
import { countOf, pageBounds } from '../../store/tables/lists.ts';
import { newRevision, RecordCache, recordOfRow, rowOfRecord } from '../../store/tables/stored-record.ts';
import {
  type Relayer,
  type RelayerFilter,
  type RelayerState,
  type RelayerUse,
  relayerBalanceRecord,
  relayerRecord,
} from './records/relayer.ts';

type RelayerRow = Selectable<Tables['relayers']>;

/**
 * Locks that keep references between settings valid: a relayer refers to its signer, a transaction to its relayer. With
 * other writers, a snapshot of the database may not show a new reference to the record that is about to be deleted.
 */
export function settingsLock(connection: Connection) {
  const { db, hasOtherWriters = false } = connection;
  const held = preparedQuery(connection, (id: string) => {
    const relayer = db.selectFrom('relayers').select('id').where('id', '=', id);
    return hasOtherWriters ? relayer.forKeyShare() : relayer;
  });
  return {
    async lockSettings() {
      // Blocks `holdRelayer` and other changes, but no reads. Later statements of the transaction see everything that
      // was committed before: https://www.postgresql.org/docs/current/sql-lock.html
      if (hasOtherWriters) await sql`lock table relayers in exclusive mode`.execute(db);
    },

    async holdRelayer(id) {
      return (await held(id)).length > 0;
    },
  } satisfies Partial<StoreWriter>;
}

/** Returns pages of the relayers that pass a filter, or of all. */
function relayerList(connection: Connection, read: (row: RelayerRow) => Relayer): StoreReader['relayers'] {
  const { db } = connection;
  // Relayers that one write declared have the same time. Their ids order them.
  const newestFirst = db.selectFrom('relayers').orderBy('created_at', 'desc').orderBy('id', 'desc');
  const pageOf = preparedQuery(connection, (limit: number, offset: number) =>
    newestFirst.selectAll().limit(limit).offset(offset),
  );
  const count = preparedQuery(connection, () =>
    db.selectFrom('relayers').select((on) => on.fn.countAll<number>().as('total')),
  );

  /**
   * Returns the ids of the relayers that pass the filter. The search runs here, since the databases disagree on upper
   * and lower case.
   */
  async function idsOf({ among, states, search }: RelayerFilter): Promise<string[]> {
    if (among?.length === 0) return [];
    let matching = newestFirst.select(['id', 'name', 'network', 'network_type', 'address']);
    if (among !== undefined) matching = matching.where('id', 'in', among);
    if (states !== undefined) matching = matching.where((on) => on.or(states.map((state) => isIn(state)(on))));
    const rows = await matching.execute();
    return rows.filter((row) => search === undefined || isFound(row, search.toLowerCase())).map(({ id }) => id);
  }

  return async (page, filter) => {
    const { limit, offset } = pageBounds(page);
    if (filter === undefined) {
      const rows = await pageOf(limit, offset);
      return { items: rows.map(read), total: countOf(await count()) };
    }
    const ids = await idsOf(filter);
    const shown = ids.slice(offset, offset + limit);
    const rows = shown.length === 0 ? [] : await newestFirst.selectAll().where('id', 'in', shown).execute();
    return { items: rows.map(read), total: ids.length };
  };
}

type Known = Pick<RelayerRow, 'id' | 'name' | 'address' | 'network' | 'network_type'>;

function isFound({ id, name, address, network, network_type: type }: Known, lowerCase: string): boolean {
  return [id, name, address, `${type}:${network}`].some((text) => text.toLowerCase().includes(lowerCase));
}

function isIn(state: RelayerState) {
  return (on: ExpressionBuilder<Tables, 'relayers'>) => {
    if (state === 'disabled') return on('disabled_reason', 'is not', null);
    return on.and([on('disabled_reason', 'is', null), on('paused', '=', state === 'paused' ? 1 : 0)]);
  };
}

/** More than anybody has. Health checks and metrics read all relayers again and again, and with fewer none would be known. */
const MAX_KNOWN = 20_000;

/** Each has an index, or shares one. */
const USE_COLUMNS = [
  ['signerId', 'signer_id'],
  ['networkType', 'network_type'],
  ['network', 'network'],
  ['notificationId', 'notification_id'],
  ['address', 'address'],
] as const satisfies (readonly [keyof RelayerUse, keyof RelayerRow])[];

/** A relayer whose own endpoints are damaged calls none, not those of its network. */
const DAMAGED = { custom_rpc_urls: JSON.stringify([{ url: DAMAGED_URL, weight: 100 }]) };

/** Reads of the table `relayers`. */
export function relayerReads(connection: Connection) {
  const { db } = connection;
  const known = new RecordCache((row: RelayerRow) => recordOfRow(relayerRecord, row, connection, DAMAGED), MAX_KNOWN);
  const read = (row: RelayerRow) => known.record(row);
  const byId = preparedQuery(connection, (id: string) => db.selectFrom('relayers').selectAll().where('id', '=', id));
  const markOf = rememberedRead(
    connection,
    preparedQuery(connection, (id: string) =>
      db.selectFrom('relayers').select(['id', 'revision']).where('id', '=', id),
    ),
    (rows) => rows.length,
  );
  return {
    hasRelayer(id) {
      return whenKnown(markOf(id), (marks) => marks.length > 0);
    },

    relayer(id) {
      return known.find(
        id,
        () => markOf(id),
        () => byId(id),
      );
    },

    relayers: relayerList(connection, read),

    async allRelayers() {
      const newestFirst = db.selectFrom('relayers').selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc');
      return (await newestFirst.execute()).map(read);
    },

    async relayersWith(use) {
      let matching = db.selectFrom('relayers').selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc');
      for (const [field, column] of USE_COLUMNS) {
        const value = use[field];
        if (value !== undefined) matching = matching.where(column, '=', value);
      }
      return (await matching.execute()).map(read);
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `relayers`. */
export function relayerWrites(connection: Connection) {
  const { db, now } = connection;
  return {
    async putRelayer(relayer) {
      const row = { ...rowOfRecord(relayerRecord, relayer, connection), revision: newRevision() };
      await db
        .insertInto('relayers')
        .values({ ...row, created_at: now() })
        .onConflict((on) => on.column('id').doUpdateSet(row))
        .execute();
    },

    async deleteRelayer(id) {
      await db.deleteFrom('relayer_balances').where('relayer_id', '=', id).execute();
      const { numDeletedRows } = await db.deleteFrom('relayers').where('id', '=', id).executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    },
  } satisfies Partial<StoreWriter>;
}

/** Reads of the table `relayer_balances`. */
export function balanceReads({ db }: Connection) {
  return {
    async relayerBalance(relayerId) {
      const row = await db
        .selectFrom('relayer_balances')
        .selectAll()
        .where('relayer_id', '=', relayerId)
        .executeTakeFirst();
      return row && recordOfRow(relayerBalanceRecord, row);
    },

    async relayerBalances() {
      const rows = await db.selectFrom('relayer_balances').selectAll().execute();
      return rows.map((row) => recordOfRow(relayerBalanceRecord, row));
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `relayer_balances`. */
export function balanceWrites({ db }: Connection) {
  return {
    async putRelayerBalance(balance) {
      const row = relayerBalanceRecord.write(balance);
      await db
        .insertInto('relayer_balances')
        .values(row)
        .onConflict((on) => on.column('relayer_id').doUpdateSet(row))
        .execute();
    },
  } satisfies Partial<StoreWriter>;
}
