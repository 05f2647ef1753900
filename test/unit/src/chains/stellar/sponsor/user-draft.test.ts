import { Operation } from '@stellar/stellar-sdk';
import t from 'tap';
import { encodeEnvelope } from '../../../../../../src/chains/stellar/message/transaction.ts';
import { accountOfMuxed, readEnvelope } from '../../../../../../src/chains/stellar/message/transaction-envelope.ts';
import { sponsoredSchema, userDraft, withPayment } from '../../../../../../src/chains/stellar/sponsor/user-draft.ts';
import {
  bumpText,
  CLIENT,
  envelopeText,
  OTHER,
  payOp,
  transactionIn,
} from '../../../../../support/stellar-envelopes.ts';
import { knowing } from '../../../../../support/stellar-ledger.ts';
import { lumens, RELAYER } from '../../../../../support/stellar-relayer.ts';

const ask = (form: object, accounts: [typeof CLIENT, bigint][] = [[CLIENT, 5n]]) =>
  userDraft(knowing({ accounts }), sponsoredSchema.parse({ fee_token: 'native', ...form }), RELAYER.publicKey());
const by = (text: string) => ask({ transaction_xdr: text });
const operations = [lumens(5, OTHER.publicKey())];

t.test('an envelope keeps its sequence, and operations get the next', async (t) => {
  t.match(await by(envelopeText(CLIENT, [payOp('1')], { signers: [] })), {
    user: CLIENT.publicKey(),
    transaction: { seqNum: 8n },
  });
  const { transaction: made } = await ask({ operations, source_account: CLIENT.publicKey() });
  t.match(
    { seqNum: made.seqNum, source: accountOfMuxed(made.sourceAccount) },
    { seqNum: 8n, source: CLIENT.publicKey() },
  );
});

t.test('what the relayer pays for nobody', async (t) => {
  const cases: [Promise<unknown>, RegExp][] = [
    [ask({}), /^Must provide either/],
    [ask({ operations: [] }), /^Must provide either/],
    [ask({ operations, transaction_xdr: envelopeText(CLIENT, [payOp('1')]) }), /^Cannot provide both/],
    [ask({ operations }), /^source_account is required/],
    [ask({ operations, source_account: 'G' }), /expected an account/],
    [ask({ operations, source_account: OTHER.publicKey() }), /source account does not exist/],
    [by(bumpText(envelopeText(CLIENT, [payOp('1')]), 400n)), /it is a fee bump/],
    [
      by(envelopeText(CLIENT, [payOp('1')], { with: (one) => one.setLedgerbounds(1, 5) })),
      /only time bounds are allowed/,
    ],
    [by(envelopeText(CLIENT, [])), /no operations/],
    [by(envelopeText(CLIENT, [Operation.accountMerge({ destination: OTHER.publicKey() })])), /AccountMerge/],
    [by(envelopeText(RELAYER, [payOp('1')])), /relayer's own/],
  ];
  for (const [asked, message] of cases) await t.rejects(asked, { code: 'INVALID_REQUEST', message });
});

t.test('the payment comes last, and the bounds are what was quoted', (t) => {
  const { transaction } = readEnvelope(envelopeText(CLIENT, [payOp('1')]));
  const built = withPayment(transaction, payOp('2'), { fee: 200n, maxTime: 1_020n });
  t.match(transactionIn(encodeEnvelope(built, [])), {
    fee: '200',
    sequence: '8',
    timeBounds: { minTime: '0', maxTime: '1020' },
    operations: [{ amount: '1.0000000' }, { amount: '2.0000000' }],
  });
  t.end();
});

t.test('an envelope or operations, and a token', (t) => {
  const accepts = (body: object) => sponsoredSchema.safeParse(body).success;
  t.ok(accepts({ fee_token: 'native', transaction_xdr: 'AAAA' }));
  t.ok(accepts({ fee_token: 'native', operations: [lumens(5)], source_account: 'G' }));
  t.notOk(accepts({ transaction_xdr: 'AAAA' }));
  t.notOk(accepts({ fee_token: 'native', transaction: 'AAAA' }), 'as Solana has it');
  t.end();
});
