import { amountOf, jsonAmount } from '../../domain/amount.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import type { ReadFromEndpoint, RpcClient } from '../../egress/rpc/rpc-client.ts';
import { type Attempt, livingAttempts } from '../../features/transactions/records/attempt.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import type { ObservedTransaction, TransactionObservation } from '../chain-client.ts';
import { answersInTime, type EndpointOpinion, isCorroborated } from '../quorum.ts';
import { transactionErrorText } from './errors.ts';
import { programsOf } from './guard/policies.ts';
import { assertStatusesReach, type ExpiryVerdicts, findDeadAttempts, type UnseenAttempt } from './inclusion/expiry.ts';
import { decodeMessage } from './message/compiled-message.ts';
import {
  type ChainTip,
  chainTip,
  firstAvailableBlock,
  getTransaction,
  isWithoutHistory,
  knownStatuses,
  type SignatureStatus,
} from './rpc-calls.ts';
import { readChainFields, readStoredRequest, type SolanaReceipt } from './schema.ts';

const OPEN: TransactionObservation = { kind: 'open' };

const FAILED = 'failed on chain';

/** How many of a failed transaction's last log lines are kept. The failure stands at the end of the logs. */
const LINES_KEPT = 50;

/** What one node shows at one look. */
interface View {
  /** The end of the node's final chain. It is read before the statuses, so the statuses cover every block below it. */
  final: ChainTip;
  /** The slot up to which the statuses go. */
  slot: bigint;
  statuses: ReadonlyMap<string, SignatureStatus>;
  /** Whether the statuses cover the node's whole history. */
  isWhole: boolean;
}

/**
 * Observes each transaction on one node's chain. An attempt is dead when the node has no status of it, the node's final
 * blocks are past the last block that could take the attempt, and the node's history goes back to before the attempt
 * was signed. A second endpoint, where there is one, has to show the same.
 */
export async function observeTransactions(
  rpc: RpcClient,
  entries: readonly ObservedTransaction[],
): Promise<TransactionObservation[]> {
  const unseen = entries.map(({ attempts }) => attempts.map(queryOf));
  const all = unseen.flat();
  if (all.length === 0) return entries.map(() => OPEN);
  const hashes = all.map(({ attempt }) => attempt.hash);
  return rpc.onOne(async (read) => {
    const view = await viewOf(read, hashes);
    const missing = all.filter(({ attempt: { deadAt, hash } }) => deadAt === null && !view.statuses.has(hash));
    const [{ dead, unproved }, finals] = await Promise.all([
      findDeadAttempts(rpc, read, view.final, missing),
      finalAmong(rpc, read, view, hashes),
    ]);
    return Promise.all(
      entries.map((entry, index) => observationOf(read, entry, unseen[index] ?? [], { view, dead, unproved, finals })),
    );
  });
}

function queryOf(attempt: Attempt): UnseenAttempt {
  const fields = readChainFields(attempt.fields);
  if (fields === undefined) throw new TypeError('a signed attempt was prepared');
  return { attempt, fields };
}

async function viewOf(read: ReadFromEndpoint, hashes: readonly string[]): Promise<View> {
  const final = await chainTip(read, 'finalized');
  const { slot, statuses, isWhole } = await knownStatuses(read, hashes);
  assertStatusesReach(slot, final.slot);
  const known = hashes.flatMap((hash, index): [string, SignatureStatus][] => {
    const status = statuses[index] ?? null;
    return status === null ? [] : [[hash, status]];
  });
  return { final, slot, statuses: new Map(known), isWhole };
}

/**
 * The hashes that are final on this node and that the other endpoints bear out. Where no other endpoint can tell, the
 * node has to show the transaction itself, and it has to match the status.
 */
async function finalAmong(
  rpc: RpcClient,
  read: ReadFromEndpoint,
  view: View,
  hashes: readonly string[],
): Promise<ReadonlySet<string>> {
  const claimed = hashes.filter((hash) => isFinal(view.statuses.get(hash)));
  if (claimed.length === 0 || rpc.endpointCount < 2) return new Set(claimed);
  const others = await answersInTime(
    rpc.onOthers(read, async (other) => ({
      view: await viewOf(other, claimed),
      first: await firstAvailableBlock(other),
    })),
  );
  const hold = await Promise.all(
    claimed.map(async (hash) => {
      const claim = view.statuses.get(hash);
      if (claim === undefined) return false;
      const opinions = others.map(({ view: { statuses, final, isWhole }, first }): EndpointOpinion => {
        const told = statuses.get(hash);
        if (told !== undefined) return isAlike(told, claim) ? 'same' : 'other';
        const covers = isWhole && first !== undefined && first <= claim.slot && claim.slot <= final.slot;
        return covers ? 'other' : 'none';
      });
      return opinions.every((opinion) => opinion === 'none') ? isShown(read, hash, claim) : isCorroborated(opinions);
    }),
  );
  return new Set(claimed.filter((_hash, index) => hold[index]));
}

/** What a status, or the transaction itself, says of the inclusion in a block. */
type Inclusion = Pick<SignatureStatus, 'slot' | 'error'>;

function isAlike(one: Inclusion, other: Inclusion): boolean {
  return one.slot === other.slot && hasFailed(one) === hasFailed(other);
}

/**
 * Whether the node shows the transaction as its status claims. A node that keeps no transactions cannot be asked, and
 * passes.
 */
async function isShown(read: ReadFromEndpoint, hash: string, claim: Inclusion): Promise<boolean> {
  try {
    const found = await getTransaction(read, hash, 'finalized');
    return found !== null && isAlike(found, claim);
  } catch (error) {
    return isWithoutHistory(error);
  }
}

function hasFailed({ error }: Inclusion): boolean {
  return error !== null;
}

function isFinal(status: SignatureStatus | undefined): boolean {
  return status?.commitment === 'finalized';
}

interface Findings {
  view: View;
  dead: ReadonlySet<Attempt>;
  unproved: ExpiryVerdicts['unproved'];
  finals: ReadonlySet<string>;
}

async function observationOf(
  read: ReadFromEndpoint,
  entry: ObservedTransaction,
  unseen: readonly UnseenAttempt[],
  { view, dead, unproved, finals }: Findings,
): Promise<TransactionObservation> {
  for (const one of unseen) {
    const status = view.statuses.get(one.attempt.hash);
    if (status !== undefined && counts(entry, status)) {
      return included(read, entry, one, { status, isFinal: finals.has(one.attempt.hash) });
    }
  }
  const living = livingAttempts(unseen.map(({ attempt }) => attempt));
  const died = living.filter((attempt) => dead.has(attempt));
  if (died.length === 0) {
    const reason = living.every((attempt) => unproved.has(attempt)) ? unproved.get(living[0]) : undefined;
    return asSeen(entry, view) ?? (reason === undefined ? OPEN : { kind: 'open', reason });
  }
  const nonce = unseen.find(({ attempt, fields }) => dead.has(attempt) && fields.nonce_account !== undefined);
  if (died.length === living.length && nonce !== undefined) {
    return {
      kind: 'dead',
      anchor: 'used',
      reason: `Nonce account ${nonce.fields.nonce_account} was advanced by another transaction`,
    };
  }
  return { kind: 'open', dead: died.map(({ ordinal }) => ordinal) };
}

/**
 * Whether a status counts as an inclusion. The chain often drops a block that is only processed. So its status counts
 * only where the transaction was seen in the same slot before.
 */
function counts({ transaction }: ObservedTransaction, { commitment, slot }: SignatureStatus): boolean {
  return commitment !== 'processed' || receiptAt(transaction)?.slot === jsonAmount(slot);
}

/**
 * The inclusion that was seen before, where this node can neither confirm nor deny it: the node has not reached that
 * slot, or keeps no history. The transaction may still be in a block.
 */
function asSeen({ transaction }: ObservedTransaction, { slot, isWhole }: View): TransactionObservation | undefined {
  const receipt = receiptAt(transaction);
  const { hash, fields } = transaction;
  if (hash === null || receipt === undefined) return undefined;
  if (isWhole && slot >= amountOf(receipt.slot)) return undefined;
  const { succeeded, reason = FAILED } = receipt;
  return { kind: 'included', hash, succeeded, final: false, reason: succeeded ? null : reason, fields };
}

/**
 * The receipt of a transaction that counts as being in a block. A transaction that a fork took back still has its old
 * receipt.
 */
function receiptAt({ status, fields }: Transaction): SolanaReceipt | undefined {
  return status === 'mined' ? readChainFields(fields)?.receipt : undefined;
}

async function included(
  read: ReadFromEndpoint,
  { transaction }: ObservedTransaction,
  { attempt, fields }: UnseenAttempt,
  { status, isFinal: final }: { status: SignatureStatus; isFinal: boolean },
): Promise<TransactionObservation> {
  const known = receiptAt(transaction);
  const receipt =
    known !== undefined && transaction.hash === attempt.hash && isOf(known, status)
      ? known
      : await receiptOf(read, transaction.request, { attempt, fields }, status);
  return {
    kind: 'included',
    hash: attempt.hash,
    succeeded: receipt.succeeded,
    final,
    reason: receipt.succeeded ? null : (receipt.reason ?? FAILED),
    fields: { ...fields, receipt },
  };
}

/**
 * Whether the stored receipt matches this status and is complete. Another endpoint may have lied when it was stored.
 */
function isOf({ slot, succeeded, fee }: SolanaReceipt, status: SignatureStatus): boolean {
  return amountOf(slot) === status.slot && succeeded === !hasFailed(status) && (succeeded || fee !== undefined);
}

/** The receipt of an inclusion. The receipt of a failed transaction also has the reason and the logs. */
async function receiptOf(
  read: ReadFromEndpoint,
  request: JsonObject,
  { attempt, fields }: UnseenAttempt,
  { slot, error }: SignatureStatus,
): Promise<SolanaReceipt> {
  if (error === null) return { slot: jsonAmount(slot), succeeded: true };
  // One more call finds the reason. If that call fails, the look still succeeds.
  const found = await getTransaction(read, attempt.hash).catch(() => null);
  const logs = found?.logs.slice(-LINES_KEPT) ?? [];
  const { errors = [] } = readStoredRequest(request);
  const programs = programsOf(decodeMessage(Buffer.from(fields.message, 'base64')));
  return {
    slot: jsonAmount(slot),
    succeeded: false,
    ...(found?.fee == null ? {} : { fee: jsonAmount(found.fee) }),
    logs,
    reason: transactionErrorText(error, { logs, programs, errors }),
  };
}
