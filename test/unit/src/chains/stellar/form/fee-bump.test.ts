import { Asset, Operation, type TransactionBuilder, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { parseEnvelope } from '../../../../../../src/chains/stellar/form/envelope.ts';
import { parseFeeBump } from '../../../../../../src/chains/stellar/form/fee-bump.ts';
import {
  bumpText,
  CLIENT,
  envelopeText,
  OTHER,
  payOp,
  transactionIn,
} from '../../../../../support/stellar-envelopes.ts';
import { PASSPHRASE, RELAYER, relayerAccount } from '../../../../../support/stellar-relayer.ts';

const NOW = 1_700_000_000_000;
const good = envelopeText(CLIENT, [payOp('1')]);

function parse(text: string, { maxFee = 400n, policies = {} }: { maxFee?: bigint | null; policies?: object } = {}) {
  const form = { text, envelope: parseEnvelope(text), source: null, validUntil: null, maxFee };
  return parseFeeBump(form, { ...relayerAccount({ ...policies }), identity: PASSPHRASE }, NOW);
}

t.test('the client’s bytes are kept, and anchor it', (t) => {
  t.match(parse(good), {
    request: { inner: good, max_fee: 400 },
    validUntil: 2_000_000_000_000,
    anchorKind: 'text',
    onDeath: 'end',
    contentKey: new RegExp(`^${Buffer.from(transactionIn(good).hash()).toString('hex')} [0-9a-f]{64}$`),
  });
  t.match(parse(envelopeText(CLIENT, [payOp('1')], { maxTime: 0 })), { validUntil: null, onDeath: 'never' });
  t.end();
});

t.test('with other signatures it is another, and the same text is the same', (t) => {
  const { contentKey } = parse(good);
  t.equal(parse(good).contentKey, contentKey);
  t.not(parse(envelopeText(CLIENT, [payOp('1')], { signers: [CLIENT, OTHER] })).contentKey, contentKey);
  t.end();
});

t.test('what it bids where the request does not say', (t) => {
  t.match(parse(good, { maxFee: null }), { request: { max_fee: 1_000_000 } });
  t.match(parse(good, { maxFee: null, policies: { max_fee: 5_000 } }), { request: { max_fee: 5_000 } });
  t.match(parse(good, { maxFee: null, policies: { max_fee: 5_000_000 } }), { request: { max_fee: 1_000_000 } });
  t.end();
});

t.test('what the relayer does not pay for', (t) => {
  const muxed = new xdr.MuxedAccountMed25519({ id: 5n, ed25519: RELAYER.rawPublicKey() });
  const hidden = new xdr.Operation({
    sourceAccount: xdr.MuxedAccount.keyTypeMuxedEd25519(muxed),
    body: payOp('1').body,
  });
  const cases: [string, RegExp][] = [
    [bumpText(good, 400n, OTHER), /cannot be bumped again/],
    [envelopeText(RELAYER, [payOp('1')]), /cannot be the same as inner transaction source/],
    [envelopeText(CLIENT, []), /no operations/],
    [envelopeText(CLIENT, [payOp('1'), payOp('1', RELAYER)]), /operations\.1: it acts on the relayer's own account/],
    [envelopeText(CLIENT, [hidden]), /operations\.0: it acts on/],
    [envelopeText(CLIENT, [payOp('1')], { fee: '201' }), /max_fee \(400\) is insufficient\. .* fee: 402/],
    [envelopeText(CLIENT, [payOp('1')], { passphrase: 'Another' }), /made for another network than 'Isolayer/],
    [envelopeText(CLIENT, [payOp('1')], { maxTime: 1_000 }), /ended at 1000/],
  ];
  for (const [text, message] of cases)
    t.throws(() => parse(text), { code: 'INVALID_REQUEST', message }, message.source);
  t.throws(() => parse(good, { policies: { max_fee: 399 } }), { message: /Max fee exceeded: 399/ });
  const others = envelopeText(CLIENT, [payOp('1', OTHER)], { signers: [OTHER], passphrase: 'Another' });
  t.throws(
    () => parse(others),
    { message: /signature of GAX|made for another network/ },
    'also of an operation’s source',
  );
  t.match(
    parse(envelopeText(CLIENT, [payOp('1')], { signers: [OTHER] })),
    { anchorKind: 'text' },
    'another key may sign',
  );
  t.end();
});

t.test('where users pay, it has one payment to the relayer and bids no more than it must', (t) => {
  const policies = { fee_payment_strategy: 'user' };
  const toRelayer = Operation.payment({ destination: RELAYER.publicKey(), amount: '1', asset: Asset.native() });
  const paid = envelopeText(CLIENT, [payOp('1'), toRelayer]);
  t.match(parse(paid, { maxFee: 1_000_000n, policies }), { request: { max_fee: 300 } });
  t.match(parse(paid, { maxFee: null, policies }), { request: { max_fee: 300 } });
  t.throws(() => parse(good, { policies }), { message: /Exactly one payment to the relayer/ });
  const gap = { with: (builder: TransactionBuilder) => builder.setMinAccountSequenceAge(900n) };
  t.throws(() => parse(envelopeText(CLIENT, [payOp('1'), toRelayer], gap), { policies }), {
    message: /of the preconditions only time bounds are allowed/,
  });
  const merge = Operation.accountMerge({ destination: OTHER.publicKey() });
  t.throws(() => parse(envelopeText(CLIENT, [toRelayer, merge]), { policies }), {
    message: /Failed to validate gasless transaction: operations\.1: AccountMerge is not allowed/,
  });
  t.end();
});
