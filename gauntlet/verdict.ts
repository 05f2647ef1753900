import { isKept, type Verdict as Transactions } from '../soak/payments/verdict.ts';
import { percentile, slopeOf } from './figures.ts';
import { HONEST_KINDS, type HonestKind, type Sample } from './honest-load.ts';
import type { Attempt, Recovery } from './siege.ts';
import type { Collection, Look } from './watching.ts';

/** What was seen of a run. */
export interface Evidence {
  readonly attempts: readonly Attempt[];
  readonly recoveries: readonly Recovery[];
  /** Honest requests before the attacks and during them. */
  readonly quiet: readonly Sample[];
  readonly siege: readonly Sample[];
  /** Honest requests that were not answered rightly. */
  readonly failures: readonly string[];
  /** How the main process fared during the attacks. */
  readonly looks: readonly Look[];
  /** What full collections left in it meanwhile. */
  readonly collections: readonly Collection[];
  readonly transactions: Transactions;
  /** Command lines of processes that live on after the server. */
  readonly left: readonly string[];
  /** How the server ended before it was told to, or with what but 0 after it was; null when all is well. */
  readonly serverEnd: string | null;
  /** What the server logged as an error, with how often, but for what it has to say of an attack. */
  readonly errors: ReadonlyMap<string, number>;
}

/** In milliseconds. */
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
  readonly siege: Spread;
  /** Of the two p99; null where there are too few requests to tell. */
  readonly ratio: number | null;
}

export interface Verdict {
  readonly uncontained: readonly Attempt[];
  readonly same: Spread;
  readonly other: Spread;
  readonly comparisons: readonly Comparison[];
  /** In MiB a minute; null where the attacks were too short to tell. */
  readonly heapSlope: number | null;
  readonly besideSlope: number | null;
  /** The promises that were broken, a sentence for each; empty when all were kept. */
  readonly broken: readonly string[];
}

export const LIMITS = {
  /** Milliseconds. */
  recoveryP99: 1_000,
  ratio: 3,
  /**
   * MiB a minute, after full collections. Of the data in the heap: what still fills up after the first half of the attacks,
   * such as the usage of the last hour, makes 0.1, and chance twice that; an attack each second that leaves 9 KiB makes 0.5.
   * Of what is resident beside the heap, four times that.
   */
  heapSlope: 0.5,
  besideSlope: 2,
  /** MiB. By so much the garbage of other threads comes and goes, in however short a time. */
  besideNoise: 24,
} as const;

/** Below so many requests a p99 is hardly more than the longest one. */
const LEAST_SAMPLES = 100;
/**
 * The first half of the attacks warms up: each plugin is called for the first time and gets its rows in what is counted,
 * and its cases in what is held against it. Only the second half tells a trend, and none when it is shorter than this.
 */
const LEAST_SLOPE_MS = 150_000;
/** With fewer collections one that met something large on its way would decide. */
const LEAST_COLLECTIONS = 4;
const MINUTE_MS = 60_000;
const MIB = 1_048_576;

/** Judges a run by what was seen from outside. */
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

function nothingTried({ attempts, quiet, siege, transactions }: Evidence): string[] {
  return [
    ...(attempts.length === 0 ? ['no attack was tried'] : []),
    ...(quiet.length === 0 || siege.length === 0 ? ['no honest request was answered'] : []),
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
    ...(halfOf(looks).lastsMs >= LEAST_SLOPE_MS && heapSlope === null
      ? [`what the main process holds was seen only ${evidence.collections.length} times`]
      : []),
    ...grows('heap', heapSlope, LIMITS.heapSlope),
    ...grows('memory beside the heap', besideSlope, Math.max(LIMITS.besideSlope, LIMITS.besideNoise / judgedMinutes)),
    ...(serverEnd === null ? [] : [`the server ended: ${serverEnd}`]),
    ...[...errors].map(([text, count]) => `the server logged ${count} times: ${text}`),
  ];
}

function compare({ quiet, siege }: Evidence): Comparison[] {
  const kinds = Object.keys(HONEST_KINDS) as HonestKind[];
  const of = (samples: readonly Sample[], kind: HonestKind | 'all') =>
    spreadOf(samples.filter((sample) => kind === 'all' || sample.kind === kind).map(({ tookMs }) => tookMs));
  return [...kinds, 'all' as const].map((kind) => {
    const [before, during] = [of(quiet, kind), of(siege, kind)];
    const isEnough = Math.min(before.count, during.count) >= LEAST_SAMPLES;
    return { kind, quiet: before, siege: during, ratio: isEnough ? during.p99 / before.p99 : null };
  });
}

function counted(texts: readonly string[]): [string, number][] {
  return [...Map.groupBy(texts, (text) => text)].map(([text, all]) => [text, all.length]);
}

function spreadOf(values: readonly number[]): Spread {
  const at = (share: number) => percentile(values, share);
  return { count: values.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** How memory went on over the second half of the attacks. */
function slopesOf({ looks, collections }: Evidence): Pick<Verdict, 'heapSlope' | 'besideSlope'> {
  const half = halfOf(looks);
  const judged = collections.filter(({ at }) => at >= half.at);
  if (half.lastsMs < LEAST_SLOPE_MS || judged.length < LEAST_COLLECTIONS) return { heapSlope: null, besideSlope: null };
  const slope = (bytes: (collection: Collection) => number) =>
    slopeOf(judged.map((collection) => ({ x: collection.at / MINUTE_MS, y: bytes(collection) / MIB })));
  return { heapSlope: slope(({ data }) => data), besideSlope: slope(({ beside }) => beside) };
}

/** When the second half of the attacks began, and how long it was. */
function halfOf(looks: readonly Look[]): { at: number; lastsMs: number } {
  const [first, last] = [looks[0]?.at ?? 0, looks.at(-1)?.at ?? 0];
  return { at: (first + last) / 2, lastsMs: (last - first) / 2 };
}
