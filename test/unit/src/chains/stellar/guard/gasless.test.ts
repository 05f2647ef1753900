// Threat: a user makes the relayer pay for, or authorize, more than a fee.
import { Address, Keypair, nativeToScVal, Operation, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { gaslessFault, timeBoundsFault } from '../../../../../../src/chains/stellar/guard/gasless.ts';
import { readEnvelope } from '../../../../../../src/chains/stellar/message/transaction-envelope.ts';
import { CLIENT, envelopeText, OTHER, payOp } from '../../../../../support/stellar-envelopes.ts';
import { RELAYER } from '../../../../../support/stellar-relayer.ts';

const ADDRESS = RELAYER.publicKey();
const CONTRACT = 'CDLZFC3SYJYDZT7K67VZ75HPJVIEUVNIXF47ZG2FB2RMQQVU2HHGCYSC';
const faultOf = (operation: xdr.Operation, source = CLIENT) =>
  gaslessFault(readEnvelope(envelopeText(source, [operation])).transaction, ADDRESS);

const call = new xdr.InvokeContractArgs({
  contractAddress: Address.fromString(CONTRACT).toScAddress(),
  functionName: 'transfer',
  args: [nativeToScVal(5n, { type: 'i128' })],
});
const invocation = new xdr.SorobanAuthorizedInvocation({
  function: xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(call),
  subInvocations: [],
});
const byAddress = (address: string) =>
  new xdr.SorobanAddressCredentials({
    address: Address.fromString(address).toScAddress(),
    nonce: 5n,
    signatureExpirationLedger: 9,
    signature: xdr.ScVal.scvVoid(),
  });
const withConsent = (credentials: xdr.SorobanCredentials) =>
  Operation.invokeHostFunction({
    func: xdr.HostFunction.hostFunctionTypeInvokeContract(call),
    auth: [new xdr.SorobanAuthorizationEntry({ credentials, rootInvocation: invocation })],
  });

t.test('what users do with their own accounts is theirs', (t) => {
  t.equal(faultOf(payOp('1')), undefined);
  t.equal(faultOf(payOp('1', OTHER)), undefined);
  t.equal(faultOf(withConsent(xdr.SorobanCredentials.sorobanCredentialsSourceAccount())), undefined);
  t.equal(faultOf(withConsent(xdr.SorobanCredentials.sorobanCredentialsAddress(byAddress(CONTRACT)))), undefined);
  t.end();
});

t.test('nothing acts in the relayer’s name', (t) => {
  t.match(faultOf(payOp('1'), RELAYER), /^Source account is the relayer's own/);
  t.match(faultOf(payOp('1', RELAYER)), /acts on the relayer's own account/);
  const own = byAddress(ADDRESS);
  const delegated = new xdr.SorobanAddressCredentialsWithDelegates({ addressCredentials: own, delegates: [] });
  for (const credentials of [
    xdr.SorobanCredentials.sorobanCredentialsAddress(own),
    xdr.SorobanCredentials.sorobanCredentialsAddressV2(own),
    xdr.SorobanCredentials.sorobanCredentialsAddressWithDelegates(delegated),
  ]) {
    t.match(faultOf(withConsent(credentials)), /^operations\.0: auth\.0: it asks for the relayer's own authorization/);
  }
  t.end();
});

t.test('operations that no user has paid for', (t) => {
  const destination = OTHER.publicKey();
  const cases: [xdr.Operation, RegExp][] = [
    [Operation.accountMerge({ destination }), /AccountMerge is not allowed/],
    [Operation.setOptions({ homeDomain: 'a' }), /SetOptions is not allowed/],
    [Operation.createAccount({ destination, startingBalance: '1' }), /Deprecated .*: CreateAccount/],
    [Operation.extendFootprintTtl({ extendTo: 5 }), /only InvokeContract/],
    [Operation.restoreFootprint({}), /only InvokeContract/],
    [Operation.uploadContractWasm({ wasm: Buffer.alloc(4) }), /only InvokeContract/],
  ];
  for (const [operation, fault] of cases) t.match(faultOf(operation), fault);
  t.end();
});

t.test('time bounds by the chain’s clock', (t) => {
  const latest = { sequence: 5n, closedAt: 1_000_000, baseReserve: 5n };
  const fault = (maxTime: number, most: number | null) =>
    timeBoundsFault(readEnvelope(envelopeText(Keypair.random(), [payOp('1')], { maxTime })).transaction, latest, most);
  t.equal(fault(1_000, null), undefined);
  t.match(fault(999, null), /ended at 999, and it is 1000/);
  t.equal(fault(0, null), undefined);
  t.match(fault(0, 60), /must end within 60 s, at 1060/);
  t.equal(fault(1_075, 60), undefined, 'the chain may be behind');
  t.match(fault(1_076, 60), /must end within 60 s/);
  t.end();
});
