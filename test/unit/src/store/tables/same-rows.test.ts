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

t.test('what changes with each write of a row tells whether it is the same', async (t) => {
  const { rows, read } = remembering();
  t.equal(rows.known({ id: '1', at: 1 }), undefined);
  const first = read(rowOf(1));
  t.strictSame([rows.has('1'), rows.has('2')], [true, false]);
  t.equal(rows.known({ id: '1', at: 1 }), first);
  t.equal(rows.known({ id: '1', at: 2 }), undefined);
  for (let number = 2; number <= 1_000; number += 1) read(rowOf(number));
  rows.known({ id: '1', at: 1 });
  read(rowOf(1_001));
  t.equal(rows.known({ id: '1', at: 1 }), first, 'it was asked for lately');
});
