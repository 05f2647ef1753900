import { xdr } from '@stellar/stellar-sdk/base';

/** More than the network takes for all that a contract tells; nothing else is kept of a node's answer. */
const LONGEST = 64 * 1024;

/** What a contract's function gave back, in base64, out of what a transaction changed; undefined where there is none. */
export function returnValueIn(meta: string): string | undefined {
  try {
    const read = xdr.TransactionMeta.fromXdr(meta, 'base64');
    const told = read.type === 'v4' ? read.v4.sorobanMeta : read.type === 'v3' ? read.v3.sorobanMeta : null;
    const value = told?.returnValue?.toXdr('base64');
    return value === undefined || value.length > LONGEST ? undefined : value;
  } catch {
    // Of a newer protocol.
    return undefined;
  }
}
