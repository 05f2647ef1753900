import { Contract, nativeToScVal, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import {
  consentedCallOf,
  feeApprovalOf,
  feeForwardOf,
  forwardBodyOf,
  forwardCallOf,
  isSameCall,
} from '../../../../../../src/chains/stellar/message/forward.ts';
import { readEnvelope } from '../../../../../../src/chains/stellar/message/transaction-envelope.ts';
import { address, i128, symbol, u32, vec } from '../../../../../support/stellar-contract-scene.ts';
import { CLIENT, envelopeText, payOp } from '../../../../../support/stellar-envelopes.ts';
import {
  consentBy,
  FORWARDER,
  forwardText,
  forwardTo,
  LUMENS,
  rootOf,
  TARGET,
} from '../../../../../support/stellar-forwards.ts';
import { RELAYER } from '../../../../../support/stellar-relayer.ts';

const forward = forwardTo();
const args = [
  ...[address(LUMENS), i128(5_000n), i128(5_250n), u32(90)],
  ...[address(TARGET), symbol('add'), vec(address(CLIENT), u32(5))],
  ...[address(CLIENT), address(RELAYER)],
];

/** A call as the public library builds it. */
function made(contract: string, name: string, ...given: xdr.ScVal[]): xdr.InvokeContractArgs {
  const { body } = new Contract(contract).call(name, ...given);
  const asked = body.type === 'invokeHostFunction' ? body.invokeHostFunctionOp.hostFunction : undefined;
  if (asked?.type !== 'hostFunctionTypeInvokeContract') throw new Error('a call');
  return asked.invokeContract;
}

t.test('what is called, agreed to and approved is what the forwarder asks for', (t) => {
  t.ok(isSameCall(forwardCallOf(forward), made(FORWARDER, 'forward', ...args)));
  const [token, , most, until, ...called] = args.slice(0, 7) as [xdr.ScVal, xdr.ScVal, xdr.ScVal, xdr.ScVal];
  t.ok(isSameCall(consentedCallOf(forward), made(FORWARDER, 'forward', token, most, until, ...called)));
  t.ok(isSameCall(feeApprovalOf(forward), made(LUMENS, 'approve', address(CLIENT), address(FORWARDER), most, until)));
  t.end();
});

t.test('it is read back whole', (t) => {
  const { transaction } = readEnvelope(forwardText(forward));
  const { target, ...rest } = feeForwardOf(transaction) ?? forwardTo({ fee: 0n });
  const { target: wanted, ...known } = forward;
  t.strictSame(rest, known);
  t.ok(isSameCall(target, wanted));
  t.end();
});

t.test('a call of another form is none', (t) => {
  const asked = (name: string, ...given: xdr.ScVal[]) => {
    const operation = new Contract(FORWARDER).call(name, ...given);
    return feeForwardOf(readEnvelope(envelopeText(RELAYER, [operation], { signers: [] })).transaction);
  };
  t.ok(asked('forward', ...args));
  t.equal(asked('transfer', ...args), undefined);
  t.equal(asked('forward', ...args, u32(1)), undefined, 'no more arguments than it has');
  for (const [place] of args.entries()) {
    t.equal(asked('forward', ...args.with(place, xdr.ScVal.scvVoid())), undefined, `${place}`);
    t.equal(asked('forward', ...args.slice(0, place)), undefined);
  }
  t.equal(asked('forward', ...args.with(1, nativeToScVal(5_000n, { type: 'u128' }))), undefined);
  t.equal(asked('forward', ...args.with(6, xdr.ScVal.scvVec(null))), undefined);
  t.equal(feeForwardOf(readEnvelope(envelopeText(RELAYER, [payOp('1')])).transaction), undefined);
  t.equal(feeForwardOf({ operations: [] }), undefined);
  t.end();
});

t.test('the relayer consents to the call and to none below it', (t) => {
  const consent = consentBy(CLIENT, rootOf(forward));
  const { type, ...body } = forwardBodyOf(forward, consent);
  t.equal(type, 'invokeHostFunction');
  const { auth } = (body as { invokeHostFunctionOp: xdr.InvokeHostFunctionOp }).invokeHostFunctionOp;
  t.equal(auth.length, 2);
  t.equal(auth[0]?.toXdr('base64'), consent.toXdr('base64'));
  t.equal(auth[1]?.credentials.type, 'sorobanCredentialsSourceAccount');
  t.equal(auth[1]?.rootInvocation.subInvocations.length, 0);
  t.end();
});
