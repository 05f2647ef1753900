import type { ExpressionBuilder } from 'kysely';
import type { Connection } from '../../../store/connection.ts';
import { preparedQuery } from '../../../store/prepared.ts';
import type { RelayerTable, Tables } from '../../../store/schema.ts';
import type { StoreReader } from '../../../store/store.ts';
import { countOf, pageBounds } from '../../../store/tables/paging.ts';
import type { Relayer, RelayerFilter, RelayerState } from '../records/relayer.ts';

/** Returns pages of the relayers that pass a filter, or of all. */
export function relayerList(connection: Connection, read: (row: RelayerTable) => Relayer): StoreReader['relayers'] {
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

type Known = Pick<RelayerTable, 'id' | 'name' | 'address' | 'network' | 'network_type'>;

function isFound({ id, name, address, network, network_type: type }: Known, lowerCase: string): boolean {
  return [id, name, address, `${type}:${network}`].some((text) => text.toLowerCase().includes(lowerCase));
}

function isIn(state: RelayerState) {
  return (on: ExpressionBuilder<Tables, 'relayers'>) => {
    if (state === 'disabled') return on('disabled_reason', 'is not', null);
    return on.and([on('disabled_reason', 'is', null), on('paused', '=', state === 'paused' ? 1 : 0)]);
  };
}
