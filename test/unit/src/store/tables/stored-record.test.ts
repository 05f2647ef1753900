import t from 'tap';
import { z } from 'zod';
import { jsonObjectColumn, timestampColumn } from '../../../../../src/domain/record.ts';
import {
  DuplicateRecord,
  parseRow,
  RecordCache,
  UnreadableRecord,
} from '../../../../../src/store/tables/stored-record.ts';
import { storeFor } from '../../../../support/store.ts';

t.test('an unreadable record is an error that names table, record and field', async (t) => {
  const schema = z.object({ at: timestampColumn.schema, fields: jsonObjectColumn.schema });
  t.strictSame(parseRow(schema, 'things', 'x', { at: 5, fields: '{"a":1}' }), { at: 5, fields: { a: 1 } });
  for (const [row, field] of [
    [{ at: 1.5, fields: '{}' }, 'at'],
    [{ at: '5', fields: '{}' }, 'at'],
    [{ at: 5, fields: '{' }, 'fields'],
    [{ at: 5, fields: '[]' }, 'fields'],
    [{ at: 5, fields: 'null' }, 'fields'],
    [{ at: 5 }, 'fields'],
  ] as const) {
    const error = t.throws(() => parseRow(schema, 'things', 'x', row)) as UnreadableRecord;
    t.ok(error instanceof UnreadableRecord);
    t.match(error, { table: 'things', id: 'x', message: /^Record x of table things cannot be read: / });
    t.match(error.message, field);
  }
});

t.test('a duplicate says what is taken', async (t) => {
  t.match(new DuplicateRecord('things', 'x'), { name: 'DuplicateRecord', message: 'Table things already holds x' });
});

// The store contract tests what kept bytes promise. This file tests what is only visible inside the store.
t.test('an answer as small as most are is kept without a look at the quota', async (t) => {
  const store = await storeFor(t);
  const keep = async (key: string, bytes: number) => {
    const request = { scope: 's', key, fingerprint: 'f' };
    const claimant = { id: key, owner: 'o', forMs: 60_000, isAlone: false };
    const answer = { status: 200, body: 'x'.repeat(bytes) };
    await store.write(async (writer) => {
      const state = await writer.claimKey(request, claimant);
      if (state.kind !== 'claimed') throw new Error(state.kind);
      await writer.keepAnswer(state.claim, answer, { onlyAfterEffects: false, quotaBytes: 0 });
    });
    const state = await store.write((writer) => writer.claimKey(request, claimant));
    return state.kind === 'answered' && state.answer.body?.length;
  };
  t.strictSame([await keep('most', 4096), await keep('large', 4097)], [4096, undefined]);
});

t.test('same rows', async (t) => {
  const rowOf = (number: number, text = 'text') => ({ id: String(number), text, at: number, none: null });

  type Row = ReturnType<typeof rowOf>;

  function remembering() {
    const rows = new RecordCache((row: Row) => ({ read: row.text }));
    return { rows, read: (row: Row) => rows.record(row) };
  }

  t.test('a row that is the same leads to the same record, a changed one to its own', async (t) => {
    const { read } = remembering();
    const first = read(rowOf(1));
    t.equal(read(rowOf(1)), first);
    t.same(read(rowOf(1, 'changed')), { read: 'changed' });
    t.same(read({ ...rowOf(1), at: 2 }), { read: 'text' });
    t.not(read(rowOf(1)), first, 'only the latest is remembered');
  });

  t.test('what was read least lately is forgotten first', async (t) => {
    const { read } = remembering();
    const [oldest, next] = [read(rowOf(0)), read(rowOf(1))];
    for (let number = 2; number < 1_000; number += 1) read(rowOf(number));
    t.equal(read(rowOf(0)), oldest);
    read(rowOf(1_000));
    t.equal(read(rowOf(0)), oldest);
    t.not(read(rowOf(1)), next);
  });

  t.test('long rows are not kept', async (t) => {
    const { read } = remembering();
    const long = 'x'.repeat(16_384);
    t.not(read(rowOf(1, long)), read(rowOf(1, long)));
    t.same(read(rowOf(1, long)), { read: long });
  });

  t.test('a row that cannot be read is told each time, and forgets what was there', async (t) => {
    const rows = new RecordCache((row: Row) => {
      if (row.text === 'bad') throw new Error('unreadable');
      return { read: row.text };
    });
    const read = (row: Row) => rows.record(row);
    const first = read(rowOf(1));
    for (let time = 0; time < 2; time += 1) t.throws(() => read(rowOf(1, 'bad')), { message: 'unreadable' });
    t.not(read(rowOf(1)), first);
  });

  t.test('while a mark that changes with each write is the same, the row itself is not read', async (t) => {
    const { rows } = remembering();
    const reads: string[] = [];
    const find = (number: number, stored: Row[], at = stored[0]?.at ?? 0) =>
      rows.find(
        String(number),
        async () => {
          reads.push('mark');
          return stored.map(({ id }) => ({ id, at }));
        },
        async () => {
          reads.push('row');
          return stored;
        },
      );
    const first = await find(1, [rowOf(1)]);
    t.equal(await find(1, [rowOf(1)]), first);
    t.strictSame(reads, ['row', 'mark']);
    const changed = await find(1, [{ ...rowOf(1, 'other'), at: 2 }]);
    t.strictSame([changed, reads.slice(2)], [{ read: 'other' }, ['mark', 'row']]);
    t.equal(await find(1, []), undefined, 'it was deleted');
    t.equal(await find(2, []), undefined, 'it never was');
    for (let number = 2; number <= 1_000; number += 1) await find(number, [rowOf(number)]);
    await find(1, [{ ...rowOf(1, 'other'), at: 2 }]);
    await find(1_001, [rowOf(1_001)]);
    t.equal(await find(1, [{ ...rowOf(1, 'other'), at: 2 }]), changed, 'it was asked for lately');
  });
});
