import { type AnsweredIntent, type Case, isFaultless, judgeCases } from '../../test/support/model/judge.ts';
import type { ChainReading, Shown } from './chain.ts';
import type { Asked } from './client.ts';
import type { Intention } from './intention.ts';

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
  chain: ChainReading;
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
  /** What is left open on the accounts. */
  gaps: string[];
}

/** Judges a run by what the chain says. The service's answers are only held against it. */
export function judge(evidence: Evidence): Verdict {
  const { intentions, asked, shown, chain, replacements } = evidence;
  const listedByMark = Map.groupBy(shown, ({ effect }) => effect);
  const cases: Case[] = [];
  const doubled: string[] = [];
  for (const intention of intentions) {
    const known = asked.accepted.get(intention.index) ?? new Set<string>();
    const found = asked.unknown.has(intention.index) ? (listedByMark.get(intention.mark) ?? []) : [];
    const ids = new Set([...known, ...found.map(({ id }) => id)]);
    const living = intention.isOneByContent ? [...ids].filter((id) => !endedInVain(id, shown)) : [...ids];
    if (living.length > 1)
      doubled.push(`${nameOf(intention)}: one request, several transactions: ${living.join(', ')}`);
    for (const id of ids)
      cases.push({ ...caseOf(intention, id, evidence), ofOthers: hashesOfOthers(id, ids, evidence) });
  }
  const isRefused = (effect: string) => chain.isRefused(effect);
  const faults = judgeCases(cases, { executions: chain.executions, isRefused, now: Date.now() });
  const accepted = new Set(intentions.flatMap(({ index }) => [...(asked.accepted.get(index) ?? [])]));
  const accounts = chain.judgeAccounts(shown.filter(({ id }) => accepted.has(id)));
  return {
    accepted: cases.length,
    confirmed: cases.filter((one) => one.shown?.status === 'confirmed').length,
    lost: faults.lost,
    doubled: [...doubled, ...faults.doubled, ...judgeEffects([...intentions, ...replacements], chain)],
    wrong: [...faults.wrong, ...accounts.wrong],
    gaps: accounts.gaps,
  };
}

/** True when a run kept the promises. */
export function isKept({ lost, doubled, wrong, gaps }: Verdict): boolean {
  return isFaultless({ lost, doubled, wrong }) && gaps.length === 0;
}

/** What ended without an effect gives a client's bytes back: they may be posted once more. */
function endedInVain(id: string, shown: readonly Shown[]): boolean {
  const status = shown.find((one) => one.id === id)?.status;
  return status === 'expired' || status === 'canceled' || status === 'failed';
}

/** What else was made of one request. What was offered under its own hash is its own. */
function hashesOfOthers(id: string, ids: ReadonlySet<string>, { shown }: Evidence): Set<string> {
  const own = shown.find((one) => one.id === id)?.hash;
  const others = shown.filter((one) => one.id !== id && ids.has(one.id));
  return new Set(others.flatMap(({ hash }) => (hash === null || hash === own ? [] : hash)));
}

function caseOf(intention: Intention, id: string, { asked, intents, shown, endedAt, chain }: Evidence): Case {
  const one = shown.find((other) => other.id === id);
  const ends = [asked.validUntil.get(intention.index), chain.diedAt.get(intention.index)];
  const validUntil = Math.min(...ends.map((end) => end ?? Number.POSITIVE_INFINITY));
  return {
    name: `${nameOf(intention)} (${id})`,
    effect: intention.mark,
    validUntil: validUntil === Number.POSITIVE_INFINITY ? null : validUntil,
    intents: intents.get(id) ?? [],
    shown: one && { ...one, endedAt: endedAt.get(id) ?? null },
  };
}

/** The state must have what the blocks say, and nothing more. */
function judgeEffects(intentions: readonly Intention[], { executions, effects }: ChainReading): string[] {
  const byMark = Map.groupBy(executions, ({ effect }) => effect);
  return intentions.flatMap((intention) => {
    const executed = (byMark.get(intention.mark) ?? []).filter(({ succeeded }) => succeeded).length;
    const found = effects.get(intention.index) ?? 0n;
    return found === BigInt(executed) ? [] : [`${nameOf(intention)}: executed ${executed} times, ${found} effects`];
  });
}

function nameOf({ index, kind, relayerId }: Intention): string {
  return `${kind} ${index} of ${relayerId}`;
}
