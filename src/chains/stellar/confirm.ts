import { xdr } from '@stellar/stellar-sdk/base';
import { amountOf, jsonAmount } from '../../domain/amount.ts';
import { EndpointUnfit, type ReadFromEndpoint, type RpcClient } from '../../egress/rpc/rpc-client.ts';
import { type Attempt, livingAttempts } from '../../features/transactions/records/attempt.ts';
import type { ObservedTransaction, TransactionObservation } from '../chain-client.ts';
import { answersInTime, type EndpointOpinion, isCorroborated, proofByOpinions } from '../quorum.ts';
import { failureReason, isTransactionResultSuccess, parseTransactionResult } from './errors.ts';
import { transactionHash } from './message/transaction.ts';
import { readEnvelope } from './message/transaction-envelope.ts';
import { getAccount, getTransaction, type LedgerInclusion, type TransactionLookup } from './rpc-calls.ts';
import { readChainFields, type StellarFields, type StellarReceipt, sequenceUsed } from './schema.ts';

const OPEN: TransactionObservation = { kind: 'open' };

/** An attempt that is looked for on the chain. */
interface PreparedAttempt {
  attempt: Attempt;
  fields: StellarFields;
}

/** What one node shows of an attempt. */
interface NodeView extends TransactionLookup {
  /** The last used sequence of the account whose sequence the attempt uses; null where the node has no such account. */
  used: bigint | null;
  /** The ledger in which that was used, or a later one. */
  usedIn: bigint;
  /** Whether another envelope than ours was found: the client's own transaction, or another fee bump around it. */
  isForeign: boolean;
}

type NodeViews = ReadonlyMap<string, NodeView>;

/**
 * Observes each transaction on one node's chain. A transaction in a ledger is final, unless another endpoint denies it.
 * An attempt is dead when it is in no ledger and its time has passed or its sequence is used. A second endpoint, where
 * there is one, has to show the same.
 */
export async function observeTransactions(
  rpc: RpcClient,
  entries: readonly ObservedTransaction[],
): Promise<TransactionObservation[]> {
  const prepared = entries.map(({ attempts }) => attempts.map(preparedAttempt));
  const all = prepared.flat();
  if (all.length === 0) return entries.map(() => OPEN);
  return rpc.onOne(async (read) => {
    const views = await viewsOf(read, all);
    const claims = all.filter((one) => opinionOn(one, views) !== 'none' || views.get(one.attempt.hash)?.inclusion);
    const others =
      claims.length === 0 ? [] : await answersInTime(rpc.onOthers(read, (other) => viewsOf(other, claims)));
    const evidence = { views, others, isAlone: rpc.endpointCount < 2 };
    return prepared.map((attempts) => observationOf(attempts, evidence));
  });
}

function preparedAttempt(attempt: Attempt): PreparedAttempt {
  const fields = readChainFields(attempt.fields);
  if (fields === undefined) throw new TypeError('a signed attempt was prepared');
  return { attempt, fields };
}

/**
 * Reads the accounts first, and the history after them. So a transaction that used a sequence by then is in the
 * history.
 */
async function viewsOf(read: ReadFromEndpoint, prepared: readonly PreparedAttempt[]): Promise<NodeViews> {
  const sources = [...new Set(prepared.map(({ attempt, fields }) => sequenceUsed(fields, attempt.anchor).source))];
  const accounts = new Map(
    await Promise.all(sources.map(async (source) => [source, await getAccount(read, source)] as const)),
  );
  const views = prepared.map(async ({ attempt: { hash, anchor }, fields }): Promise<[string, NodeView]> => {
    const { account = null, ledger = 0n } = accounts.get(sequenceUsed(fields, anchor).source) ?? {};
    const { lookup, isForeign } = await findEither(read, hash, fields.inner?.hash);
    refuseEarlier(lookup, ledger);
    return [hash, { ...lookup, used: account?.sequence ?? null, usedIn: account?.usedIn ?? ledger, isForeign }];
  });
  return new Map(await Promise.all(views));
}

/**
 * Looks for the transaction that was signed here. For a fee bump that is not found, looks for the client's transaction
 * inside it. The hash of the inner transaction also finds every fee bump around it. A ledger may close between the two
 * lookups. So where only the second one finds something, the first one is repeated.
 */
async function findEither(
  read: ReadFromEndpoint,
  hash: string,
  inner: string | undefined,
): Promise<{ lookup: TransactionLookup; isForeign: boolean }> {
  const own = await getTransaction(read, hash);
  if (own.inclusion !== null || inner === undefined) return { lookup: own, isForeign: false };
  const within = await getTransaction(read, inner);
  if (within.inclusion === null) return { lookup: within, isForeign: true };
  const again = await getTransaction(read, hash);
  refuseEarlier(again, within.inclusion.ledger);
  return again.inclusion === null ? { lookup: within, isForeign: true } : { lookup: again, isForeign: false };
}

/** Checks that the history reaches a ledger. Behind a gateway each call may reach another node. */
function refuseEarlier({ latest }: TransactionLookup, ledger: bigint): void {
  if (latest >= ledger) return;
  throw new EndpointUnfit(`its history ends at ledger ${latest}, before ${ledger}`, { pauseMs: 0 });
}

/** A node's opinion on the claim that an attempt is dead. */
function opinionOn({ attempt, fields }: PreparedAttempt, views: NodeViews): EndpointOpinion {
  const view = views.get(attempt.hash);
  if (view === undefined) return 'none';
  if (view.inclusion !== null) return 'other';
  const isForgotten = view.oldest > amountOf(fields.ledger) + 1n;
  const isTaken = isUsed(attempt, fields, view) && isSearched(view);
  return !isForgotten && (isLate(fields, view) || isTaken) ? 'same' : 'none';
}

/**
 * Whether the history goes beyond the ledger in which the sequence was used. Nodes look for the transaction first and
 * name their latest ledger after it (stellar-rpc pull request 619), so the last ledger that an answer names may not
 * have been searched.
 */
function isSearched({ latest, usedIn }: NodeView): boolean {
  return latest > usedIn;
}

/** Whether the attempt's time is over. A ledger that closes in the last second still takes it. */
function isLate({ max_time: end }: StellarFields, { closedAt }: NodeView): boolean {
  return amountOf(end) !== 0n && closedAt > amountOf(end);
}

function isUsed({ anchor }: Attempt, fields: StellarFields, { used }: NodeView): boolean {
  return used !== null && used >= sequenceUsed(fields, anchor).sequence;
}

interface Evidence {
  views: NodeViews;
  others: readonly NodeViews[];
  isAlone: boolean;
}

function observationOf(prepared: readonly PreparedAttempt[], evidence: Evidence): TransactionObservation {
  const { views, others, isAlone } = evidence;
  const onChain = prepared.filter(({ attempt }) => views.get(attempt.hash)?.inclusion);
  const isOurs = ({ attempt }: PreparedAttempt) => views.get(attempt.hash)?.isForeign === false;
  const found = onChain.find(isOurs) ?? onChain.at(-1);
  const view = found && views.get(found.attempt.hash);
  if (found !== undefined && view?.inclusion) return included(found, { ...view, inclusion: view.inclusion }, evidence);
  const isProved = (one: PreparedAttempt) => {
    const opinions = [views, ...others].map((seen) => opinionOn(one, seen));
    return isAlone ? opinions.includes('same') : proofByOpinions(opinions) === 'shown';
  };
  const living = new Set(livingAttempts(prepared.map(({ attempt }) => attempt)));
  const died = prepared.filter((one) => living.has(one.attempt) && isProved(one));
  if (died.length === 0) return OPEN;
  const taken = died.find(({ attempt, fields }) => {
    const view = views.get(attempt.hash);
    return view !== undefined && isUsed(attempt, fields, view);
  });
  if (died.length < living.size || taken === undefined) {
    return { kind: 'open', dead: died.map(({ attempt }) => attempt.ordinal) };
  }
  const { source, sequence } = sequenceUsed(taken.fields, taken.attempt.anchor);
  const reason =
    taken.fields.inner === undefined
      ? `Sequence ${sequence} was used by another transaction`
      : `Sequence ${sequence} of ${source} was used by another transaction, or before it was sent here`;
  return { kind: 'dead', anchor: 'used', reason };
}

function included(
  one: PreparedAttempt,
  { inclusion, isForeign }: NodeView & { inclusion: LedgerInclusion },
  { others, isAlone }: Evidence,
): TransactionObservation {
  const { attempt, fields } = one;
  const { ledger, succeeded, result, meta, events } = inclusion;
  const opinions = others.map((seen): EndpointOpinion => {
    const view = seen.get(attempt.hash);
    if (view === undefined) return 'none';
    if (view.inclusion !== null) {
      return view.inclusion.ledger === ledger && view.inclusion.succeeded === succeeded ? 'same' : 'other';
    }
    return view.oldest <= ledger && ledger <= view.latest ? 'other' : 'none';
  });
  // Where another envelope than ours landed, somebody else has paid the fee.
  const charged = isForeign ? 0n : result === undefined ? undefined : parseTransactionResult(result)?.feeCharged;
  const reason = succeeded ? null : failureReason(result, events);
  const isOfContracts = fields.contract !== undefined || fields.inner !== undefined;
  const returned = isOfContracts && meta !== undefined ? returnValueIn(meta) : undefined;
  const receipt: StellarReceipt = {
    ledger: jsonAmount(ledger),
    succeeded,
    ...(charged === undefined ? {} : { fee: jsonAmount(charged) }),
    ...(reason === null ? {} : { reason }),
    ...(isForeign && fields.inner !== undefined ? { hash: fields.inner.hash } : {}),
    ...(returned === undefined ? {} : { returned }),
  };
  return {
    kind: 'included',
    hash: attempt.hash,
    succeeded,
    final: isFinal(one, inclusion, { opinions, isAlone }),
    reason,
    fields: { ...fields, receipt },
  };
}

/** Whether the inclusion is final. Where no other endpoint can tell, the node has to show the transaction itself. */
function isFinal(
  { attempt, fields }: PreparedAttempt,
  inclusion: LedgerInclusion,
  { opinions, isAlone }: { opinions: readonly EndpointOpinion[]; isAlone: boolean },
): boolean {
  if (isAlone || opinions.some((opinion) => opinion !== 'none')) return isCorroborated(opinions);
  const hashes = [attempt.hash, ...(fields.inner === undefined ? [] : [fields.inner.hash])];
  return hashes.some((hash) => isEvidenced(inclusion, hash, fields.passphrase));
}

/**
 * Whether a node shows the transaction itself: its envelope has the hash, and its result agrees with the status. A text
 * that cannot be read, as of a newer protocol, is no evidence.
 */
export function isEvidenced(
  { envelope, result, succeeded }: LedgerInclusion,
  hash: string,
  passphrase: string,
): boolean {
  return hasHash(envelope, hash, passphrase) && isTransactionResultSuccess(result) === succeeded;
}

/** Whether an envelope has the hash. A fee bump also has the hash of the transaction inside it. */
function hasHash(text: string | undefined, hash: string, passphrase: string): boolean {
  try {
    if (text === undefined) return false;
    const envelope = xdr.TransactionEnvelope.fromXdr(text, 'base64');
    const outer = envelope.type === 'envelopeTypeTxFeeBump' ? [envelope.feeBump.tx] : [];
    const all = [readEnvelope(text).transaction, ...outer];
    return all.some((transaction) => transactionHash(transaction, passphrase).toString('hex') === hash);
  } catch {
    return false;
  }
}

/** The longest value that is kept of a node's answer: more than the network lets a contract return. */
const LONGEST = 64 * 1024;

/** The return value of a contract's function, in base64, from a transaction's meta; undefined where there is none. */
export function returnValueIn(meta: string): string | undefined {
  try {
    const read = xdr.TransactionMeta.fromXdr(meta, 'base64');
    const soroban = read.type === 'v4' ? read.v4.sorobanMeta : read.type === 'v3' ? read.v3.sorobanMeta : null;
    const value = soroban?.returnValue?.toXdr('base64');
    return value === undefined || value.length > LONGEST ? undefined : value;
  } catch {
    // The meta is of a newer protocol.
    return undefined;
  }
}
