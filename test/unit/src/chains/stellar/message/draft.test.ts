import { Asset, Memo, Operation } from '@stellar/stellar-sdk';
import t from 'tap';
import { draftTransaction, memoOf, operationOf } from '../../../../../../src/chains/stellar/message/draft.ts';
import { accountOfMuxed } from '../../../../../../src/chains/stellar/message/transaction-envelope.ts';
import { envelopeText, payOp } from '../../../../../support/stellar-envelopes.ts';
import { lumens, RELAYER } from '../../../../../support/stellar-relayer.ts';

const ADDRESS = RELAYER.publicKey();

t.test('operations have neither bounds nor a bid of their own', (t) => {
  const asked = { operations: [{ ...lumens(5), type: 'payment' as const, asset: { type: 'native' as const } }] };
  const draft = draftTransaction(asked, ADDRESS);
  t.match(draft, { minTime: 0n, maxTime: null, ledgers: null, bid: 0n, memo: { type: 'memoNone' } });
  t.equal(draft.operations.length, 1);
  t.equal(accountOfMuxed(draft.source), ADDRESS);
  t.end();
});

t.test('an envelope keeps what it says, but for sequence and end', (t) => {
  const transaction = envelopeText(RELAYER, [payOp('1'), payOp('2')], {
    fee: '300',
    maxTime: 0,
    with: (builder) => builder.setLedgerbounds(1, 9),
  });
  t.match(draftTransaction({ transaction }, ADDRESS), {
    minTime: 0n,
    maxTime: null,
    bid: 600n,
    ledgers: { minLedger: 1, maxLedger: 9 },
    operations: { length: 2 },
  });
  t.equal(draftTransaction({ transaction: envelopeText(RELAYER, [payOp('1')], { maxTime: 9 }) }, ADDRESS).maxTime, 9n);
  t.end();
});

t.test('operation', async (t) => {
  const ACCOUNT = 'GDLVVGABQKYQVN6VJP7NHSLEA45A5YLS6PNKMIZFV4BBU2HXA5IRVHUR';

  t.test('a payment is that of the public library', async (t) => {
    const ours = (asset: Parameters<typeof operationOf>[0] & { type: 'payment' }) => operationOf(asset).toXdr('base64');
    const payment = { type: 'payment', destination: ACCOUNT, amount: 12_345_678 } as const;
    const theirs = (asset: Asset) =>
      Operation.payment({ destination: ACCOUNT, asset, amount: '1.2345678' }).toXdr('base64');
    t.equal(ours({ ...payment, asset: { type: 'native' } }), theirs(Asset.native()));
    const usd = { type: 'credit4', code: 'USD', issuer: ACCOUNT } as const;
    t.equal(ours({ ...payment, asset: usd }), theirs(new Asset('USD', ACCOUNT)));
    const dollar = { type: 'credit12', code: 'DOLLAR', issuer: ACCOUNT } as const;
    t.equal(ours({ ...payment, asset: dollar }), theirs(new Asset('DOLLAR', ACCOUNT)));
  });

  t.test('memos are those of the public library', async (t) => {
    const hash = 'ab'.repeat(32);
    const pairs = [
      [undefined, Memo.none()],
      [{ type: 'none' }, Memo.none()],
      [{ type: 'text', value: 'hello' }, Memo.text('hello')],
      [{ type: 'id', value: '18446744073709551615' }, Memo.id('18446744073709551615')],
      [{ type: 'hash', value: hash }, Memo.hash(hash)],
      [{ type: 'return', value: hash }, Memo.return(hash)],
    ] as const;
    for (const [ours, theirs] of pairs) t.equal(memoOf(ours).toXdr('base64'), theirs.toXdrObject().toXdr('base64'));
  });
});
