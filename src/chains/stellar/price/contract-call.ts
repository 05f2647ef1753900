import type { xdr } from '@stellar/stellar-sdk/base';
import { jsonAmount } from '../../../domain/amount.ts';
import type { ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import type { ParsedRequest, TransactionPreparation } from '../../chain-client.ts';
import { authorizedFunctionOf, lastLedgerOfConsent } from '../message/authorization.ts';
import type { TransactionDraft } from '../message/draft.ts';
import type { ContractFields } from '../schema.ts';
import { type SimulationResult, simulateOperation } from './simulation.ts';

/** What an operation of contracts needs beside what every operation does. */
export interface ContractNeeds {
  kind: 'needs';
  fields: ContractFields;
  /** In stroops, beside its place in a ledger. */
  fee: bigint;
}

/** The client's consent was good up to a ledger that has closed. */
const TOO_LATE = 'An authorization entry in its auth has expired';

const ARCHIVED = 'It uses archived ledger entries, which are restored first';

/**
 * Has a node run the only operation of a transaction, which is one of contracts, without effect.
 * @param ledger the newest ledger; the transaction is in no ledger up to it
 */
export async function contractNeeds(
  read: ReadFromEndpoint,
  draft: Pick<TransactionDraft, 'source' | 'operations' | 'data' | 'finds'>,
  ledger: bigint,
): Promise<ContractNeeds | TransactionPreparation> {
  const { source, operations, data, finds } = draft;
  const [operation] = operations;
  if (operation === undefined) throw new TypeError('a contract operation must be the only operation');
  const call = operation.body.type === 'invokeHostFunction' ? operation.body.invokeHostFunctionOp : undefined;
  const given = call?.auth ?? [];
  const lastLedger = earliest(given);
  if (lastLedger !== null && lastLedger <= ledger) return { kind: 'refused', reason: TOO_LATE, end: 'expired' };
  const isBare = call !== undefined && given.length === 0 && !finds;
  const found = await simulateOperation(read, { source, operation, data: call === undefined ? data : null, isBare });
  if (found.kind === 'archived' && call !== undefined) return restoreFirst(found.data);
  if (found.kind === 'archived') return { kind: 'refused', reason: ARCHIVED };
  if (found.kind === 'failed') return { kind: 'refused', reason: found.reason };
  if (!finds || call === undefined) return needsOf(found, given, lastLedger);
  const isOwn = found.consents.every((consent) => isConsentTo(consent, call.hostFunction));
  return isOwn ? needsOf(found, found.consents, null) : { kind: 'refused', reason: OTHERS };
}

function needsOf(
  { data, fee }: Extract<SimulationResult, { kind: 'ran' }>,
  consents: readonly xdr.SorobanAuthorizationEntry[],
  lastLedger: bigint | null,
): ContractNeeds {
  const fields: ContractFields = {
    data: data.toXdr('base64'),
    consents: consents.map((entry) => entry.toXdr('base64')),
    ...(lastLedger === null ? {} : { last_ledger: jsonAmount(lastLedger) }),
  };
  return { kind: 'needs', fields, fee };
}

/**
 * Restores archived entries in a transaction of its own. It takes effect whatever becomes of the transaction that
 * waits.
 */
function restoreFirst(data: xdr.SorobanTransactionData): TransactionPreparation {
  const request = { operations: [{ type: 'restore_footprint', data: data.toXdr('base64') }] };
  const first: ParsedRequest = {
    request,
    validUntil: null,
    anchorKind: 'sequence',
    onDeath: 'renew',
    contentKey: null,
  };
  return { kind: 'first', first, reason: ARCHIVED };
}

/** The last ledger in which all consents are valid; null where they have no end. */
function earliest(consents: readonly xdr.SorobanAuthorizationEntry[]): bigint | null {
  const ledgers = consents.map(lastLedgerOfConsent).filter((ledger) => ledger !== null);
  return ledgers.reduce<bigint | null>((least, one) => (least === null || one < least ? one : least), null);
}

/**
 * Whether a consent is the relayer's, and to the requested call. The relayer signs no other, whatever a node asks for.
 */
function isConsentTo({ credentials, rootInvocation }: xdr.SorobanAuthorizationEntry, asked: xdr.HostFunction): boolean {
  const own = authorizedFunctionOf(asked)?.toXdr('base64');
  return credentials.type === 'sorobanCredentialsSourceAccount' && rootInvocation.function.toXdr('base64') === own;
}

const OTHERS = 'It needs the authorization of another account than the relayer’s: give it in auth, signed, as type xdr';
