import t from 'tap';
import { nameEffects } from '../../../../../src/store/migrations/name-effects.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('what is kept gets its table', async (t) => {
  const { take } = await beforeStep(t, nameEffects);
  t.strictSame(await take(), ['kept_bytes']);
});

t.test('effects that were noted by their place are found by what they are, and pin what they made', async (t) => {
  const { database, read, takeAll } = await beforeStep(t, nameEffects);
  const insertTransaction = database.prepare(
    `insert into transactions (id, relayer_id, network_type, lane, status, created_at, request, fields, is_canceled, ended_at)
     values (?, 'r', 'evm', 'l', 'failed', 100, '{}', '{}', 0, 100)`,
  );
  for (const id of ['named', 'unnamed']) insertTransaction.run(id);
  database
    .prepare(
      `insert into idempotency_keys (id, scope, key, fingerprint, state, owner, token, expires_at, has_effects, created_at)
       values ('c', 's', 'k', 'f', 'running', 'o', 1, 0, 1, 0)`,
    )
    .run();
  const insertEffect = database.prepare(
    'insert into effects (claim_id, ordinal, payload_hash, transaction_id, outcome) values (?, ?, ?, ?, ?)',
  );
  // The second and the third were refused, and left no note.
  insertEffect.run('c', 0, 'a', 'named', 'null');
  insertEffect.run('c', 3, 'b', null, '1');
  insertEffect.run('c', 4, 'a', null, null);
  await takeAll();
  const claim = { id: 'c', token: 1 };
  const effect = (payloadHash: string, occurrence: number) =>
    read.effect({ claim, payloadHash, occurrence, isStep: true });
  t.strictSame(
    [await effect('a', 0), await effect('b', 0), await effect('a', 1), await effect('b', 1)],
    [
      { transactionId: 'named', outcome: null },
      { transactionId: null, outcome: 1 },
      { transactionId: null },
      undefined,
    ],
  );
  const pinned = database.prepare('select id, pins from transactions order by id').all();
  t.same(pinned, [
    { id: 'named', pins: 1 },
    { id: 'unnamed', pins: 0 },
  ]);
});
