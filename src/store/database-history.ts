import { z } from 'zod';
import { jsonText, accountSequenceColumn as sequenceColumn, timestampColumn } from '../domain/record.ts';
import type { Connection } from './connection.ts';
import type { InstanceProgress, StoreReader, StoreWriter, UnsignedRelease } from './store.ts';
import { parseRow } from './tables/stored-record.ts';

const HISTORY = 'history';
const MARK = 'mark:';
const RELEASE = 'release';
const RESTORED = 'restored:';

const historySchema = jsonText(z.strictObject({ epochs: z.array(z.string()), place: z.string().nullable() }));
const releaseSchema: z.ZodType<UnsignedRelease> = jsonText(
  z.strictObject({ upTo: z.int().nonnegative(), endsAt: timestampColumn.schema.nullable() }),
);
const restoredSchema = jsonText(z.strictObject({ from: sequenceColumn.schema.nullable() }));
const markSchema: z.ZodType<InstanceProgress> = jsonText(
  z.strictObject({ count: z.int(), at: timestampColumn.schema }),
);

/** Reads of the database's past in the table `meta`. */
export function historyReads({ db }: Connection) {
  return {
    async history() {
      const rows = await db
        .selectFrom('meta')
        .select(['key', 'value'])
        .where((on) => on.or([on('key', 'in', [HISTORY, RELEASE]), on('key', 'like', `${MARK}%`)]))
        .execute();
      const told = rows.find(({ key }) => key === HISTORY);
      const released = rows.find(({ key }) => key === RELEASE);
      const release = released === undefined ? null : parseRow(releaseSchema, 'meta', RELEASE, released.value);
      const marks = rows
        .filter(({ key }) => key.startsWith(MARK))
        .map(({ key, value }) => [key.slice(MARK.length), parseRow(markSchema, 'meta', key, value)] as const);
      const { epochs, place } =
        told === undefined ? { epochs: [], place: null } : parseRow(historySchema, 'meta', HISTORY, told.value);
      return { epochs, place, marks: new Map(marks), release };
    },

    async restoredFrom(lane) {
      const key = RESTORED + lane;
      const row = await db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst();
      return row === undefined ? undefined : parseRow(restoredSchema, 'meta', key, row.value).from;
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the database's past. */
export function historyWrites({ db }: Connection) {
  const put = async (key: string, value: string) => {
    await db
      .insertInto('meta')
      .values({ key, value })
      .onConflict((on) => on.column('key').doUpdateSet({ value }))
      .execute();
  };
  return {
    putHistory: ({ epochs, place }) => put(HISTORY, JSON.stringify({ epochs, place })),
    putMark: (folder, { count, at }) => put(`${MARK}${folder}`, JSON.stringify({ count, at })),
    async putRelease(release) {
      if (release === null) await db.deleteFrom('meta').where('key', '=', RELEASE).execute();
      else await put(RELEASE, JSON.stringify(release));
    },
    async putRestoredFrom(lane, from) {
      const key = RESTORED + lane;
      if (from === undefined) await db.deleteFrom('meta').where('key', '=', key).execute();
      else await put(key, JSON.stringify({ from: from === null ? null : sequenceColumn.write(from) }));
    },
  } satisfies Partial<StoreWriter>;
}
