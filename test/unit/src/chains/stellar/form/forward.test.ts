import t from 'tap';
import { parseForward } from '../../../../../../src/chains/stellar/form/forward.ts';
import { enveloped } from '../../../../../../src/chains/stellar/form/xdr.ts';
import { CLIENT, envelopeText, payOp } from '../../../../../support/stellar-envelopes.ts';
import { consentBy, forwardText, forwardTo, rootOf } from '../../../../../support/stellar-forwards.ts';
import { RELAYER, relayerAccount } from '../../../../../support/stellar-relayer.ts';

const forward = forwardTo();
const consent = consentBy(CLIENT, rootOf(forward)).toXdr('base64');
const parse = (text = forwardText(forward), signed = consent) =>
  parseForward(
    { text, consent: signed, envelope: enveloped(text), source: null, validUntil: null },
    relayerAccount({ fee_payment_strategy: 'user' }),
    1_700_000_000_000,
  );

t.test('a call and its consent are kept as they are', (t) => {
  t.match(parse(), {
    request: { forward: forwardText(forward), consent },
    validUntil: 2_000_000_000_000,
    anchorKind: 'sequence',
    onDeath: 'renew',
    contentKey: /^[0-9a-f]{64}$/,
  });
  t.end();
});

t.test('a consent is the same whoever pays how much, and another under another nonce or end', (t) => {
  const { contentKey } = parse();
  t.equal(parse(forwardText(forwardTo({ fee: 5_100n }))).contentKey, contentKey);
  const later = consentBy(CLIENT, rootOf(forward), 91).toXdr('base64');
  t.not(parse(undefined, later).contentKey, contentKey);
  t.end();
});

t.test('what is none is refused with its place', (t) => {
  const cases: [() => unknown, RegExp][] = [
    [() => parse(undefined, 'AAAA'), /invalid `signed_auth_entry`: not the base64/],
    [() => parse(envelopeText(CLIENT, [payOp('1')], { signers: [] })), /does not match relayer account/],
    [
      () => parse(envelopeText(RELAYER, [payOp('1')], { signers: [] })),
      /^Transaction validation error: operations\.0: it is no/,
    ],
    [() => parse(forwardText(forwardTo({ lastLedger: 91 }))), /signed_auth_entry: it is not to this call/],
  ];
  for (const [asked, message] of cases) t.throws(asked, { code: 'INVALID_REQUEST', message });
  t.end();
});
