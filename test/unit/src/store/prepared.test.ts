import { DatabaseSync } from 'node:sqlite';
import { type CompiledQuery, Kysely } from 'kysely';
import t, { type Test } from 'tap';
import { preparedListQuery, preparedQuery, rememberedRead } from '../../../../src/store/prepared.ts';
import { SqliteStatements, sqliteDialect } from '../../../../src/store/sqlite/sqlite-dialect.ts';

interface Things {
  things: { id: number; name: string };
}

function open(t: Test) {
  const database = new DatabaseSync(':memory:');
  t.teardown(() => database.close());
  database.exec("create table things (id integer primary key, name text) strict; insert into things values (1, 'a')");
  database.exec("insert into things values (2, 'b'), (3, 'a')");
  const statements = new SqliteStatements(database);
  const asked: CompiledQuery[] = [];
  const connection = {
    async run<Row>(query: CompiledQuery<Row>) {
      asked.push(query);
      return statements.run<Row>(query);
    },
  };
  return { db: new Kysely<Things>({ dialect: sqliteDialect(database) }), connection, asked };
}

t.test('is built once, when it is first made, and answers each time for what it is given', async (t) => {
  const { db, connection, asked } = open(t);
  let built = 0;
  const named = preparedQuery(connection, (name: string, after: number, limit: number) => {
    built += 1;
    return db
      .selectFrom('things')
      .select('id')
      .where('id', '>', after)
      .where('name', '=', name)
      .orderBy('id')
      .limit(limit);
  });
  t.equal(built, 0);
  t.same(await named('a', 0, 5), [{ id: 1 }, { id: 3 }]);
  t.same(await named('a', 1, 5), [{ id: 3 }]);
  t.same(await named('b', 0, 5), [{ id: 2 }]);
  t.same(await named('a', 0, 1), [{ id: 1 }]);
  t.same(await Promise.all([named('a', 2, 9), named('b', 2, 9)]), [[{ id: 3 }], []]);
  t.equal(built, 1);
  t.equal(new Set(asked.map(({ sql }) => sql)).size, 1);
});

t.test('keeps the constants of its query, and may take an argument twice or none', async (t) => {
  const { db, connection } = open(t);
  const things = () => db.selectFrom('things').select('id').where('name', '=', 'a').orderBy('id');
  const either = preparedQuery(connection, (id: number) =>
    things().where((on) => on.or([on('id', '=', id), on('id', '<', id)])),
  );
  t.same(await either(1), [{ id: 1 }]);
  t.same(await either(3), [{ id: 1 }, { id: 3 }]);
  t.same(await preparedQuery(connection, things)(), [{ id: 1 }, { id: 3 }]);
});

t.test('a list of any length is answered, by few queries', async (t) => {
  const { db, connection, asked } = open(t);
  const named = preparedListQuery(connection, (names) =>
    db.selectFrom('things').select('id').where('name', 'in', names).orderBy('id'),
  );
  t.same(await named([]), []);
  t.equal(asked.length, 0);
  t.same(await named(['b']), [{ id: 2 }]);
  t.same(await named(['a', 'c', 'd']), [{ id: 1 }, { id: 3 }]);
  t.same(await named(['b', 'c', 'd', 'a']), [{ id: 1 }, { id: 2 }, { id: 3 }]);
  t.equal(new Set(asked.map(({ sql }) => sql)).size, 2, 'lists of three and four share a query');
  const names = Array.from({ length: 1_500 }, (_, number) => `x${number}`);
  t.same(await named(['b', ...names, 'a']), [{ id: 2 }, { id: 1 }, { id: 3 }], 'two queries, in the order of the list');
});

t.test('a query that leaves a parameter out is refused', async (t) => {
  const { db, connection } = open(t);
  const deaf = preparedQuery(connection, (_name: string) => db.selectFrom('things').select('id'));
  await t.rejects(deaf('a'), /Parameter 0 of a prepared query is none of its values/);
});

t.test('a value that would be stored as another is refused', async (t) => {
  const { db, connection } = open(t);
  const byId = preparedQuery(connection, (id: number) => db.selectFrom('things').select('id').where('id', '=', id));
  await t.rejects(byId(2 ** 60), TypeError);
  await t.rejects(byId(Number.NaN), TypeError);
});

t.test('what was read is remembered until the next write', async (t) => {
  let version = 0;
  let stored = 'before';
  const asked: string[] = [];
  let pause = Promise.resolve();
  const read = async (id: string, at?: number) => {
    asked.push(`${id} ${at}`);
    const found = [stored];
    await pause;
    return found;
  };
  const remembered = rememberedRead({ version: () => version }, read, (rows) => rows.length);

  t.test('for each set of arguments', async (t) => {
    const first = await remembered('a', 1);
    t.equal(await remembered('a', 1), first);
    await remembered('a');
    await remembered('a\0', 1);
    t.same(asked.splice(0), ['a 1', 'a undefined', 'a\0 1']);
  });

  t.test('a write ends it', async (t) => {
    [stored, version] = ['after', 1];
    t.same(await remembered('a', 1), ['after']);
  });

  t.test('a read that a write overtook is not remembered', async (t) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    pause = promise;
    const overtaken = remembered('b');
    [stored, version] = ['later', 2];
    resolve();
    t.same(await overtaken, ['after']);
    t.same(await remembered('b'), ['later']);
  });

  t.test('not without a limit', async (t) => {
    const many = rememberedRead({ version: () => 0 }, read, () => 400);
    asked.length = 0;
    for (const id of ['a', 'b', 'c', 'a', 'd', 'd']) await many(id);
    t.same(asked, ['a undefined', 'b undefined', 'c undefined', 'a undefined', 'd undefined'], 'the fourth began anew');
  });

  t.test('not where others write too', async (t) => {
    asked.length = 0;
    const forgetful = rememberedRead({}, read, (rows) => rows.length);
    await forgetful('a');
    await forgetful('a');
    t.equal(asked.length, 2);
  });
});
