import { Kysely } from 'kysely';
import pg from 'pg';
import t from 'tap';
import { postgresDialect, typeParsers } from '../../../../../src/store/postgres/postgres-dialect.ts';

t.test('a value that would be stored as another is refused before it is sent', async (t) => {
  const pool = new pg.Pool({ max: 1 });
  t.teardown(() => pool.end());
  const db = new Kysely<{ things: { id: number } }>({ dialect: postgresDialect(pool) });
  const insert = (id: unknown) => db.insertInto('things').values({ id: id as number });
  for (const value of [new Date(), 2 ** 53, Number.NaN, true, 1n, {}])
    t.throws(() => insert(value).compile(), TypeError);
  t.throws(
    () =>
      db
        .selectFrom('things')
        .where('id', 'in', [1, 2 ** 53])
        .compile(),
    TypeError,
  );
  t.strictSame(insert(5).compile().parameters, [5]);
});

t.test('64-bit integers are numbers, where a number holds them', async (t) => {
  const parse = typeParsers.getTypeParser(20, 'text') as (text: string) => unknown;
  t.equal(parse('9007199254740991'), Number.MAX_SAFE_INTEGER);
  t.equal(parse('-5'), -5);
  t.equal(parse('9007199254740993'), '9007199254740993');
  t.equal((typeParsers.getTypeParser(16, 'text') as (text: string) => unknown)('t'), true);
});
