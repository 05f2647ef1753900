import t from 'tap';
import { draftOf } from '../../../../../../src/chains/stellar/message/draft.ts';
import { accountOf } from '../../../../../../src/chains/stellar/message/transaction-envelope.ts';
import { envelopeText, payOp } from '../../../../../support/stellar-envelopes.ts';
import { lumens, RELAYER } from '../../../../../support/stellar-relayer.ts';

const ADDRESS = RELAYER.publicKey();

t.test('operations have neither bounds nor a bid of their own', (t) => {
  const asked = { operations: [{ ...lumens(5), type: 'payment' as const, asset: { type: 'native' as const } }] };
  const draft = draftOf(asked, ADDRESS);
  t.match(draft, { minTime: 0n, maxTime: null, ledgers: null, bid: 0n, memo: { type: 'memoNone' } });
  t.equal(draft.operations.length, 1);
  t.equal(accountOf(draft.source), ADDRESS);
  t.end();
});

t.test('an envelope keeps what it says, but for sequence and end', (t) => {
  const transaction = envelopeText(RELAYER, [payOp('1'), payOp('2')], {
    fee: '300',
    maxTime: 0,
    with: (builder) => builder.setLedgerbounds(1, 9),
  });
  t.match(draftOf({ transaction }, ADDRESS), {
    minTime: 0n,
    maxTime: null,
    bid: 600n,
    ledgers: { minLedger: 1, maxLedger: 9 },
    operations: { length: 2 },
  });
  t.equal(draftOf({ transaction: envelopeText(RELAYER, [payOp('1')], { maxTime: 9 }) }, ADDRESS).maxTime, 9n);
  t.end();
});
