import t from 'tap';
import { TransactionViews } from '../../../../src/services/transaction-views.ts';
import { pendingTransaction } from '../../../support/engine-world.ts';
import { FakeFamily } from '../../../support/fake-chain-client.ts';

const chain = new FakeFamily();
const account = { address: '0xaa', policies: {} };

t.test('the same record of the same account has one view, which nobody can change', async (t) => {
  const views = new TransactionViews();
  const transaction = pendingTransaction('pay');
  const view = views.of(chain, transaction, account);
  t.strictSame(view, chain.transactionView(transaction));
  t.equal(views.of(chain, transaction, { ...account }), view);
  t.ok(Object.isFrozen(view));
});

t.test('another record, another address and other policies have a view of their own', async (t) => {
  const views = new TransactionViews();
  const transaction = pendingTransaction('pay');
  const view = views.of(chain, transaction, account);
  t.not(views.of(chain, { ...transaction, status: 'sent' }, account), view);
  t.not(views.of(chain, transaction, { ...account, address: '0xbb' }), view);
  t.not(views.of(chain, transaction, { ...account, policies: {} }), view);
});
