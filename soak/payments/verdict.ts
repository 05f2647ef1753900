import {
  type AnsweredIntent,
  type Case,
  type Execution,
  isFaultless,
  judgeCases,
  type Shown as Outcome,
} from '../../test/support/model/judge.ts';
import type { ChainEntry, ChainRecord } from './chain-record.ts';
import type { Asked } from './client.ts';
import type { Intention } from './plan.ts';

/** A transaction as the API shows it, as far as the verdict looks at it. */
export interface Shown {
  id: string;
  status: string;
  status_reason: string | null;
  nonce: number | null;
  hash: string | null;
  to: string | null;
  data: string | null;
}

export interface Evidence {
  intentions: readonly Intention[];
  asked: Asked;
  /** What was asked of transactions after they were accepted, by id, and what came of it. */
  intents: ReadonlyMap<string, readonly AnsweredIntent[]>;
  /** What was to take the place of some. */
  replacements: readonly Intention[];
  /** The last that the API showed of each; those that ended long ago may be gone from it. */
  shown: readonly Shown[];
  /** When they ended, by id, in milliseconds since the epoch; those of which that is not known are left out. */
  endedAt: ReadonlyMap<string, number>;
  chain: ChainRecord;
  /** Hashes of what was sent past the service, with the keys of its accounts. */
  foreign: ReadonlySet<string>;
}

/** What is wrong, one sentence for each case; all lists are empty when the promises were kept. */
export interface Verdict {
  accepted: number;
  confirmed: number;
  /** Accepted, and unknown to the API or without an end. */
  lost: string[];
  /** More than one effect, or one that nobody asked for. */
  doubled: string[];
  /** An end, or an answer, that the chain contradicts or that has no cause. */
  wrong: string[];
  /** Nonces that are left open, and what waits in the pool. */
  gaps: string[];
}

/** Judges a run by what the chain says. The service's answers are only held against it. */
export function judge(evidence: Evidence): Verdict {
  const { intentions, asked, shown, chain, replacements } = evidence;
  const listedByMark = Map.groupBy(shown, markOf);
  const cases: Case[] = [];
  const doubled: string[] = [];
  for (const intention of intentions) {
    const known = asked.accepted.get(intention.index) ?? new Set<string>();
    const found = asked.unknown.has(intention.index) ? (listedByMark.get(markOf(intention)) ?? []) : [];
    const ids = new Set([...known, ...found.map(({ id }) => id)]);
    if (ids.size > 1) doubled.push(`${nameOf(intention)}: one key, ${ids.size} transactions: ${[...ids].join(', ')}`);
    for (const id of ids) cases.push(caseOf(intention, id, evidence));
  }
  const executions = chain.entries.map((entry) => executionOf(entry, evidence.foreign));
  // A soak's network takes what is asked of it: nothing of it fails for what it is.
  const faults = judgeCases(cases, { executions, isRefused: () => false, now: Date.now() });
  const [gaps, twice] = judgeAccounts(evidence);
  return {
    accepted: cases.length,
    confirmed: cases.filter((one) => one.shown?.status === 'confirmed').length,
    lost: faults.lost,
    doubled: [...doubled, ...faults.doubled, ...judgeEffects([...intentions, ...replacements], chain)],
    wrong: [...faults.wrong, ...twice],
    gaps,
  };
}

/** True when a run kept the promises. */
export function isKept({ lost, doubled, wrong, gaps }: Verdict): boolean {
  return isFaultless({ lost, doubled, wrong }) && gaps.length === 0;
}

/** What only one request of the run has: the receiver of a payment, the data of a call. */
export function markOf({ to, data }: { to: string | null; data: string | null }): string {
  return `${to?.toLowerCase()} ${(data ?? '0x').toLowerCase()}`;
}

function caseOf(intention: Intention, id: string, { asked, intents, shown, endedAt }: Evidence): Case {
  const one = shown.find((other) => other.id === id);
  return {
    name: `${nameOf(intention)} (${id})`,
    effect: markOf(intention),
    validUntil: asked.validUntil.get(intention.index) ?? null,
    intents: intents.get(id) ?? [],
    shown: one && outcomeOf(one, intention.from, endedAt.get(id) ?? null),
  };
}

function outcomeOf(shown: Shown, from: string, endedAt: number | null): Outcome {
  return {
    status: shown.status,
    reason: shown.status_reason,
    hash: shown.hash?.toLowerCase() ?? null,
    effect: markOf(shown),
    anchor: shown.nonce === null ? null : anchorOf(from, shown.nonce),
    endedAt,
  };
}

function executionOf(entry: ChainEntry, foreign: ReadonlySet<string>): Execution {
  return {
    hash: entry.hash,
    effect: isNoop(entry) ? null : markOf(entry),
    anchor: anchorOf(entry.from, entry.nonce),
    succeeded: entry.succeeded,
    isForeign: foreign.has(entry.hash),
  };
}

/** The state must have what the blocks say, and nothing more. */
function judgeEffects(intentions: readonly Intention[], chain: ChainRecord): string[] {
  const byMark = Map.groupBy(chain.entries, markOf);
  return intentions.flatMap((intention) => {
    const executed = (byMark.get(markOf(intention)) ?? []).filter(({ succeeded }) => succeeded).length;
    const effects = chain.effects.get(intention.index) ?? 0n;
    return effects === BigInt(executed) ? [] : [`${nameOf(intention)}: executed ${executed} times, ${effects} effects`];
  });
}

/** Nonces that are left open, and those that several transactions show. */
function judgeAccounts({ shown, chain, intentions, asked }: Evidence): [gaps: string[], twice: string[]] {
  const gaps = chain.pool > 0 ? [`${chain.pool} transactions wait in the pool`] : [];
  const shownTwice: string[] = [];
  const fromOf = new Map(
    intentions.flatMap(({ index, from }) => [...(asked.accepted.get(index) ?? [])].map((id) => [id, from] as const)),
  );
  for (const [address, { mined, pending }] of chain.accounts) {
    const used = shown.flatMap(({ id, nonce }) => (nonce !== null && fromOf.get(id) === address ? [nonce] : []));
    const next = Math.max(-1, ...used) + 1;
    // Above the highest that is shown there may be some that belong to no transaction of the service.
    if (next > mined) gaps.push(`${address}: nonce ${next - 1} was signed, ${mined} are mined`);
    if (pending !== mined) gaps.push(`${address}: ${mined} are mined, the node counts ${pending}`);
    const twice = used.filter((nonce, index) => used.indexOf(nonce) !== index);
    if (twice.length > 0) shownTwice.push(`${address}: several transactions show nonces ${twice.join(', ')}`);
  }
  return [gaps, shownTwice];
}

/** A transaction that takes a nonce and does nothing. */
function isNoop({ from, to, value, data }: ChainEntry): boolean {
  return to === from && value === 0n && data === '0x';
}

function anchorOf(from: string, nonce: number): string {
  return `${from} ${nonce}`;
}

function nameOf({ index, kind, relayerId }: Intention): string {
  return `${kind} ${index} of ${relayerId}`;
}
