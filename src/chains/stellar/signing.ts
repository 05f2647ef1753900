import { amountOf, jsonAmount } from '../../domain/amount.ts';
import { AppError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import type { Anchor } from '../../domain/transaction/anchor.ts';
import type { Transaction } from '../../domain/transaction/transaction.ts';
import type { Signer } from '../../signers/signer.ts';
import type { SignedBytes } from '../client.ts';
import { addressOf } from './address.ts';
import { memoOf, operationOf } from './message/operation.ts';
import { envelopeOf, hashOf, transactionOf } from './message/transaction.ts';
import { readFields, readRequest, type StellarFields } from './schema.ts';

/**
 * Signs a prepared transaction under a sequence of its source.
 * @throws AppError `SIGNER_FAILED`, also when the signer's key is not the account's
 */
export async function signTransaction(
  { request }: Pick<Transaction, 'request'>,
  prepared: JsonObject,
  anchor: Anchor,
  signer: Signer,
): Promise<SignedBytes> {
  const fields = readFields(prepared);
  if (fields === undefined) throw new TypeError('a transaction is prepared before it is signed');
  if (anchor.kind !== 'sequence') throw new TypeError(`its own transactions have a sequence, not ${anchor.kind}`);
  const publicKey = await signer.publicKey('ed25519');
  const address = addressOf(publicKey);
  if (address !== fields.source) {
    const reason = `its key is that of ${address}, not of ${fields.source}`;
    throw new AppError('SIGNER_FAILED', { id: signer.id, reason });
  }
  const { operations, memo } = readRequest(request);
  const transaction = transactionOf({
    source: fields.source,
    fee: amountOf(fields.fee),
    sequence: anchor.sequence,
    maxTime: amountOf(fields.max_time),
    memo: memoOf(memo),
    operations: operations.map(operationOf),
  });
  const hash = hashOf(transaction, fields.passphrase);
  const signature = await signer.sign('ed25519', hash);
  return {
    raw: envelopeOf(transaction, publicKey, signature),
    hash: hash.toString('hex'),
    fields: { ...fields, sequence: jsonAmount(anchor.sequence) } satisfies StellarFields,
  };
}
