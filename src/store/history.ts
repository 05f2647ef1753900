import { z } from 'zod';
import type { Mark, Release } from '../domain/history.ts';
import { jsonText, sequence as sequenceColumn, timestamp } from '../domain/record.ts';
import type { Connection } from './connection.ts';
import type { Reader, Writer } from './store.ts';
import { readRecord } from './tables/stored-record.ts';

const HISTORY = 'history';
const MARK = 'mark:';
const RELEASE = 'release';
const RESTORED = 'restored:';

const historySchema = jsonText(z.strictObject({ epochs: z.array(z.string()), place: z.string().nullable() }));
const releaseSchema: z.ZodType<Release> = jsonText(
  z.strictObject({ upTo: z.int().nonnegative(), endsAt: timestamp.schema.nullable() }),
);
const restoredSchema = jsonText(z.strictObject({ from: sequenceColumn.schema.nullable() }));
const markSchema: z.ZodType<Mark> = jsonText(z.strictObject({ count: z.int(), at: timestamp.schema }));

/** Reads of the database's past in the table `meta`. */
export function historyReads({ db }: Connection): Pick<Reader, 'history' | 'restoredFrom'> {
  return {
    async history() {
      const rows = await db
        .selectFrom('meta')
        .select(['key', 'value'])
        .where((on) => on.or([on('key', 'in', [HISTORY, RELEASE]), on('key', 'like', `${MARK}%`)]))
        .execute();
      const told = rows.find(({ key }) => key === HISTORY);
      const released = rows.find(({ key }) => key === RELEASE);
      const release = released === undefined ? null : readRecord(releaseSchema, 'meta', RELEASE, released.value);
      const marks = rows
        .filter(({ key }) => key.startsWith(MARK))
        .map(({ key, value }) => [key.slice(MARK.length), readRecord(markSchema, 'meta', key, value)] as const);
      const { epochs, place } =
        told === undefined ? { epochs: [], place: null } : readRecord(historySchema, 'meta', HISTORY, told.value);
      return { epochs, place, marks: new Map(marks), release };
    },

    async restoredFrom(lane) {
      const key = RESTORED + lane;
      const row = await db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst();
      return row === undefined ? undefined : readRecord(restoredSchema, 'meta', key, row.value).from;
    },
  };
}

/** Writes of the database's past. */
export function historyWrites({
  db,
}: Connection): Pick<Writer, 'putHistory' | 'putMark' | 'putRelease' | 'putRestoredFrom'> {
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
  };
}
