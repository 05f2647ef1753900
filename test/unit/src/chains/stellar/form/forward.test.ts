import { Keypair, xdr } from '@stellar/stellar-sdk/base';
import t from 'tap';
import { parseEnvelope } from '../../../../../../src/chains/stellar/form/envelope.ts';
import {
  checkFeeForward,
  forwardConsentFault,
  parseForward,
} from '../../../../../../src/chains/stellar/form/forward.ts';
import { contractCall } from '../../../../../../src/chains/stellar/message/contract.ts';
import {
  consentedCallOf,
  type FeeForward,
  feeApprovalOf,
  forwardCallOf,
} from '../../../../../../src/chains/stellar/message/forward.ts';
import { readEnvelope } from '../../../../../../src/chains/stellar/message/transaction-envelope.ts';
import { address, i128, u32 } from '../../../../../support/stellar-contract-scene.ts';
import { CLIENT, envelopeText, OTHER, payOp } from '../../../../../support/stellar-envelopes.ts';
import {
  below,
  consentBy,
  forwardText,
  forwardTo,
  LUMENS,
  rootOf,
  TARGET,
} from '../../../../../support/stellar-forwards.ts';
import { RELAYER, relayerAccount } from '../../../../../support/stellar-relayer.ts';

const forward = forwardTo();
const consent = consentBy(CLIENT, rootOf(forward)).toXdr('base64');
const parse = (text = forwardText(forward), signed = consent) =>
  parseForward(
    { text, consent: signed, envelope: parseEnvelope(text), source: null, validUntil: null },
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
    [() => parse(forwardText(forwardTo({ lastLedger: 91 }))), /signed_auth_entry: it is for another call/],
  ];
  for (const [asked, message] of cases) t.throws(asked, { code: 'INVALID_REQUEST', message });
  t.end();
});

// Threat: a user's signature, or data beside it, makes the relayer authorize more than the call, or pays the relayer
// less.
t.test('forward', async (t) => {
  const forward = forwardTo();
  const steal = contractCall(LUMENS, 'transfer', [address(RELAYER), address(CLIENT), i128(1n)]);
  const asked = (one: FeeForward, entry = consentBy(CLIENT, rootOf(forward))) =>
    checkFeeForward(readEnvelope(forwardText(one, entry)).transaction, entry, RELAYER.publicKey());

  t.test('a call that its user has consented to', (t) => {
    t.match(asked(forward), { fee: 5_000n, user: CLIENT.publicKey() });
    const bare = below(consentedCallOf(forward), below(feeApprovalOf(forward)));
    t.match(asked(forward, consentBy(CLIENT, bare)), { fee: 5_000n }, 'a call that asks nothing of the user');
    const nested = below(forward.target, below(contractCall(TARGET, 'more', [])));
    const deep = below(consentedCallOf(forward), nested, below(feeApprovalOf(forward)));
    t.match(asked(forward, consentBy(CLIENT, deep)), { fee: 5_000n }, 'what it calls is the user’s');
    t.end();
  });

  t.test('who is paid, by whom, and how much', (t) => {
    const cases: [Partial<FeeForward>, RegExp][] = [
      [{ relayer: OTHER.publicKey() }, /^operations\.0: its fee goes to G/],
      [{ user: RELAYER.publicKey() }, /its user is the relayer itself/],
      [{ token: OTHER.publicKey() }, /its token G\w+ is no contract/],
      [{ fee: 0n }, /its fee_amount is 0/],
      [{ fee: -5n }, /its fee_amount is -5/],
      [{ fee: 5_251n }, /fee_amount 5251 is beyond its max_fee_amount 5250/],
      [{ user: OTHER.publicKey() }, /signed_auth_entry: it is of G\w+, not of the user G/],
      [{ mostFee: 6_000n }, /signed_auth_entry: it is for another call/],
      [{ lastLedger: 91 }, /signed_auth_entry: it is for another call/],
      [{ token: TARGET }, /signed_auth_entry: it is for another call/],
      [{ forwarder: TARGET }, /signed_auth_entry: it is for another call/],
      [{ target: steal }, /signed_auth_entry: it is for another call/],
    ];
    const entry = consentBy(CLIENT, rootOf(forward));
    for (const [over, fault] of cases) {
      const { transaction } = readEnvelope(forwardText(forwardTo(over)));
      t.match(checkFeeForward(transaction, entry, RELAYER.publicKey()), fault);
    }
    const { transaction } = readEnvelope(envelopeText(RELAYER, [payOp('1')]));
    t.match(checkFeeForward(transaction, entry, RELAYER.publicKey()), /not a call of forward/);
    t.end();
  });

  t.test('no entry has the relayer consent to more', (t) => {
    const source = xdr.SorobanCredentials.sorobanCredentialsSourceAccount();
    const ofSource = (rootInvocation: xdr.SorobanAuthorizedInvocation) =>
      new xdr.SorobanAuthorizationEntry({ credentials: source, rootInvocation });
    const own = below(forwardCallOf(forward));
    const beside = (...auth: xdr.SorobanAuthorizationEntry[]) => {
      const { transaction } = readEnvelope(forwardText(forward));
      const [operation] = transaction.operations;
      if (operation?.body.type !== 'invokeHostFunction') throw new Error('a call');
      const { hostFunction } = operation.body.invokeHostFunctionOp;
      const body = xdr.OperationBody.invokeHostFunction(new xdr.InvokeHostFunctionOp({ hostFunction, auth }));
      const operations = [new xdr.Operation({ sourceAccount: null, body })];
      const { sourceAccount, fee, seqNum, cond, memo, ext } = transaction;
      const other = new xdr.Transaction({ sourceAccount, fee, seqNum, cond, memo, ext, operations });
      return checkFeeForward(other, consentBy(CLIENT, rootOf(forward)), RELAYER.publicKey());
    };
    t.match(beside(ofSource(own), consentBy(RELAYER, own), consentBy(CLIENT, below(steal))), { fee: 5_000n });
    const more = /^auth\.0: it asks for the relayer's own authorization of more/;
    for (const root of [below(steal), below(forwardCallOf(forward), below(steal)), below(forward.target)]) {
      t.match(beside(ofSource(root)), more);
      t.match(beside(consentBy(RELAYER, root)), more);
    }
    t.match(beside(ofSource(own), consentBy(OTHER, own)), /^auth\.1: it is of G\w+, who is neither/);
    t.end();
  });

  t.test('what is signed is this call, its approval, and nothing beside them', (t) => {
    const root = consentedCallOf(forward);
    const twice = [below(feeApprovalOf(forward)), below(feeApprovalOf(forward))];
    const dearer = feeApprovalOf(forwardTo({ mostFee: 9_000n }));
    const cases: [xdr.SorobanAuthorizedInvocation, RegExp][] = [
      [below(forwardCallOf(forward)), /for another call/],
      [below(root, ...twice), /subInvocations\.1/],
      [below(root, below(steal)), /subInvocations\.0/],
      [below(root, below(dearer)), /subInvocations\.0/],
      [below(root, below(contractCall(TARGET, 'add', [u32(5)]))), /subInvocations\.0/],
    ];
    for (const [tree, fault] of cases) t.match(forwardConsentFault(consentBy(CLIENT, tree), forward), fault);
    const credentials = xdr.SorobanCredentials.sorobanCredentialsSourceAccount();
    const nobodys = new xdr.SorobanAuthorizationEntry({ credentials, rootInvocation: rootOf(forward) });
    t.match(forwardConsentFault(nobodys, forward), /it names nobody/);
    t.match(forwardConsentFault(consentBy(Keypair.random(), rootOf(forward)), forward), /not of the user/);
    t.end();
  });
});
