import t from 'tap';
import { z } from 'zod';
import {
  accountSequenceColumn,
  anyJsonColumn,
  booleanColumn,
  defineRecord,
  generatedColumn,
  integerColumn,
  jsonColumn,
  nullableColumn,
  proseColumn,
  sealedColumn,
  shownColumn,
  storableText,
  textColumn,
  timestampColumn,
} from '../../../../src/domain/record.ts';

const things = defineRecord(
  'things',
  {
    id: shownColumn(textColumn),
    madeAt: shownColumn(timestampColumn),
    isOld: booleanColumn,
    endedAt: shownColumn(nullableColumn(timestampColumn)),
    saidBy: nullableColumn(proseColumn),
    shape: jsonColumn(z.strictObject({ sides: z.int() })),
  },
  { fixed: ['id', 'madeAt'], beside: { seal: sealedColumn(textColumn), place: generatedColumn(integerColumn) } },
);
const thing = { id: 'x', madeAt: 5, isOld: true, endedAt: null, saidBy: null, shape: { sides: 3 } };
const row = { id: 'x', made_at: 5, is_old: 1, ended_at: null, said_by: null, shape: '{"sides":3}' };

t.test('a record comes back from its row', async (t) => {
  t.match(things.columns, [
    { name: 'id', isNullable: false },
    {},
    {},
    {},
    { name: 'said_by', isNullable: true },
    {},
    {},
    {},
  ]);
  t.strictSame(things.names, Object.keys(row));
  t.strictSame(things.sealed, ['seal']);
  t.strictSame(things.write(thing), row);
  t.strictSame(things.read({ ...row, other: 1 }), thing);
});

t.test('a row of another shape is refused, with the column', async (t) => {
  for (const wrong of [{ made_at: '5' }, { is_old: 2 }, { said_by: 1 }, { shape: '{' }, { shape: '{"sides":"3"}' }]) {
    const [column = ''] = Object.keys(wrong);
    t.throws(() => things.read({ ...row, ...wrong }), { message: new RegExp(`"${column}"`) });
  }
});

t.test('a change writes the columns of the fields that it has, and never a fixed one', async (t) => {
  t.strictSame(things.writeChange({}), {});
  t.strictSame(things.writeChange({ isOld: false }), { is_old: 0 });
  t.strictSame(things.writeChange({ isOld: true, saidBy: 'a\0b', id: 'y' } as { isOld: boolean; saidBy: string }), {
    is_old: 1,
    said_by: 'a\ufffdb',
  });
});

t.test('answers show the marked fields, times as texts', async (t) => {
  t.strictSame(Object.keys(things.shown), ['id', 'made_at', 'ended_at']);
  const { id, made_at, ended_at } = things.shown;
  t.equal(id[1](thing), 'x');
  t.equal(made_at[1](thing), '1970-01-01T00:00:00.005+00:00');
  t.equal(ended_at[1](thing), null);
  t.equal(ended_at[1]({ ...thing, endedAt: 0 }), '1970-01-01T00:00:00.000+00:00');
  t.equal(ended_at[0].safeParse(null).success, true);
  t.equal(made_at[0].safeParse(5).success, false);
});

t.test('a picked record has its fields only', async (t) => {
  t.strictSame(things.pick({ id: 'y', isOld: false, other: 1 } as { id: string; isOld: boolean }), {
    id: 'y',
    isOld: false,
  });
});

t.test('columns', async (t) => {
  t.equal(booleanColumn.schema.parse(1), true);
  t.equal(booleanColumn.schema.parse(0), false);
  t.equal(booleanColumn.schema.safeParse(2).success, false);
  t.equal(anyJsonColumn.schema.parse('null'), null);
  t.equal(storableText('a\0b\udc00'), 'a\ufffdb\ufffd');
});

t.test('text sorts as the numbers do, and comes back exactly', async (t) => {
  const sequences = [0n, 1n, 9n, 10n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 64n - 1n];
  const texts = sequences.map(accountSequenceColumn.write);
  t.strictSame(texts.toSorted(), texts);
  t.strictSame(
    texts.map((text) => accountSequenceColumn.schema.parse(text)),
    sequences,
  );
});

t.test('what is no sequence is refused, both ways', async (t) => {
  for (const value of [-1n, 2n ** 64n]) t.throws(() => accountSequenceColumn.write(value), RangeError);
  for (const text of ['', '1', '-0000000000000000001', '0000000000000000000x', 1]) {
    t.equal(accountSequenceColumn.schema.safeParse(text).success, false);
  }
});
