import t from 'tap';
import { feeBidFor, minFeeBumpFee } from '../../../../../src/chains/stellar/fees.ts';
import { readEnvelope } from '../../../../../src/chains/stellar/message/transaction-envelope.ts';
import { CLIENT, envelopeText, payOp } from '../../../../support/stellar-envelopes.ts';

t.test('what is bid follows what others pay, from the base fee up to the cap', (t) => {
  t.equal(feeBidFor(1, 100n, 1_000n), 100n);
  t.equal(feeBidFor(3, 0n, 1_000n), 300n, 'no less than the network asks');
  t.equal(feeBidFor(3, 250n, 1_000n), 750n);
  t.equal(feeBidFor(3, 2n ** 62n, 1_000n), 1_000n, 'whatever a node tells');
  t.end();
});

t.test('a fee bump bids no less for an operation than what it is around (CAP-15)', (t) => {
  const required = (fee: string, operations: number, how = {}) => {
    const given = Array.from({ length: operations }, () => payOp('1'));
    return minFeeBumpFee(readEnvelope(envelopeText(CLIENT, given, { fee, ...how })).transaction);
  };
  t.equal(required('100', 1), 200n);
  t.equal(required('100', 3), 400n);
  t.equal(required('1', 1), 200n, 'no less than the network asks');
  t.equal(required('101', 3), 404n);
  // The builder adds up the fee per operation. The contract's resource fee comes on top.
  t.equal(required('100', 1, { resourceFee: 5_000n }), 5_200n);
  t.end();
});
