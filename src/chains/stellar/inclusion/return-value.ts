import { xdr } from '@stellar/stellar-sdk/base';

/** The longest value that is kept of a node's answer: more than the network lets a contract return. */
const LONGEST = 64 * 1024;

/** The return value of a contract's function, in base64, from a transaction's meta; undefined where there is none. */
export function returnValueIn(meta: string): string | undefined {
  try {
    const read = xdr.TransactionMeta.fromXdr(meta, 'base64');
    const told = read.type === 'v4' ? read.v4.sorobanMeta : read.type === 'v3' ? read.v3.sorobanMeta : null;
    const value = told?.returnValue?.toXdr('base64');
    return value === undefined || value.length > LONGEST ? undefined : value;
  } catch {
    // The meta is of a newer protocol.
    return undefined;
  }
}
