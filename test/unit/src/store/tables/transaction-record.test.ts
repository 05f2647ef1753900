import t from 'tap';
import type { TransactionChange } from '../../../../../src/domain/transaction/transaction.ts';
import {
  changedColumns,
  transactionOfRow,
  transactionRow,
} from '../../../../../src/store/tables/transaction-record.ts';
import { transactionOf } from '../../../../support/store.ts';

t.test('a transaction comes back from its row', async (t) => {
  const transaction = transactionOf({
    sequence: 2n ** 64n - 1n,
    noopEnd: 'canceled',
    anchorKind: 'text',
    onDeath: 'renew',
    contentKey: 'of a client',
    parentId: 'another',
    fields: { big: `${2n ** 256n}` },
  });
  t.strictSame(transactionOfRow({ ...transactionRow(transaction), accepted: 1 } as never), transaction);
});

t.test('a row of unknown shape is refused', async (t) => {
  const row = { ...transactionRow(transactionOf({ id: 'x' })), accepted: 1, status: 'lost' } as never;
  t.throws(() => transactionOfRow(row), { name: 'UnreadableRecord', message: /^Record x of table transactions/ });
});

t.test('a change names its columns only, and a final status clears the next action', async (t) => {
  const changed = (change: TransactionChange) => {
    const { revision, ...columns } = changedColumns(change);
    t.not(changedColumns(change).revision, revision, 'two writes are never taken for one');
    return columns;
  };
  t.strictSame(changed({}), {});
  t.strictSame(changed({ sequence: 7n, noopEnd: 'canceled', statusReason: null }), {
    sequence: '00000000000000000007',
    noop_end: 'canceled',
    status_reason: null,
  });
  t.strictSame(changed({ noopEnd: 'expired' }), { noop_end: 'expired' });
  t.strictSame(changed({ status: 'sent', nextActionAt: 5 }), { status: 'sent', next_action_at: 5 });
  t.strictSame(changed({ status: 'failed', nextActionAt: 5 }), { status: 'failed', next_action_at: null });
});
