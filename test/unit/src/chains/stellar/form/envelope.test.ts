import { Operation, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import {
  assertEnvelopeSound,
  earliestExpiry,
  parseEnvelope,
  parseUnsignedEnvelope,
  xdrFault,
} from '../../../../../../src/chains/stellar/form/envelope.ts';
import {
  bumpText,
  CLIENT,
  type EnvelopeHow,
  envelopeText,
  OTHER,
  payOp,
} from '../../../../../support/stellar-envelopes.ts';
import { RELAYER, relayerAccount } from '../../../../../support/stellar-relayer.ts';

t.test('xdr', async (t) => {
  const form = (over = {}, maxTime = 2_000) => {
    const text = envelopeText(CLIENT, [payOp('1')], { maxTime });
    return { text, envelope: parseEnvelope(text), source: null, validUntil: null, ...over };
  };

  /** A transaction whose time bound is beyond every possible date. */
  function endless() {
    const { transaction, ...rest } = form().envelope;
    const { sourceAccount, fee, seqNum, memo, operations, ext } = transaction;
    const cond = xdr.Preconditions.precondTime(new xdr.TimeBounds({ minTime: 0n, maxTime: 2n ** 63n }));
    return { ...rest, transaction: new xdr.Transaction({ sourceAccount, fee, seqNum, cond, memo, operations, ext }) };
  }

  t.test('what cannot be read is the client’s to mend', (t) => {
    t.throws(() => parseEnvelope('AAAA'), {
      code: 'INVALID_REQUEST',
      message: /Invalid XDR: invalid `transaction_xdr`/,
    });
    t.match(xdrFault('why'), { code: 'INVALID_REQUEST', message: 'Transaction validation error: why' });
    t.end();
  });

  t.test('what no envelope may be', (t) => {
    const empty = parseEnvelope(envelopeText(CLIENT, []));
    t.throws(() => assertEnvelopeSound(form({ envelope: empty }), RELAYER.publicKey()), { message: /no operations/ });
    for (const source of [null, RELAYER.publicKey(), CLIENT.publicKey()]) {
      t.doesNotThrow(() => assertEnvelopeSound(form({ source }), RELAYER.publicKey()));
    }
    const source = OTHER.publicKey();
    t.throws(() => assertEnvelopeSound(form({ source }), RELAYER.publicKey()), {
      message: /is not that of transaction_xdr/,
    });
    t.end();
  });

  t.test('the earlier of its ends counts', (t) => {
    t.equal(earliestExpiry(form(), 1_000), 2_000_000);
    t.equal(earliestExpiry(form({ validUntil: 5_000 }), 1_000), 5_000);
    t.equal(earliestExpiry(form({ validUntil: 9_000_000 }), 1_000), 2_000_000);
    t.equal(earliestExpiry(form({ validUntil: 9_000 }, 0), 1_000), 9_000);
    t.equal(earliestExpiry(form({}, 0), 1_000), null);
    t.equal(earliestExpiry(form({ envelope: endless() }), 1_000), null, 'no date is that late');
    t.throws(() => earliestExpiry(form(), 2_000_000), { message: /time bounds of transaction_xdr ended at 2000/ });
    t.end();
  });
});

t.test('unsigned', async (t) => {
  const NOW = 1_700_000_000_000;

  function parse(text: string, policies = {}) {
    const form = { text, envelope: parseEnvelope(text), source: null, validUntil: null };
    return parseUnsignedEnvelope(form, relayerAccount(policies), NOW);
  }
  const own = (operations: xdr.Operation[], how: EnvelopeHow = {}) =>
    envelopeText(RELAYER, operations, { signers: [], ...how });

  t.test('its own envelope is kept as it is', (t) => {
    const text = own([payOp('1')]);
    t.strictSame(parse(text), {
      request: { transaction: text },
      validUntil: 2_000_000_000_000,
      anchorKind: 'sequence',
      onDeath: 'renew',
      contentKey: null,
    });
    t.end();
  });

  t.test('what the relayer cannot send is refused with its place', (t) => {
    const merge = Operation.accountMerge({ destination: OTHER.publicKey() });
    const foreignMerge = Operation.accountMerge({ destination: OTHER.publicKey(), source: CLIENT.publicKey() });
    const asks = (change: EnvelopeHow['with']) => own([payOp('1')], change === undefined ? {} : { with: change });
    const cases: [string, RegExp][] = [
      [envelopeText(CLIENT, [payOp('1')], { signers: [] }), /does not match relayer account/],
      [asks((builder) => builder.setMinAccountSequence('5')), /sets the sequence/],
      [asks((builder) => builder.setMinAccountSequenceAge(5n)), /sets the sequence/],
      [asks((builder) => builder.setMinAccountSequenceLedgerGap(5)), /sets the sequence/],
      [asks((builder) => builder.setExtraSigners([OTHER.publicKey()])), /not require extra signers/],
      [own([payOp('1'), merge]), /operations\.1: the relayer's account cannot be merged/],
      [bumpText(own([payOp('1')]), 400n), /give the transaction in it/],
    ];
    for (const [text, message] of cases) t.throws(() => parse(text), { code: 'INVALID_REQUEST', message });
    t.match(parse(own([foreignMerge])), { anchorKind: 'sequence' }, 'another account’s end is not its own');
    t.match(parse(asks((builder) => builder.setLedgerbounds(1, 5))), { anchorKind: 'sequence' });
    t.end();
  });

  t.test('policies have the first word', (t) => {
    const text = own([payOp('1')], { fee: '300' });
    t.throws(() => parse(text, { fee_payment_strategy: 'user' }), { message: /via unsigned_xdr path/ });
    t.throws(() => parse(text, { max_fee: 299 }), { message: /Max fee exceeded: 299/ });
    t.match(parse(text, { max_fee: 300 }), { anchorKind: 'sequence' });
    t.end();
  });
});
