import type { NewVersion } from '../chains/chain.ts';
import type { DecisionKind } from '../domain/decision.ts';
import type { Transaction } from '../domain/transaction.ts';
import type { VoidEnd } from '../domain/transaction-state.ts';
import { ageOf, applyToOpen, bySequence, isAside, type LaneStep, latestOf, observedOf, unmined } from './lane-step.ts';
import type { Change, OpenEntry } from './ledger.ts';
import { hasExpired, lifetimeOf } from './lifetime.ts';
import { type Renewal, signVersions, type Wanted } from './versions.ts';

/**
 * Decides for each transaction that is signed and in no block whether its latest version still stands, and signs the
 * next one where it does not: an empty one for what has expired, was canceled or is refused by every node; a dearer one
 * for what the network is silent about. A batch at most, so that what clients want is looked at before the next; what
 * nobody wants any more comes first.
 * @returns how many were tried
 */
export async function renew(step: LaneStep): Promise<number> {
  await applyToOpen(step, await voidings(step));
  const due = await dueVersions(step);
  const isBump = ({ version }: Wanted) => Number(version.purpose === 'bump');
  const batch = due.toSorted((one, other) => isBump(one) - isBump(other)).slice(0, step.timing.batch);
  if (batch.length === 0 || step.isEnding()) return 0;
  const renewals = await signVersions(step, batch);
  const changes = batch.flatMap((wanted, index) => unsigned(step, wanted, renewals[index] ?? { kind: 'later' }) ?? []);
  await applyToOpen(step, changes);
  return batch.length;
}

/** What becomes of one that was not signed, if anything. */
function unsigned(step: LaneStep, { entry, version }: Wanted, renewal: Renewal): Change | undefined {
  const { transaction } = entry;
  if (renewal.kind === 'signed' || renewal.kind === 'later') return undefined;
  // What is asked can never be in a block, dearer or not.
  if (renewal.kind === 'refused' && version.purpose === 'bump') {
    return asVoid(step, transaction, 'failed', 'refused', renewal.reason);
  }
  // The bytes that there are stay on offer.
  const cause = renewal.kind === 'refused' ? 'other' : renewal.cause;
  const isNew = step.offers.park(transaction, cause, step.elapsed() + step.timing.renewMs);
  if (transaction.voidAs !== null) return undefined;
  const decision = { kind: 'parked', text: renewal.reason } as const;
  return { transaction, set: { statusReason: renewal.reason }, ...(isNew ? { decision } : {}) };
}

async function dueVersions(step: LaneStep): Promise<Wanted[]> {
  const waiting = waitingForLower(step);
  const waits = (entry: OpenEntry) => waiting.has(entry) || step.planner.isStranded(entry.transaction.sequence);
  const due: Wanted[] = [];
  for (const entry of unmined(step)) {
    const version = await dueVersion(step, entry);
    if (version === undefined || step.offers.isResting(entry.transaction.id, step.elapsed())) continue;
    if (version.purpose === 'bump' && waits(entry)) continue;
    due.push({ entry, version, kind: version.purpose === 'void' ? 'voided' : 'bumped' });
  }
  return due;
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
