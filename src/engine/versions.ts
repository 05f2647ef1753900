import type { NewVersion, VersionPreparation } from '../chains/chain.ts';
import type { DecisionKind } from '../domain/decision.ts';
import { messageOf } from '../domain/errors.ts';
import type { Transaction } from '../domain/transaction.ts';
import type { VoidEnd } from '../domain/transaction-state.ts';
import { LeaseLost } from '../store/lease.ts';
import type { TransactionChange } from '../store/store.ts';
import { versionShortage } from './budgets.ts';
import {
  ageOf,
  applyToOpen,
  askAny,
  bySequence,
  isAside,
  type LaneStep,
  latestOf,
  observedOf,
  unmined,
} from './lane-step.ts';
import type { Change, OpenEntry } from './ledger.ts';
import { hasExpired, lifetimeOf } from './lifetime.ts';
import type { ParkCause } from './offer-book.ts';
import { committedCost } from './pricing.ts';
import { storeUnlike } from './unlike.ts';

/** A version that was signed and stored, or why there is none. */
export type Renewal =
  | { kind: 'signed' }
  | { kind: 'refused'; reason: string }
  | { kind: 'not now'; reason: string; cause: ParkCause };

/** Versions that are signed at once when nodes ask for more; beyond them each waits, for a node may ask for ever. */
const QUICK_VERSIONS = 8;

/**
 * Decides for each transaction that is signed and in no block whether its latest version still stands, and signs the
 * next one where it does not: an empty one for what has expired, was canceled or is refused by every node; a dearer one
 * for what the network is silent about. The sequence stays, so at most one version takes effect.
 * @returns how many were signed
 */
export async function renew(step: LaneStep): Promise<number> {
  await applyToOpen(step, await voidings(step));
  const waiting = waitingForLower(step);
  const waits = (entry: OpenEntry) => waiting.has(entry) || step.planner.isStranded(entry.transaction.sequence);
  let done = 0;
  for (const entry of unmined(step)) {
    if (step.isEnding()) break;
    const version = await dueVersion(step, entry);
    if (version === undefined || step.offers.isResting(entry.transaction.id, step.elapsed())) continue;
    if (version.purpose === 'bump' && waits(entry)) continue;
    const kind = version.purpose === 'void' ? 'voided' : 'bumped';
    const renewal = await signVersion(step, entry, version, { kind });
    if (renewal.kind === 'signed') done += 1;
    else if (renewal.kind === 'refused' && version.purpose === 'bump') await giveUp(step, entry, renewal.reason);
    else await putOff(step, entry, renewal);
  }
  return done;
}

/**
 * Those that no price brings into a block now: below them a sequence is missing, or its transaction is one that no node
 * has taken. What they wait for is its turn.
 */
function waitingForLower(step: LaneStep): Set<OpenEntry> {
  const waiting = new Set<OpenEntry>();
  let [next, isBlocked]: [bigint | null, boolean] = [null, false];
  for (const entry of bySequence([...step.open.values()])) {
    const { sequence, status } = entry.transaction;
    if (sequence === null || isAside(step, entry)) continue;
    isBlocked ||= next !== null && sequence > next;
    if (isBlocked) waiting.add(entry);
    isBlocked ||= status !== 'mined' && latestOf(entry)?.acceptedAt === null;
    next = sequence + 1n;
  }
  return waiting;
}

/** Those whose effect nobody wants any more, or nobody will take: from here on only an empty version is offered. */
async function voidings(step: LaneStep): Promise<Change[]> {
  const changes: Change[] = [];
  for (const { transaction } of unmined(step)) {
    if (transaction.voidAs !== null) continue;
    if (await hasExpired(step, transaction)) {
      const reason = `${lifetimeOf(transaction)} before it was in a block`;
      changes.push(asVoid(step, transaction, 'expired', 'expired', reason));
    } else if (step.offers.isHopeless(transaction.id, step.elapsed(), step.timing.refusalMs)) {
      const reason = `No node takes it: ${transaction.statusReason ?? 'refused'}`;
      changes.push(asVoid(step, transaction, 'failed', 'refused', reason));
    }
  }
  return changes;
}

/** What is asked can never be in a block, dearer or not. */
async function giveUp(step: LaneStep, { transaction }: OpenEntry, reason: string): Promise<void> {
  await applyToOpen(step, [asVoid(step, transaction, 'failed', 'refused', reason)]);
}

/** The decision that a transaction is to have no effect any more. */
export function asVoid(
  step: LaneStep,
  transaction: Transaction,
  voidAs: VoidEnd,
  kind: DecisionKind,
  reason: string,
): Change {
  return {
    transaction,
    set: { voidAs, statusReason: reason, nextActionAt: step.now() },
    decision: { kind, text: reason },
  };
}

async function dueVersion(step: LaneStep, entry: OpenEntry): Promise<NewVersion | undefined> {
  const latest = latestOf(entry);
  const { id, voidAs } = entry.transaction;
  if (latest === undefined) return undefined;
  if (voidAs !== null && latest.purpose !== 'void') return { purpose: 'void' };
  if (latest.purpose === 'void') {
    // Nothing else can take the sequence, so one that is refused is made anew.
    const isRefused = step.offers.isHopeless(id, step.elapsed(), step.timing.refusalMs);
    if (isRefused) return { purpose: 'void' };
  }
  if (!step.offers.wantsDearer(id) && !(await isOverdue(step, entry))) return undefined;
  return { purpose: latest.purpose === 'void' ? 'void' : 'bump' };
}

/** Whether the network has been silent about the latest version for longer than it is usually. */
async function isOverdue(step: LaneStep, entry: OpenEntry): Promise<boolean> {
  const latest = latestOf(entry);
  if (latest === undefined || latest.acceptedAt === null) return false;
  try {
    const observed = await observedOf(step, entry);
    const silentFor = ageOf(step, entry.transaction.id, latest.acceptedAt);
    return silentFor >= observed.sender.client.patienceMs(observed);
  } catch {
    // Its relayer or network is not there at the moment: nothing can be priced either.
    return false;
  }
}

/** What is committed together with a further version. */
export interface Renewing {
  kind: DecisionKind;
  /** The intent that is carried out with it. */
  settles?: number;
  set?: Pick<TransactionChange, 'validUntil'>;
}

/** Prices, signs and stores one more version of a transaction. Nothing leaves the process here. */
export async function signVersion(
  step: LaneStep,
  entry: OpenEntry,
  version: NewVersion,
  renewing: Renewing,
): Promise<Renewal> {
  const { transaction, attempts } = entry;
  try {
    const { sender, ...observed } = await observedOf(step, entry);
    const committed = await committedCost(step);
    const prepared: VersionPreparation = await askAny(step, sender.client, (client) =>
      client.prepareVersion(observed, version, { committed }),
    );
    if (prepared.kind === 'refused') return prepared;
    if (prepared.kind === 'parked') {
      return { kind: 'not now', reason: prepared.reason, cause: prepared.cause ?? 'other' };
    }
    const { sequence } = transaction;
    if (sequence === null) throw new Error('a transaction without a sequence has no versions');
    const { request } = prepared;
    const short = await versionShortage(step, sender.chain, transaction, prepared, version.purpose);
    if (short !== undefined) return { kind: 'not now', reason: short, cause: 'budget' };
    return await storeUnlike(sender.chain, prepared.fields, async (fields) => {
      const signed = await sender.client.sign({ ...transaction, request }, fields, sequence, await sender.signer());
      step.reach('renewed');
      return await store(step, entry, { version, request, signed, renewing });
    });
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    step.log.warn(
      { err: error, transaction: transaction.id, lane: step.key, attempts: attempts.length },
      'no new version',
    );
    return { kind: 'not now', reason: messageOf(error), cause: 'error' };
  }
}

interface SignedRenewal {
  version: NewVersion;
  request: Transaction['request'];
  signed: { raw: string; hash: string; fields: Transaction['fields'] };
  renewing: Renewing;
}

/** The write-ahead of a further version: the earlier ones stay stored, for one of them may be the one that counts. */
async function store(step: LaneStep, { transaction, attempts }: OpenEntry, renewal: SignedRenewal): Promise<Renewal> {
  const { version, request, signed, renewing } = renewal;
  const { kind, settles } = renewing;
  const now = step.now();
  const attempt = {
    transactionId: transaction.id,
    ordinal: (attempts.at(-1)?.ordinal ?? 0) + 1,
    lane: step.key,
    sequence: transaction.sequence ?? 0n,
    purpose: version.purpose,
    request,
    ...signed,
    createdAt: now,
    acceptedAt: null,
  };
  const set = {
    hash: signed.hash,
    request,
    fields: signed.fields,
    ...(transaction.voidAs === null ? { statusReason: null } : {}),
    ...renewing.set,
    nextActionAt: now,
  };
  const decision = { kind, text: `Version ${attempt.ordinal} signed: ${signed.hash}` };
  const stored = { transaction, set, attempt, decision, ...(settles === undefined ? {} : { settles }) };
  if (!(await step.ledger.record([stored]))) {
    return { kind: 'not now', reason: 'it has changed meanwhile', cause: 'other' };
  }
  step.offers.renewed(transaction.id);
  if (attempt.ordinal >= QUICK_VERSIONS) {
    step.offers.restUntil(transaction.id, step.elapsed() + step.timing.reofferMs);
  }
  step.open.set(transaction.id, { transaction: { ...transaction, ...set }, attempts: [...attempts, attempt] });
  step.reach('rewritten');
  return { kind: 'signed' };
}

/** A version that cannot be made now: the bytes that there are stay on offer. */
async function putOff(
  step: LaneStep,
  { transaction }: OpenEntry,
  renewal: Exclude<Renewal, { kind: 'signed' }>,
): Promise<void> {
  const { reason } = renewal;
  const cause = renewal.kind === 'refused' ? 'other' : renewal.cause;
  const isNew = step.offers.park(transaction, cause, step.elapsed() + step.timing.renewMs);
  if (transaction.voidAs !== null) return;
  const decision = { kind: 'parked', text: reason } as const;
  await applyToOpen(step, [{ transaction, set: { statusReason: reason }, ...(isNew ? { decision } : {}) }]);
}
