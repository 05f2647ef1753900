import t from 'tap';
import {
  attemptView,
  hasFailedInBlock,
  inclusionText,
  inclusionView,
  swapEvent,
  transactionView,
} from '../../../../../src/chains/solana/view.ts';
import { fieldsOf, memo, onWire, storedAttempt, storedSolana } from '../../../../support/solana-relayer.ts';

const [instructions, transaction] = [[onWire(memo('hello'))], 'AQAB'];

t.test('before it is built, a transaction shows what was asked and nothing of what is not known', async (t) => {
  const { id } = storedSolana();
  const pending = { id, status: 'pending', created_at: '2023-11-14T22:13:20.000+00:00' };
  const composed = transactionView(storedSolana({ status: 'pending', request: { instructions } }));
  t.strictSame(composed, { ...pending, transaction: '', instructions });
  const given = transactionView(storedSolana({ status: 'pending', request: { transaction } }));
  t.strictSame(given, { ...pending, transaction });
});

t.test('afterwards it shows its bytes, its name and what became of it, in the order that clients know', async (t) => {
  const view = transactionView(
    storedSolana({
      status: 'failed',
      statusReason: 'why',
      hash: 'sig',
      sentAt: 0,
      confirmedAt: 1,
      request: { instructions, errors: [{ code: 6_000, name: 'Mine' }] },
      fields: fieldsOf({ transaction }),
    }),
  );
  t.strictSame(Object.entries(view), [
    ['id', storedSolana().id],
    ['status', 'failed'],
    ['created_at', '2023-11-14T22:13:20.000+00:00'],
    ['transaction', transaction],
    ['signature', 'sig'],
    ['status_reason', 'why'],
    ['sent_at', '1970-01-01T00:00:00.000+00:00'],
    ['confirmed_at', '1970-01-01T00:00:00.001+00:00'],
    ['instructions', instructions],
  ]);
});

t.test('an attempt shows how long it lives', async (t) => {
  const shown = (over = {}) => attemptView(storedAttempt('sig', { fields: fieldsOf(over) }));
  t.strictSame(shown(), { last_valid_block_height: 900n, nonce_account: null, fee: 5_000n });
  t.strictSame(shown({ last_valid_block_height: null, nonce_account: 'N' }), {
    last_valid_block_height: null,
    nonce_account: 'N',
    fee: 5_000n,
  });
  t.strictSame(attemptView(storedAttempt('sig', { fields: {} })), {});
});

t.test('what is in a block is shown with what it did there; what a fork took back is not', async (t) => {
  const receipt = { slot: 77, succeeded: false, fee: '18446744073709551615', logs: ['Program log: no'], reason: 'no' };
  const mined = storedSolana({ status: 'mined', fields: fieldsOf({ receipt }) });
  t.strictSame(inclusionView(mined), { slot: 77n, succeeded: false, fee: 2n ** 64n - 1n, logs: receipt.logs });
  t.equal(inclusionText(mined), 'the block of slot 77');
  t.ok(hasFailedInBlock(mined));
  const succeeded = storedSolana({ status: 'confirmed', fields: fieldsOf({ receipt: { slot: 77, succeeded: true } }) });
  t.strictSame(inclusionView(succeeded), { slot: 77n, succeeded: true });
  t.notOk(hasFailedInBlock(succeeded));
  for (const nowhere of [storedSolana({ ...mined, status: 'submitted' }), storedSolana({ status: 'mined' })]) {
    t.equal(inclusionView(nowhere), null);
    t.equal(inclusionText(nowhere), undefined);
    t.notOk(hasFailedInBlock(nowhere));
  }
});

t.test('result', async (t) => {
  const request = { swap: { mint: 'M' } };
  const fields = fieldsOf({ swap: { mint: 'M', given: '18446744073709551615', promised: 7, least: 6 } });
  const told = (over: Parameters<typeof storedSolana>[0]) =>
    swapEvent(storedSolana({ request, fields, hash: 'h', ...over }));
  const eventOf = (result: object) => ({
    event: 'solana_dex',
    payload: { payload_type: 'solana_dex', swap_results: [{ mint: 'M', ...result }] },
  });

  t.test('what came of a swap has the reference’s form', async (t) => {
    const given = { source_amount: 2n ** 64n - 1n, transaction_signature: 'h' };
    t.strictSame(told({ status: 'confirmed' }), eventOf({ ...given, destination_amount: 7n, error: null }));
    t.match(
      told({ status: 'failed', statusReason: 'why' }),
      eventOf({ ...given, destination_amount: 0n, error: 'why' }),
    );
    const never = { source_amount: 0n, destination_amount: 0n, transaction_signature: '', error: 'expired' };
    t.match(told({ status: 'expired', fields: {}, hash: null }), eventOf(never));
  });

  t.test('a transaction that is no swap tells nothing of one', async (t) => {
    t.equal(swapEvent(storedSolana({ status: 'confirmed' })), undefined);
  });
});
