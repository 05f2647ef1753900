import { xdr } from '@stellar/stellar-sdk/base';
import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import { simulate } from './simulation.ts';

/** A stand-in for the account that asks: any account may ask, even one that does not exist. */
const NOBODY = xdr.MuxedAccount.keyTypeEd25519(Buffer.alloc(32));

/** The return value of a contract's function that only reads; undefined where the function fails. */
export async function readContract(read: ReadOne, call: xdr.InvokeContractArgs): Promise<xdr.ScVal | undefined> {
  const hostFunction = xdr.HostFunction.hostFunctionTypeInvokeContract(call);
  const body = xdr.OperationBody.invokeHostFunction(new xdr.InvokeHostFunctionOp({ hostFunction, auth: [] }));
  const operation = new xdr.Operation({ sourceAccount: null, body });
  const found = await simulate(read, { source: NOBODY, operation, data: null, isBare: false });
  if (found.kind !== 'ran' || found.returned === null) return undefined;
  return xdr.ScVal.fromXdr(found.returned, 'base64');
}
