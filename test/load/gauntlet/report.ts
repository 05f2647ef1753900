import { describeCounts, describeRun, type Line } from '../soak/report.ts';
import { percentile } from './figures.ts';
import type { GauntletResult } from './run.ts';
import { LIMITS, type Spread } from './verdict.ts';
import type { Collection } from './watching.ts';

/** Explains the figures of recovery to readers of the report. */
const RECOVERY = `Recovery is the time from the moment when the answer to an attack is there until an honest call that is made
at once is answered rightly: one of the same plugin, and beside it one of another plugin. A plugin that is refused for a
while since its process was killed again and again counts among the back-offs.`;

const MIB = 1_048_576;
const MAX_SHOWN = 30;
const MAX_HARDEST = 8;
/** How long after its answer an attack can still slow honest requests. */
const AFTERMATH_MS = 500;

/** The report of a run: its figures and its broken promises. */
export function describeGauntlet(result: GauntletResult): string {
  const { evidence, verdict } = result;
  const broken = verdict.broken.slice(0, MAX_SHOWN).map((sentence) => `broken: ${sentence}`);
  if (verdict.broken.length > MAX_SHOWN) broken.push(`broken: and ${verdict.broken.length - MAX_SHOWN} more`);
  const slow = evidence.recoveries
    .filter(({ sameMs, backedOff }) => sameMs !== null && sameMs > LIMITS.recoveryP99 / 2 && !backedOff)
    .map(({ attack, sameMs, wrong }) => `slow recovery: ${attack}, ${sameMs?.toFixed(0)} ms ${wrong[0] ?? ''}`);
  const table = describeRun(linesOf(result), evidence.transactions);
  return [RECOVERY, '', table, ...slow, ...hardest(result), '', ...broken].join('\n');
}

/** The attacks during which honest requests took longest: a hint at what slows other callers. */
function hardest({ evidence: { attempts, attackRun } }: GauntletResult): string[] {
  const times = attempts.map(({ attack, at, tookMs }) => {
    const during = attackRun.filter((sample) => sample.at >= at && sample.at < at + tookMs + AFTERMATH_MS);
    return {
      attack,
      p50: percentile(
        during.map((sample) => sample.tookMs),
        0.5,
      ),
    };
  });
  return times
    .filter(({ p50 }) => p50 > 0)
    .sort((a, b) => b.p50 - a.p50)
    .slice(0, MAX_HARDEST)
    .map(({ attack, p50 }) => `hardest on others: ${attack}, honest p50 ${p50.toFixed(0)} ms`);
}

function linesOf({
  evidence,
  verdict,
  rounds,
  untried,
  backOffs,
  refused,
  stallMs,
  ownStallMs,
}: GauntletResult): Line[] {
  const { attempts, recoveries, looks, collections, left, errors, failures } = evidence;
  const ends = new Map<string, number>();
  for (const { end } of attempts) ends.set(end, (ends.get(end) ?? 0) + 1);
  const [first, last] = [looks[0], looks.at(-1)];
  const course = (bytes: (collection: Collection) => number) =>
    collections.map((collection) => (bytes(collection) / MIB).toFixed(1)).join(' ') || 'never seen';
  const memory = (bytes: number | undefined) => `${((bytes ?? Number.NaN) / MIB).toFixed(0)}`;
  const slope = (figure: number | null) =>
    figure === null ? 'too short to tell' : `${figure.toFixed(2)} MiB a minute`;
  return [
    ['attacks run', `${attempts.length} in ${rounds} rounds`],
    ['not tried', untried.length > MAX_SHOWN ? untried.length : untried.join('; ') || 'none'],
    ['their ends', describeCounts(ends)],
    ['contained', attempts.length - verdict.uncontained.length],
    ['uncontained', verdict.uncontained.length],
    ['recovery, same plugin', ms(verdict.same)],
    ['recovery, another plugin', ms(verdict.other)],
    ['answers before recovery', recoveries.reduce((sum, { wrong }) => sum + wrong.length, 0)],
    ['back-offs', backOffs.length === 0 ? 'none' : `${backOffs.length}, the longest ${Math.max(...backOffs)} s`],
    ['attacks that got no process', refused],
    ...verdict.comparisons.map(({ kind, quiet, attackRun, ratio }): Line => {
      const of = ({ p50, p99 }: Spread) => `${p50.toFixed(1)}/${p99.toFixed(1)}`;
      const times = ratio === null ? 'too few to tell' : `${ratio.toFixed(2)}×`;
      return [`${kind}, p50/p99 in ms`, `quiet ${of(quiet)}, attacked ${of(attackRun)}: ${times} (${attackRun.count})`];
    }),
    ['honest requests failed', failures.length],
    ['longest stall, main loop', `quiet ${stallMs.quiet.toFixed(0)} ms, attacked ${stallMs.attackRun.toFixed(0)} ms`],
    [
      'longest stall, our own',
      `quiet ${ownStallMs.quiet.toFixed(0)} ms, attacked ${ownStallMs.attackRun.toFixed(0)} ms`,
    ],
    ['heap, data, in MiB', `${course(({ data }) => data)}; slope ${slope(verdict.heapSlope)}`],
    ['heap, with compiled code', course(({ heap }) => heap)],
    ['beside the heap', `${course(({ beside }) => beside)}; slope ${slope(verdict.besideSlope)}`],
    ['resident, first to last', `${memory(first?.resident)} to ${memory(last?.resident)} MiB`],
    ['processes left', left.length],
    ['errors in the log', describeCounts(errors)],
  ];
}

function ms({ count, p50, p99, max }: Spread): string {
  return `p50 ${p50.toFixed(0)}, p99 ${p99.toFixed(0)}, longest ${max.toFixed(0)} ms, of ${count}`;
}
