import { xdr } from '@stellar/stellar-sdk/base';
import { amountOf, jsonAmount } from '../../domain/amount.ts';
import { AppError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import type { Anchor } from '../../features/transactions/records/anchor.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import type { Signer } from '../../signers/signer.ts';
import type { SignedBytes } from '../chain-client.ts';
import { addressOfPublicKey } from './address.ts';
import { preparedDraft } from './message/draft.ts';
import {
  buildFeeBump,
  buildTransaction,
  type ContractTerms,
  decorateSignature,
  encodeEnvelope,
  transactionHash,
} from './message/transaction.ts';
import { readEnvelope } from './message/transaction-envelope.ts';
import { readChainFields, readStoredRequest, type StellarFields } from './schema.ts';

/**
 * Signs a prepared transaction: an own one under a sequence of its source, or a fee bump around a client's.
 * @throws AppError `SIGNER_FAILED`, also when the signer's key is not the account's
 */
export async function signTransaction(
  { request }: Pick<Transaction, 'request'>,
  prepared: JsonObject,
  anchor: Anchor,
  signer: Signer,
): Promise<SignedBytes> {
  const fields = readChainFields(prepared);
  if (fields === undefined) throw new TypeError('a transaction is prepared before it is signed');
  const message = messageOf(request, fields, anchor);
  const { hash, signature } = await signEnvelope(message, fields, signer);
  const numbered = anchor.kind === 'sequence' ? { sequence: jsonAmount(anchor.sequence) } : {};
  return {
    raw: encodeEnvelope(message, [signature]),
    hash: hash.toString('hex'),
    fields: { ...fields, ...numbered } satisfies StellarFields,
  };
}

function messageOf(
  request: JsonObject,
  fields: StellarFields,
  anchor: Anchor,
): xdr.Transaction | xdr.FeeBumpTransaction {
  const parsed = readStoredRequest(request);
  const { source, fee, max_time: maxTime } = fields;
  if ('inner' in parsed) return buildFeeBump(readEnvelope(parsed.inner), source, amountOf(fee));
  if (anchor.kind !== 'sequence') throw new TypeError(`its own transactions have a sequence, not ${anchor.kind}`);
  const terms = { fee: amountOf(fee), sequence: anchor.sequence, maxTime: amountOf(maxTime) };
  return buildTransaction(preparedDraft(parsed, fields), { ...terms, contract: contractOf(fields) });
}

function contractOf({ contract }: StellarFields): ContractTerms | undefined {
  if (contract === undefined) return undefined;
  const { data, consents, last_ledger: lastLedger } = contract;
  return {
    data: xdr.SorobanTransactionData.fromXdr(data, 'base64'),
    consents: consents.map((text) => xdr.SorobanAuthorizationEntry.fromXdr(text, 'base64')),
    lastLedger: lastLedger === undefined ? undefined : amountOf(lastLedger),
  };
}

/** A transaction's hash, and the signature of an account by its signer. */
export async function signEnvelope(
  transaction: xdr.Transaction | xdr.FeeBumpTransaction,
  { source, passphrase }: { source: string; passphrase: string },
  signer: Signer,
): Promise<{ hash: Buffer; signature: xdr.DecoratedSignature }> {
  const publicKey = await signer.publicKey('ed25519');
  const address = addressOfPublicKey(publicKey);
  if (address !== source) {
    throw new AppError('SIGNER_FAILED', { id: signer.id, reason: `its key is that of ${address}, not of ${source}` });
  }
  const hash = transactionHash(transaction, passphrase);
  return { hash, signature: decorateSignature(publicKey, await signer.sign('ed25519', hash)) };
}
