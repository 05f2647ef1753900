import t from 'tap';
import {
  attemptView,
  hasFailedInBlock,
  inclusionText,
  inclusionView,
  transactionView,
} from '../../../../../src/chains/stellar/view.ts';
import { fieldsOf, RELAYER, storedAttempt, storedStellar } from '../../../../support/stellar-relayer.ts';

t.test('a transaction before it is signed, on its way and in its ledger', (t) => {
  const pending = storedStellar({ status: 'pending', sequence: null });
  t.strictSame(transactionView(pending), {
    id: pending.id,
    hash: null,
    status: 'pending',
    status_reason: null,
    created_at: '2023-11-14T22:13:20.000+00:00',
    sent_at: null,
    confirmed_at: null,
    source_account: RELAYER.publicKey(),
    fee: 0n,
    sequence_number: '0',
    relayer_id: 'relayer',
  });
  const fields = fieldsOf({ sequence: '9007199254740993' });
  t.match(transactionView(storedStellar({ hash: 'a', fields })), {
    hash: 'a',
    fee: 100n,
    sequence_number: '9007199254740993',
  });
  t.equal(inclusionView(storedStellar({ fields })), null);
  const receipt = { ledger: 55, succeeded: false, fee: 300, reason: 'why' };
  const failed = storedStellar({ status: 'failed', fields: { ...fields, receipt } });
  t.match(transactionView(failed), { fee: 300n });
  t.strictSame(inclusionView(failed), { ledger: 55n, succeeded: false, fee: 300n });
  t.equal(inclusionText(failed), 'ledger 55');
  const elsewhere = { ...receipt, fee: 0, hash: 'within' };
  const landed = storedStellar({ status: 'confirmed', hash: 'a', fields: { ...fields, receipt: elsewhere } });
  t.match(transactionView(landed), { hash: 'within', fee: 0n }, 'as the client itself has sent it');
  t.ok(hasFailedInBlock(failed));
  t.end();
});

t.test('what a contract gave back is shown where it is there', (t) => {
  const receipt = { ledger: 55, succeeded: true, returned: 'AAAAAQ==' };
  const told = storedStellar({ status: 'confirmed', fields: { ...fieldsOf(), receipt } });
  t.match(transactionView(told), { transaction_result_xdr: 'AAAAAQ==' });
  t.notOk('transaction_result_xdr' in transactionView(storedStellar({ fields: fieldsOf() })));
  t.end();
});

t.test('what was taken back from a ledger is in none', (t) => {
  const receipt = { ledger: 55, succeeded: false };
  const again = storedStellar({ status: 'submitted', fields: { ...fieldsOf(), receipt } });
  t.equal(inclusionView(again), null);
  t.equal(inclusionText(again), undefined);
  t.notOk(hasFailedInBlock(again));
  t.end();
});

t.test('an attempt by what it consumes and bids', (t) => {
  t.strictSame(attemptView(storedAttempt('a')), { sequence_number: '8', max_time: 1_000n, fee: 100n });
  t.strictSame(attemptView(storedAttempt('a', { fields: {} })), {});
  t.end();
});
