import { Address, scValToBigInt, xdr } from '@stellar/stellar-sdk/base';
import { consentOf } from './authorization.ts';
import { addressValue, amountValue, contractCall } from './contract.ts';

/**
 * A call of a contract that a fee forwarder makes for a user, who pays the relayer for it in a token. It is one
 * function of one contract. The user's signature binds all of it, except for who the relayer is and what the relayer
 * takes, up to a maximum.
 */
export interface FeeForward {
  forwarder: string;
  /** The contract of the token. */
  token: string;
  /** What the relayer takes, in the token's smallest unit, and the most that it may. */
  fee: bigint;
  mostFee: bigint;
  /** The last ledger that takes the call. */
  lastLedger: number;
  /** What the user wants called. */
  target: xdr.InvokeContractArgs;
  user: string;
  relayer: string;
}

const FUNCTION = 'forward';

/** The call of the forwarder. */
export function forwardCallOf(forward: FeeForward): xdr.InvokeContractArgs {
  const { forwarder, token, fee, mostFee, lastLedger, target, user, relayer } = forward;
  const bounds = [addressValue(token), amountValue(fee), amountValue(mostFee), xdr.ScVal.scvU32(lastLedger)];
  return contractCall(forwarder, FUNCTION, [...bounds, ...targetIn(target), addressValue(user), addressValue(relayer)]);
}

/** What a call asks of a forwarder; undefined for a call of another form. */
function forwardIn(call: xdr.InvokeContractArgs): FeeForward | undefined {
  try {
    const [token, fee, mostFee, lastLedger, contract, name, args, user, relayer] = call.args;
    if (contract?.type !== 'scvAddress' || name?.type !== 'scvSymbol' || args?.type !== 'scvVec') return undefined;
    if (lastLedger?.type !== 'scvU32' || args.vec === null) return undefined;
    const read: FeeForward = {
      forwarder: Address.fromScAddress(call.contractAddress).toString(),
      token: addressIn(token),
      fee: i128In(fee),
      mostFee: i128In(mostFee),
      lastLedger: lastLedger.u32,
      target: new xdr.InvokeContractArgs({
        contractAddress: contract.address,
        functionName: name.sym.toString(),
        args: [...args.vec],
      }),
      user: addressIn(user),
      relayer: addressIn(relayer),
    };
    // The call must hold nothing that was not read.
    return isSameCall(forwardCallOf(read), call) ? read : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The call as an operation, with the consents of the user and of the relayer. The relayer consents to this very call
 * and to none below it, so that no contract that is called can act for the relayer.
 * @param consent null where a node is to find out which consents are needed
 */
export function forwardBodyOf(forward: FeeForward, consent: xdr.SorobanAuthorizationEntry | null): xdr.OperationBody {
  const hostFunction = xdr.HostFunction.hostFunctionTypeInvokeContract(forwardCallOf(forward));
  const own = consentOf(hostFunction);
  const auth = consent === null || own === undefined ? [] : [consent, own];
  return xdr.OperationBody.invokeHostFunction(new xdr.InvokeHostFunctionOp({ hostFunction, auth }));
}

/** The call of a forwarder that a transaction consists of; undefined for any other transaction. */
export function feeForwardOf({ operations }: Pick<xdr.Transaction, 'operations'>): FeeForward | undefined {
  const [operation, ...others] = operations;
  const call = operation?.body.type === 'invokeHostFunction' ? operation.body.invokeHostFunctionOp : undefined;
  if (call === undefined || others.length > 0) return undefined;
  return call.hostFunction.type === 'hostFunctionTypeInvokeContract'
    ? forwardIn(call.hostFunction.invokeContract)
    : undefined;
}

/** The call that the user consents to. It names the maximum fee only, and nobody in particular who takes it. */
export function consentedCallOf(forward: FeeForward): xdr.InvokeContractArgs {
  const { forwarder, token, mostFee, lastLedger, target } = forward;
  const args = [addressValue(token), amountValue(mostFee), xdr.ScVal.scvU32(lastLedger), ...targetIn(target)];
  return contractCall(forwarder, FUNCTION, args);
}

/** The call that lets the forwarder take the fee. */
export function feeApprovalOf({ forwarder, token, user, mostFee, lastLedger }: FeeForward): xdr.InvokeContractArgs {
  return contractCall(token, 'approve', [
    addressValue(user),
    addressValue(forwarder),
    amountValue(mostFee),
    xdr.ScVal.scvU32(lastLedger),
  ]);
}

/** Whether two calls are the same to the last bit. */
export function isSameCall(one: xdr.InvokeContractArgs, other: xdr.InvokeContractArgs): boolean {
  return one.toXdr('base64') === other.toXdr('base64');
}

function targetIn({ contractAddress, functionName, args }: xdr.InvokeContractArgs): xdr.ScVal[] {
  const name = xdr.ScVal.scvSymbol(functionName.toString());
  return [xdr.ScVal.scvAddress(contractAddress), name, xdr.ScVal.scvVec([...args])];
}

function addressIn(value: xdr.ScVal | undefined): string {
  if (value?.type !== 'scvAddress') throw new TypeError('not an address');
  return Address.fromScVal(value).toString();
}

function i128In(value: xdr.ScVal | undefined): bigint {
  if (value?.type !== 'scvI128') throw new TypeError('not an amount');
  return scValToBigInt(value);
}
