import type { NewAttempt } from '../../chains/client.ts';
import type { DecisionKind } from '../../domain/transaction/decision.ts';
import type { Transaction } from '../../domain/transaction/transaction.ts';
import type { NoopEnd } from '../../domain/transaction/transaction-state.ts';
import { type Renewal, signVersions, type Wanted } from './attempts/further-attempts.ts';
import { ageOf, applyToOpen, isAside, type LaneStep, latestOf, observedOf, unmined } from './lane-step.ts';
import type { Change, OpenEntry } from './ledger.ts';
import { hasExpired, lifetimeOf } from './lifetime.ts';

/**
 * Decides for each transaction that is signed and in no block whether its latest version still stands, and signs the
 * next one where it does not: an empty one for what has expired, was canceled or is refused by every node; a dearer one
 * for what the network is silent about. A batch at most, so that what clients want is looked at before the next; what
 * nobody wants any more comes first.
 * @returns how many were tried
 */
export async function renew(step: LaneStep): Promise<number> {
  await applyToOpen(step, await withdrawals(step));
  const due = await dueVersions(step);
  const isBump = ({ version }: Wanted) => Number(version.purpose === 'bump');
  const batch = due.toSorted((one, other) => isBump(one) - isBump(other)).slice(0, step.timing.batch);
  if (batch.length === 0 || step.life.isEnding()) return 0;
  const renewals = await signVersions(step, batch);
  const changes = batch.flatMap((wanted, index) => unsigned(step, wanted, renewals[index] ?? { kind: 'later' }) ?? []);
  await applyToOpen(step, changes);
  return batch.length;
}

/** What becomes of one that was not signed, if anything. */
function unsigned(step: LaneStep, { entry, version }: Wanted, renewal: Renewal): Change | undefined {
  const { transaction } = entry;
  if (renewal.kind === 'signed' || renewal.kind === 'later') return undefined;
  // No price would bring it into a block.
  if (renewal.kind === 'refused' && version.purpose === 'bump') {
    return withdraw(step, transaction, 'failed', 'refused', renewal.reason);
  }
  // The bytes that there are stay on offer.
  const cause = renewal.kind === 'refused' ? 'other' : renewal.cause;
  const isNew = step.memory.offers.park(transaction, cause, step.clock.elapsed() + step.timing.renewMs);
  if (transaction.noopEnd !== null) return undefined;
  const decision = { kind: 'parked', text: renewal.reason } as const;
  return { transaction, set: { statusReason: renewal.reason }, ...(isNew ? { decision } : {}) };
}

async function dueVersions(step: LaneStep): Promise<Wanted[]> {
  const waiting = waitingForLower(step);
  const due: Wanted[] = [];
  for (const entry of unmined(step)) {
    const version = await dueVersion(step, entry);
    if (version === undefined || step.memory.offers.isResting(entry.transaction.id, step.clock.elapsed())) continue;
    if (version.purpose === 'bump' && waiting.has(entry)) continue;
    if (!(await canReplace(step, entry, version.purpose))) continue;
    due.push({ entry, version, kind: version.purpose === 'noop' ? 'noop-signed' : 'bumped' });
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
  for (const entry of step.open.bySequence) {
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
async function withdrawals(step: LaneStep): Promise<Change[]> {
  const changes: Change[] = [];
  for (const { transaction } of unmined(step)) {
    if (transaction.noopEnd !== null) continue;
    if (await hasExpired(step, transaction)) {
      const reason = `${lifetimeOf(transaction)} before it was in a block`;
      changes.push(withdraw(step, transaction, 'expired', 'expired', reason));
    } else if (step.memory.offers.isHopeless(transaction.id, step.clock.elapsed(), step.timing.refusalMs)) {
      const reason = `No node takes it: ${transaction.statusReason ?? 'refused'}`;
      changes.push(withdraw(step, transaction, 'failed', 'refused', reason));
    }
  }
  return changes;
}

/** The decision that a transaction is to have no effect any more. */
export function withdraw(
  step: LaneStep,
  transaction: Transaction,
  noopEnd: NoopEnd,
  kind: DecisionKind,
  reason: string,
): Change {
  return {
    transaction,
    set: { noopEnd, statusReason: reason, nextActionAt: step.clock.now() },
    decision: { kind, text: reason },
  };
}

async function dueVersion(step: LaneStep, entry: OpenEntry): Promise<NewAttempt | undefined> {
  const latest = latestOf(entry);
  const { id, noopEnd } = entry.transaction;
  if (latest === undefined) return undefined;
  if (noopEnd !== null && latest.purpose !== 'noop') return { purpose: 'noop' };
  if (latest.purpose === 'noop') {
    // Nothing else can take the sequence, so one that is refused is made anew.
    const isRefused = step.memory.offers.isHopeless(id, step.clock.elapsed(), step.timing.refusalMs);
    if (isRefused) return { purpose: 'noop' };
  }
  if (!step.memory.offers.wantsDearer(id) && !(await isOverdue(step, entry))) return undefined;
  return { purpose: latest.purpose === 'noop' ? 'noop' : 'bump' };
}

/** Whether another attempt of the transaction can take the place of those that there are. */
export async function canReplace(step: LaneStep, entry: OpenEntry, purpose: NewAttempt['purpose']): Promise<boolean> {
  try {
    const { sender, ...observed } = await observedOf(step, entry);
    return sender.client.replacement?.can(observed, purpose) ?? false;
  } catch {
    // Its relayer or network is not there at the moment: nothing can be signed either.
    return false;
  }
}

/** Whether the network has been silent about the latest version for longer than it is usually. */
async function isOverdue(step: LaneStep, entry: OpenEntry): Promise<boolean> {
  const latest = latestOf(entry);
  if (latest === undefined || latest.acceptedAt === null) return false;
  try {
    const observed = await observedOf(step, entry);
    const silentFor = ageOf(step, entry.transaction.id, latest.acceptedAt);
    const { replacement } = observed.sender.client;
    return replacement !== undefined && silentFor >= replacement.patienceMs(observed);
  } catch {
    // Its relayer or network is not there at the moment: nothing can be priced either.
    return false;
  }
}
