import t from 'tap';
import { rememberSame } from '../../../../../src/store/tables/same-rows.ts';

const rowOf = (number: number, text = 'text') => ({ id: String(number), text, at: number, none: null });

/** A reader that makes a new record each time. */
const remembering = () => rememberSame((row: ReturnType<typeof rowOf>) => ({ read: row.text }));

t.test('a row that is the same leads to the same record, a changed one to its own', async (t) => {
  const read = remembering();
  const first = read(rowOf(1));
  t.equal(read(rowOf(1)), first);
  t.same(read(rowOf(1, 'changed')), { read: 'changed' });
  t.same(read({ ...rowOf(1), at: 2 }), { read: 'text' });
  t.not(read(rowOf(1)), first, 'only the latest is remembered');
});

t.test('what was read least lately is forgotten first', async (t) => {
  const read = remembering();
  const [oldest, next] = [read(rowOf(0)), read(rowOf(1))];
  for (let number = 2; number < 1_000; number += 1) read(rowOf(number));
  t.equal(read(rowOf(0)), oldest);
  read(rowOf(1_000));
  t.equal(read(rowOf(0)), oldest);
  t.not(read(rowOf(1)), next);
});

t.test('long rows are not kept', async (t) => {
  const read = remembering();
  const long = 'x'.repeat(16_384);
  t.not(read(rowOf(1, long)), read(rowOf(1, long)));
  t.same(read(rowOf(1, long)), { read: long });
});

t.test('a row that cannot be read is told each time, and forgets what was there', async (t) => {
  const read = rememberSame((row: ReturnType<typeof rowOf>) => {
    if (row.text === 'bad') throw new Error('unreadable');
    return { read: row.text };
  });
  const first = read(rowOf(1));
  for (let time = 0; time < 2; time += 1) t.throws(() => read(rowOf(1, 'bad')), { message: 'unreadable' });
  t.not(read(rowOf(1)), first);
});
