import { randomBytes } from 'node:crypto';
import { Kysely, sql } from 'kysely';
import pg from 'pg';
import t from 'tap';
import { assertBindable, type Connection, sealerOf } from '../../../../src/store/connection.ts';
import { postgresDialect } from '../../../../src/store/postgres/postgres-dialect.ts';
import type { Tables } from '../../../../src/store/schema.ts';
import { createSealer } from '../../../../src/store/sealing.ts';

t.test('a secret never goes into a store that has no key', async (t) => {
  // Never connects: the test only needs the sealer.
  const pool = new pg.Pool({ max: 1 });
  t.teardown(() => pool.end());
  const db = new Kysely<Tables>({ dialect: postgresDialect(pool) });
  const connection: Connection = {
    db,
    run: async () => ({ rows: [] }),
    now: () => sql.val(0),
    settledWrites: () => sql.val(1),
  };
  t.throws(() => sealerOf(connection), /without a key to seal secrets with/);
  const sealer = createSealer([randomBytes(32)], randomBytes);
  t.equal(sealerOf({ ...connection, sealer }), sealer);
});

t.test('text, null and exact integers pass', async (t) => {
  for (const value of ['', 'x', null, 0, -1, Number.MAX_SAFE_INTEGER]) t.equal(assertBindable(value), value);
});

t.test('anything else is refused, and not shown', async (t) => {
  for (const value of [undefined, true, 1n, new Date(0), Number.NaN, 1.5, 2 ** 53, Infinity, {}, new Uint8Array(1)]) {
    t.throws(() => assertBindable(value), { name: 'TypeError', message: /cannot be stored as it is/ });
  }
});
