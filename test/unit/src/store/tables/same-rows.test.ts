import t from 'tap';
import { SameRows } from '../../../../../src/store/tables/same-rows.ts';

const rowOf = (number: number, text = 'text') => ({ id: String(number), text, at: number, none: null });

type Row = ReturnType<typeof rowOf>;

function remembering() {
  const rows = new SameRows((row: Row) => ({ read: row.text }));
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
  const rows = new SameRows((row: Row) => {
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
