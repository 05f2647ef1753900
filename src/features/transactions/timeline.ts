import { isDeepStrictEqual } from 'node:util';
import type { Chain } from '../../chains/chain.ts';
import type { WireObject } from '../../domain/json/json.ts';
import { wireTime } from '../../domain/wire-time.ts';
import type { Attempt } from './records/attempt.ts';
import type { IntentOutcome } from './records/intent.ts';
import type { Decision } from './records/timeline-decision.ts';
import type { Timestamp, Transaction } from './records/transaction.ts';
import { isFinal } from './records/transaction-state.ts';

/** The most events in a timeline. If there are more, it shows the first and the latest. */
export const TIMELINE_EVENTS = 500;

/** The stored records of a transaction's history. */
export interface TimelineRecords {
  transaction: Transaction;
  attempts: readonly Attempt[];
  decisions: readonly Decision[];
  intents: readonly IntentOutcome[];
  endedAt: Timestamp | null;
}

interface TimelineEvent {
  at: Timestamp;
  event: string;
  [detail: string]: WireObject[string];
}

/** Everything that happened to a transaction, oldest first, in the form of the timeline endpoint. */
export function timelineOf(
  course: TimelineRecords,
  chain: Pick<Chain, 'attemptView' | 'inclusionView' | 'transactionView'>,
): WireObject {
  const { transaction } = course;
  const [first, ...later] = [
    { at: transaction.createdAt, event: 'accepted' },
    ...[
      ...course.intents.flatMap(ofIntent),
      ...course.attempts.flatMap((attempt) => ofAttempt(attempt, chain)),
      ...course.decisions.map(ofDecision),
      ...ofEnd(course, chain),
    ].toSorted((a, b) => a.at - b.at),
  ];
  const shown = [first, ...later.slice(-(TIMELINE_EVENTS - 1))].filter((event) => event !== undefined);
  return {
    transaction_id: transaction.id,
    status: transaction.status,
    inclusion: chain.inclusionView?.(transaction) ?? null,
    original: originalOf(course, chain),
    events: shown.map(({ at, ...event }) => ({ at: wireTime(at), ...event })),
    omitted: later.length + 1 - shown.length,
  };
}

/**
 * What the client asked for, where the transaction shows a noop in its place: the fields of its view that the noop
 * changed. Null otherwise.
 */
function originalOf(
  { transaction, attempts }: TimelineRecords,
  chain: Pick<Chain, 'transactionView'>,
): WireObject | null {
  const original = attempts.findLast(({ purpose }) => purpose !== 'noop');
  if (transaction.noopEnd === null || original === undefined) return null;
  if (isDeepStrictEqual(original.request, transaction.request)) return null;
  const now = chain.transactionView(transaction);
  const before = Object.entries(chain.transactionView({ ...transaction, request: original.request }));
  return Object.fromEntries(before.filter(([name, value]) => !isDeepStrictEqual(value, now[name])));
}

function ofIntent({ kind, createdAt, settledAt, refusal }: IntentOutcome): TimelineEvent[] {
  const requested = { at: createdAt, event: `${kind}_requested` };
  return refusal === null
    ? [requested]
    : [requested, { at: settledAt ?? createdAt, event: `${kind}_refused`, text: refusal }];
}

function ofAttempt(attempt: Attempt, chain: Pick<Chain, 'attemptView'>): TimelineEvent[] {
  const { ordinal: version, hash, purpose, createdAt, acceptedAt, acceptedBy } = attempt;
  const content = chain.attemptView?.(attempt);
  const signed = { at: createdAt, event: 'signed', version, purpose, hash, ...(content && { content }) };
  if (acceptedAt === null) return [signed];
  // An attempt that was first seen in a block has no known endpoint.
  const by = acceptedBy == null ? {} : { endpoint: acceptedBy };
  return [signed, { at: acceptedAt, event: 'submitted', version, hash, ...by }];
}

function ofDecision({ at, kind, text }: Decision): TimelineEvent {
  return { at, event: 'decided', decision: kind, text };
}

function ofEnd({ transaction, endedAt }: TimelineRecords, chain: Pick<Chain, 'inclusionView'>): TimelineEvent[] {
  const { status, statusReason, confirmedAt, hash } = transaction;
  const at = endedAt ?? confirmedAt;
  if (!isFinal(status) || at === null) return [];
  const inclusion = chain.inclusionView?.(transaction) ?? null;
  const why = { ...(statusReason !== null && { text: statusReason }), ...(inclusion !== null && { inclusion }) };
  return [{ at, event: 'ended', status, hash, ...why }];
}
