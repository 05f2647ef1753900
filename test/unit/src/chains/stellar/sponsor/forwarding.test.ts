// Threat: a node or a user's request makes the relayer build a call that it must not sign.
import { Contract, Operation, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { readPolicy } from '../../../../../../src/chains/stellar/configuration/policy.ts';
import { contractCall } from '../../../../../../src/chains/stellar/message/contract.ts';
import {
  consentedCallOf,
  feeApprovalOf,
  feeForwardOf,
  forwardCallOf,
} from '../../../../../../src/chains/stellar/message/forward.ts';
import { readEnvelope } from '../../../../../../src/chains/stellar/message/transaction-envelope.ts';
import { buildForward, quoteForward } from '../../../../../../src/chains/stellar/sponsor/forwarding.ts';
import { address, i128, u32 } from '../../../../../support/stellar-contract-scene.ts';
import { CLIENT, envelopeText, OTHER } from '../../../../../support/stellar-envelopes.ts';
import { below, consentBy, FORWARDER, forwardTo, LUMENS, TARGET } from '../../../../../support/stellar-forwards.ts';
import { PASSPHRASE, RELAYER } from '../../../../../support/stellar-relayer.ts';
import { ran, type Simulating, simulating } from '../../../../../support/stellar-simulation.ts';

/** What a call of the forwarder asks for, as our code reads it. */
function askedIn(call: xdr.InvokeContractArgs) {
  const body = xdr.OperationBody.invokeHostFunction(
    new xdr.InvokeHostFunctionOp({ hostFunction: xdr.HostFunction.hostFunctionTypeInvokeContract(call), auth: [] }),
  );
  const forward = feeForwardOf({ operations: [new xdr.Operation({ sourceAccount: null, body })] });
  if (forward === undefined) throw new Error('a call of the forwarder');
  return forward;
}
const own = (root: xdr.SorobanAuthorizedInvocation) => {
  const credentials = xdr.SorobanCredentials.sorobanCredentialsSourceAccount();
  return new xdr.SorobanAuthorizationEntry({ credentials, rootInvocation: root });
};
const honest = (call: xdr.InvokeContractArgs) => {
  const forward = askedIn(call);
  const root = below(consentedCallOf(forward), below(feeApprovalOf(forward)), below(forward.target));
  return ran([own(below(call)), consentBy(CLIENT, root)]);
};
const rich = { balance: ran([], i128(1_000_000n)) };
const draft = (operation = new Contract(TARGET).call('add', address(CLIENT), u32(5))) => ({
  user: CLIENT.publicKey(),
  transaction: readEnvelope(envelopeText(CLIENT, [operation], { signers: [] })).transaction,
});
const asking =
  (make: typeof quoteForward) =>
  (calls: Simulating['calls'] = {}, policies = {}, of = draft(), forwarder: string | null = FORWARDER) =>
    make(simulating({ calls: { ...rich, forward: honest, ...calls } }), of, LUMENS, {
      books: { network: 'testnet', horizon: null },
      forwarder,
      passphrase: PASSPHRASE,
      blockTimeMs: 5_000,
      relayer: RELAYER.publicKey(),
      policy: readPolicy({ fee_payment_strategy: 'user', ...policies }),
    });
const [quote, build] = [asking(quoteForward), asking(buildForward)];

t.test('what is built is what was quoted, good for two minutes, under a nonce of its own', async (t) => {
  // Resources of 4,000 and a margin of 15 %, and an inclusion fee of 100.
  const price = {
    fee_in_token: '4700',
    fee_in_token_ui: '0.00047',
    max_fee_in_token: '4935',
    max_fee_in_token_ui: '0.0004935',
  };
  t.strictSame(await quote(), { ...price, conversion_rate: '1' });
  const { transaction, user_auth_entry: entry, ...rest } = await build();
  const others = { fee_in_stroops: '4700', fee_token: LUMENS, valid_until: '1970-01-01T00:17:00.000+00:00' };
  t.strictSame(rest, { ...price, ...others });
  const built = readEnvelope(String(transaction));
  t.match(built, { signatures: { length: 0 }, transaction: { seqNum: 0n, fee: 4_100 } });
  t.match(feeForwardOf(built.transaction), { fee: 4_700n, mostFee: 4_935n, lastLedger: 84, user: CLIENT.publicKey() });
  const nonceIn = (text: unknown) => {
    const { credentials } = xdr.SorobanAuthorizationEntry.fromXdr(String(text), 'base64');
    return credentials.type === 'sorobanCredentialsAddress' ? credentials.address.nonce : 0n;
  };
  t.not(nonceIn(entry), 1n, 'not the node’s');
  t.not(nonceIn(entry), nonceIn((await build())['user_auth_entry']));
});

t.test('what the relayer has no part in is not built', async (t) => {
  const steal = contractCall(LUMENS, 'transfer', [address(RELAYER), address(CLIENT), i128(1n)]);
  const found = (auth: (call: xdr.InvokeContractArgs) => xdr.SorobanAuthorizationEntry[]) => ({
    forward: (call: xdr.InvokeContractArgs) => ran(auth(call)),
  });
  const userRoot = (call: xdr.InvokeContractArgs, ...more: xdr.SorobanAuthorizedInvocation[]) =>
    consentBy(CLIENT, below(consentedCallOf(askedIn(call)), ...more));
  const elsewhere = Operation.invokeContractFunction({
    contract: TARGET,
    function: 'add',
    args: [],
    source: OTHER.publicKey(),
  });
  const withOthers = Operation.invokeContractFunction({
    contract: TARGET,
    function: 'add',
    args: [],
    auth: [consentBy(OTHER, below(steal))],
  });
  const cases: [Promise<unknown>, RegExp][] = [
    [build(found((call) => [own(below(call, below(steal))), userRoot(call)])), /needs the relayer’s own authorization/],
    [build(found((call) => [userRoot(call), consentBy(OTHER, below(steal))])), /authorization of 2 addresses/],
    [build(found((call) => [own(below(call))])), /authorization of 0 addresses/],
    [build(found((call) => [userRoot(call, below(steal))])), /asks for another authorization: subInvocations\.0/],
    [
      build(found((call) => [consentBy(CLIENT, below(forwardCallOf(askedIn(call))))])),
      /asks for another authorization/,
    ],
    [build({ forward: { error: 'HostError: Error(Auth, InvalidAction)' } }), /simulation failed: HostError/],
    [
      build({
        forward: {
          ...ran(),
          restorePreamble: { transactionData: String(ran()['transactionData']), minResourceFee: '5' },
        },
      }),
      /archived/,
    ],
    [build({ balance: ran([], i128(0n)) }), /user has 0 C\w+ but needs 0.0000001/],
    [build({ balance: ran([], i128(4_699n)) }), /user has 0.0004699 C\w+ but needs 0.00047 C/],
    [build({}, { max_fee: 4_699 }), /Max fee exceeded: 4699/],
    [build({}, { allowed_tokens: [{ asset: 'native', max_allowed_fee: 4_934 }] }), /Max fee exceeded: 4934/],
    [build({}, {}, draft(elsewhere)), /operations\.0: its source is another account/],
    [build({}, {}, draft(withOthers)), /auth\.0: only the user can authorize/],
    [build({}, {}, draft(), null), /FeeForwarder address not configured: set fee_forwarder of the network testnet/],
  ];
  for (const [asked, message] of cases) await t.rejects(asked, { code: 'INVALID_REQUEST', message });
  t.equal(forwardTo().relayer, RELAYER.publicKey());
});
