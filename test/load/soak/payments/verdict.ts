import { type AnsweredIntent, type Case, isFaultless, judgeCases } from '../../../support/model/judge.ts';
import type { ChainReading, Shown } from './chain.ts';
import type { Asked } from './client.ts';
import type { Intention } from './intention.ts';

export interface Evidence {
  intentions: readonly Intention[];
  asked: Asked;
  /** Later requests about accepted transactions and their outcomes, by the transaction's id. */
  intents: ReadonlyMap<string, readonly AnsweredIntent[]>;
  /** Requests that were to replace transactions. */
  replacements: readonly Intention[];
  /** The last state of each that the API showed. It may no longer list those that ended long ago. */
  shown: readonly Shown[];
  /** When they ended, by id, in milliseconds since the epoch; absent if that is not known. */
  endedAt: ReadonlyMap<string, number>;
  chain: ChainReading;
}

/** The errors found, one sentence for each case. All lists are empty if the promises were kept. */
export interface Verdict {
  accepted: number;
  confirmed: number;
  /** Accepted transactions that the API does not know, or that have no end. */
  lost: string[];
  /** More than one effect, or an effect that nobody requested. */
  doubled: string[];
  /** An end or an answer that contradicts the chain or has no cause. */
  wrong: string[];
  /** Accounts with unfinished sequences, or with payments that their transactions do not explain. */
  gaps: string[];
}

/** Judges a run by the chain. The service's answers are only compared with it. */
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

/** Whether a transaction ended without an effect. If so, the client may post the same bytes once more. */
function endedInVain(id: string, shown: readonly Shown[]): boolean {
  const status = shown.find((one) => one.id === id)?.status;
  return status === 'expired' || status === 'canceled' || status === 'failed';
}

/** Hashes of the other transactions of the same request, without the hash of this one. */
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

/** Each effect must be in the state exactly as often as blocks have it. */
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
