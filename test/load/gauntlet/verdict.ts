import { isKept, type Verdict as Transactions } from '../soak/payments/verdict.ts';
import type { Attempt, Recovery } from './attack-run.ts';
import { percentile, slopeOf } from './figures.ts';
import { HONEST_KINDS, type HonestKind, type Sample } from './honest-load.ts';
import type { Collection, Look } from './watching.ts';

/** What was observed in a run. */
export interface Evidence {
  readonly attempts: readonly Attempt[];
  readonly recoveries: readonly Recovery[];
  /** Honest requests before the attacks and during them. */
  readonly quiet: readonly Sample[];
  readonly attackRun: readonly Sample[];
  /** Honest requests without the right answer, one sentence each. */
  readonly failures: readonly string[];
  /** Looks at the main process during the attacks. */
  readonly looks: readonly Look[];
  /** The memory that full collections left in it during the attacks. */
  readonly collections: readonly Collection[];
  readonly transactions: Transactions;
  /** Ids and command lines of processes that outlived the server. */
  readonly left: readonly string[];
  /** How the server ended too early, or with which exit code other than 0 it stopped; null if it ended correctly. */
  readonly serverEnd: string | null;
  /** Errors that the server logged, by text, with their counts. Without those that attacks are expected to cause. */
  readonly errors: ReadonlyMap<string, number>;
}

/** Statistics of several times, in milliseconds. */
export interface Spread {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** One kind of honest request, or all of them. */
export interface Comparison {
  readonly kind: HonestKind | 'all';
  readonly quiet: Spread;
  readonly attackRun: Spread;
  /** The p99 under attack, divided by the quiet p99; null if there are too few requests. */
  readonly ratio: number | null;
}

export interface Verdict {
  readonly uncontained: readonly Attempt[];
  readonly same: Spread;
  readonly other: Spread;
  readonly comparisons: readonly Comparison[];
  /** Growth in MiB per minute; null if the attacks were too short or there were too few collections. */
  readonly heapSlope: number | null;
  readonly besideSlope: number | null;
  /** The broken promises, one sentence each; empty if all were kept. */
  readonly broken: readonly string[];
}

export const LIMITS = {
  /** Milliseconds. */
  recoveryP99: 1_000,
  ratio: 3,
  /**
   * Growth after full collections, in MiB per minute. `heapSlope` is for the data in the heap. Data that still fills up
   * after the first half of the attacks, such as the usage of the last hour, causes 0.1, and chance causes 0.2. A leak
   * of 9 KiB per attack causes 0.5 at one attack per second. `besideSlope` is for resident memory outside the heap.
   */
  heapSlope: 0.5,
  besideSlope: 2,
  /** Growth outside the heap that is always allowed, in MiB: the garbage of other threads varies by this much. */
  besideNoise: 24,
} as const;

/** With fewer requests the p99 is just the longest one. */
const MIN_SAMPLES = 100;
/**
 * The shortest second half of the attacks that is judged for growth. The first half is warm-up: each plugin is called
 * for the first time, and gets its metrics and its back-off records.
 */
const MIN_SLOPE_MS = 150_000;
/** With fewer collections a single unusual one could decide the slope. */
const MIN_COLLECTIONS = 4;
const MINUTE_MS = 60_000;
const MIB = 1_048_576;

/** Judges a run by what was observed from outside the server. */
export function judge(evidence: Evidence): Verdict {
  const { attempts, recoveries } = evidence;
  const known = (ms: number | null) => (ms === null ? [] : [ms]);
  const figures = {
    uncontained: attempts.filter(({ contained }) => !contained),
    same: spreadOf(recoveries.filter(({ backedOff }) => !backedOff).flatMap(({ sameMs }) => known(sameMs))),
    other: spreadOf(recoveries.flatMap(({ otherMs }) => known(otherMs))),
    comparisons: compare(evidence),
    ...slopesOf(evidence),
  };
  const broken = [
    ...nothingTried(evidence),
    ...brokenByAttacks(evidence, figures),
    ...brokenForHonest(evidence, figures),
    ...brokenByServer(evidence, figures),
  ];
  return { ...figures, broken };
}

function nothingTried({ attempts, quiet, attackRun, transactions }: Evidence): string[] {
  return [
    ...(attempts.length === 0 ? ['no attack was tried'] : []),
    ...(quiet.length === 0 || attackRun.length === 0 ? ['no honest request was answered'] : []),
    ...(transactions.accepted === 0 ? ['no transaction was accepted'] : []),
  ];
}

type Figures = Omit<Verdict, 'broken'>;

function brokenByAttacks({ recoveries }: Evidence, { uncontained, same, other }: Figures): string[] {
  const never = recoveries.filter(({ sameMs, otherMs }) => sameMs === null || otherMs === null);
  const slow = (what: string, { p99 }: Spread) =>
    p99 > LIMITS.recoveryP99 ? [`p99 of the recovery of ${what} is ${Math.round(p99)} ms`] : [];
  return [
    ...uncontained.map(({ attack, answer }) => `uncontained: ${attack}: ${answer}`),
    ...never.map(({ attack, wrong }) => `no honest call was served after ${attack}: ${wrong.at(-1)}`),
    ...slow('the same plugin', same),
    ...slow('another plugin', other),
  ];
}

function brokenForHonest({ failures, transactions }: Evidence, { comparisons }: Figures): string[] {
  const slow = comparisons.filter(({ ratio }) => ratio !== null && ratio > LIMITS.ratio);
  return [
    ...slow.map(({ kind, ratio }) => `p99 of ${kind} is ${ratio?.toFixed(1)} times that of the quiet time`),
    ...counted(failures).map(([failure, count]) => `honest requests failed, ${count}: ${failure}`),
    ...(isKept(transactions) ? [] : ['transactions were lost, doubled, or not told as the chain has them']),
  ];
}

function brokenByServer(evidence: Evidence, { heapSlope, besideSlope }: Figures): string[] {
  const { left, looks, serverEnd, errors } = evidence;
  const judgedMinutes = halfOf(looks).lastsMs / MINUTE_MS;
  const grows = (what: string, slope: number | null, most: number) =>
    slope !== null && slope > most ? [`the ${what} grows by ${slope.toFixed(1)} MiB a minute`] : [];
  return [
    ...left.map((command) => `a process is left: ${command}`),
    ...(looks.length === 0 ? ['how the main process fared during the attacks was never seen'] : []),
    ...(halfOf(looks).lastsMs >= MIN_SLOPE_MS && heapSlope === null
      ? [`what the main process holds was seen only ${evidence.collections.length} times`]
      : []),
    ...grows('heap', heapSlope, LIMITS.heapSlope),
    ...grows('memory beside the heap', besideSlope, Math.max(LIMITS.besideSlope, LIMITS.besideNoise / judgedMinutes)),
    ...(serverEnd === null ? [] : [`the server ended: ${serverEnd}`]),
    ...[...errors].map(([text, count]) => `the server logged ${count} times: ${text}`),
  ];
}

function compare({ quiet, attackRun }: Evidence): Comparison[] {
  const kinds = Object.keys(HONEST_KINDS) as HonestKind[];
  const of = (samples: readonly Sample[], kind: HonestKind | 'all') =>
    spreadOf(samples.filter((sample) => kind === 'all' || sample.kind === kind).map(({ tookMs }) => tookMs));
  return [...kinds, 'all' as const].map((kind) => {
    const [before, during] = [of(quiet, kind), of(attackRun, kind)];
    const isEnough = Math.min(before.count, during.count) >= MIN_SAMPLES;
    return { kind, quiet: before, attackRun: during, ratio: isEnough ? during.p99 / before.p99 : null };
  });
}

function counted(texts: readonly string[]): [string, number][] {
  return [...Map.groupBy(texts, (text) => text)].map(([text, all]) => [text, all.length]);
}

function spreadOf(values: readonly number[]): Spread {
  const at = (share: number) => percentile(values, share);
  return { count: values.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** The growth of memory over the second half of the attacks. */
function slopesOf({ looks, collections }: Evidence): Pick<Verdict, 'heapSlope' | 'besideSlope'> {
  const half = halfOf(looks);
  const judged = collections.filter(({ at }) => at >= half.at);
  if (half.lastsMs < MIN_SLOPE_MS || judged.length < MIN_COLLECTIONS) return { heapSlope: null, besideSlope: null };
  const slope = (bytes: (collection: Collection) => number) =>
    slopeOf(judged.map((collection) => ({ x: collection.at / MINUTE_MS, y: bytes(collection) / MIB })));
  return { heapSlope: slope(({ data }) => data), besideSlope: slope(({ beside }) => beside) };
}

/** The start of the second half of the attacks, and its length. */
function halfOf(looks: readonly Look[]): { at: number; lastsMs: number } {
  const [first, last] = [looks[0]?.at ?? 0, looks.at(-1)?.at ?? 0];
  return { at: (first + last) / 2, lastsMs: (last - first) / 2 };
}
