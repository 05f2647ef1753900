import t from 'tap';
import { replaceAndCancel } from '../../../../../src/store/migrations/replace-and-cancel.ts';
import { sequenceText } from '../../../../../src/store/sequence-text.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('wishes and decisions get their tables', async (t) => {
  const { take } = await beforeStep(t, replaceAndCancel);
  t.strictSame(await take(), ['decisions', 'intents']);
});

t.test('versions that were signed before they kept their content have that of their transaction', async (t) => {
  const { database, read, takeAll } = await beforeStep(t, replaceAndCancel);
  const transaction = database.prepare(
    `insert into transactions (id, relayer_id, network_type, lane, status, created_at, sequence, request, fields, is_canceled)
     values (?, 'r', 'evm', 'l', 'submitted', 100, ?, ?, ?, 0)`,
  );
  const attempt = database.prepare(
    `insert into attempts (transaction_id, ordinal, lane, sequence, raw, hash, created_at) values (?, ?, 'l', ?, '0x', ?, 100)`,
  );
  const [one, two] = [0n, 1n].map(sequenceText);
  transaction.run('a', String(one), '{"value":"0x1"}', '{"price":"7"}');
  transaction.run('b', String(two), '{"value":"0x2"}', '{}');
  attempt.run('a', 1, String(one), '0x1');
  attempt.run('a', 2, String(one), '0x2');
  attempt.run('b', 1, String(two), '0x3');
  await takeAll();

  const entries = await read.openTransactions('l');
  t.strictSame(
    entries.map(({ transaction: { id, voidAs }, attempts }) => [
      id,
      voidAs,
      ...attempts.map(({ purpose, request, fields }) => [purpose, request['value'], fields['price']]),
    ]),
    [
      ['a', null, ['send', '0x1', '7'], ['send', '0x1', '7']],
      ['b', null, ['send', '0x2', undefined]],
    ],
  );
  t.equal((await read.transactionBySequence('r', 1n))?.id, 'b');
  t.strictSame(await read.decisions('a', 10), []);
  t.strictSame(await read.wishes('a', 10), []);
});
