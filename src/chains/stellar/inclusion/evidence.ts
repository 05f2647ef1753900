import { xdr } from '@stellar/stellar-sdk/base';
import { hashOf } from '../message/transaction.ts';
import { readEnvelope } from '../message/transaction-envelope.ts';

/** What a node tells of a transaction's end. */
export interface ToldEnd {
  succeeded: boolean;
  /** In base64, as the next. */
  result: string | undefined;
  envelope: string | undefined;
}

/**
 * Whether a node shows the transaction itself: its envelope has the hash, and its result agrees with the status. A text
 * that cannot be read, as of a newer protocol, is no evidence.
 */
export function isEvidenced({ envelope, result, succeeded }: ToldEnd, hash: string, passphrase: string): boolean {
  return hasHash(envelope, hash, passphrase) && succeededBy(result) === succeeded;
}

/** Whether a node's status and its result contradict each other. */
export function isContradicted({ result, succeeded }: Pick<ToldEnd, 'result' | 'succeeded'>): boolean {
  return succeededBy(result) === !succeeded;
}

/** Whether a result is a success; undefined where it cannot be read. */
function succeededBy(text: string | undefined): boolean | undefined {
  try {
    if (text === undefined) return undefined;
    const { type } = xdr.TransactionResult.fromXdr(text, 'base64').result;
    return type === 'txSuccess' || type === 'txFeeBumpInnerSuccess';
  } catch {
    return undefined;
  }
}

/** Whether an envelope has the hash. A fee bump also has the hash of the transaction inside it. */
function hasHash(text: string | undefined, hash: string, passphrase: string): boolean {
  try {
    if (text === undefined) return false;
    const envelope = xdr.TransactionEnvelope.fromXdr(text, 'base64');
    const outer = envelope.type === 'envelopeTypeTxFeeBump' ? [envelope.feeBump.tx] : [];
    const all = [readEnvelope(text).transaction, ...outer];
    return all.some((transaction) => hashOf(transaction, passphrase).toString('hex') === hash);
  } catch {
    return false;
  }
}
