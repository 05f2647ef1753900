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
 * Whether a node has the transaction itself, as what it tells of its end says: its envelope has the hash, and its result is
 * of that kind. What cannot be read, as of a newer protocol, is none.
 */
export function isEvidenced({ envelope, result, succeeded }: ToldEnd, hash: string, passphrase: string): boolean {
  return hasHash(envelope, hash, passphrase) && succeededBy(result) === succeeded;
}

/** Whether a node's own words about an end speak against each other. */
export function isContradicted({ result, succeeded }: Pick<ToldEnd, 'result' | 'succeeded'>): boolean {
  return succeededBy(result) === !succeeded;
}

/** By its result; undefined of one that cannot be read. */
function succeededBy(text: string | undefined): boolean | undefined {
  try {
    if (text === undefined) return undefined;
    const { type } = xdr.TransactionResult.fromXdr(text, 'base64').result;
    return type === 'txSuccess' || type === 'txFeeBumpInnerSuccess';
  } catch {
    return undefined;
  }
}

/** A fee bump is also known by the hash of what is within. */
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
