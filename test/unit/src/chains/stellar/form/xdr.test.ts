import { xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { assertSound, earlierEnd, enveloped, inXdr } from '../../../../../../src/chains/stellar/form/xdr.ts';
import { CLIENT, envelopeText, OTHER, payOp } from '../../../../../support/stellar-envelopes.ts';
import { RELAYER } from '../../../../../support/stellar-relayer.ts';

const form = (over = {}, maxTime = 2_000) => {
  const text = envelopeText(CLIENT, [payOp('1')], { maxTime });
  return { text, envelope: enveloped(text), source: null, validUntil: null, ...over };
};

/** A transaction whose time bound is beyond every possible date. */
function endless() {
  const { transaction, ...rest } = form().envelope;
  const { sourceAccount, fee, seqNum, memo, operations, ext } = transaction;
  const cond = xdr.Preconditions.precondTime(new xdr.TimeBounds({ minTime: 0n, maxTime: 2n ** 63n }));
  return { ...rest, transaction: new xdr.Transaction({ sourceAccount, fee, seqNum, cond, memo, operations, ext }) };
}

t.test('what cannot be read is the client’s to mend', (t) => {
  t.throws(() => enveloped('AAAA'), { code: 'INVALID_REQUEST', message: /Invalid XDR: invalid `transaction_xdr`/ });
  t.match(inXdr('why'), { code: 'INVALID_REQUEST', message: 'Transaction validation error: why' });
  t.end();
});

t.test('what no envelope may be', (t) => {
  const empty = enveloped(envelopeText(CLIENT, []));
  t.throws(() => assertSound(form({ envelope: empty }), RELAYER.publicKey()), { message: /no operations/ });
  for (const source of [null, RELAYER.publicKey(), CLIENT.publicKey()]) {
    t.doesNotThrow(() => assertSound(form({ source }), RELAYER.publicKey()));
  }
  const source = OTHER.publicKey();
  t.throws(() => assertSound(form({ source }), RELAYER.publicKey()), { message: /is not that of transaction_xdr/ });
  t.end();
});

t.test('the earlier of its ends counts', (t) => {
  t.equal(earlierEnd(form(), 1_000), 2_000_000);
  t.equal(earlierEnd(form({ validUntil: 5_000 }), 1_000), 5_000);
  t.equal(earlierEnd(form({ validUntil: 9_000_000 }), 1_000), 2_000_000);
  t.equal(earlierEnd(form({ validUntil: 9_000 }, 0), 1_000), 9_000);
  t.equal(earlierEnd(form({}, 0), 1_000), null);
  t.equal(earlierEnd(form({ envelope: endless() }), 1_000), null, 'no date is that late');
  t.throws(() => earlierEnd(form(), 2_000_000), { message: /time bounds of transaction_xdr ended at 2000/ });
  t.end();
});
