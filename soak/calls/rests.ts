import { setTimeout as sleep } from 'node:timers/promises';
import { slopeOf } from '../../gauntlet/figures.ts';
import type { RunningService } from '../../test/support/service.ts';
import type { Asking } from './asking.ts';

/**
 * What the plugin processes hold in memory while nothing but a call now and then is asked of them. Under load their size
 * goes up and down with the isolates that happen to be alive; at rest each has those that should wait and no other, so
 * one rest compares with another.
 */
export interface Rest {
  /** How many calls came before it. */
  readonly calls: number;
  /** By plugin, in MiB. */
  readonly held: ReadonlyMap<string, number>;
}

/** How the memory at rest went on between the first of the judged rests and the last. */
export interface RestingCourse {
  /** What all the processes held at the last rest, in MiB. */
  readonly held: number;
  /** What they grew by, in MiB. */
  readonly growth: number;
  /** What that comes to for each 10,000 calls. */
  readonly slope: number;
  readonly faults: string[];
}

/**
 * How much one process may seem to grow between the first judged rest and the last, in MiB: V8 collects its garbage when
 * it likes, and the allocator keeps what lies between pieces that are still used.
 */
const PROCESS_NOISE_MIB = 10;
/** All of them together; chance does not push all the same way. */
const NOISE_MIB = 24;
/** Fewer cannot be told from chance. */
const LEAST_RESTS = 4;
/** V8 keeps the pages of isolates that have ended for eight seconds, and gives them back when one is entered after that. */
const ROUNDS = 14;
const ROUND_MS = 1000;
/** Idle processes say how large they are once a second. */
const METER_MS = 2000;
const MIB = 1_048_576;

interface Shown {
  id: string;
  now: { resident_bytes: number };
}

/**
 * Lets the service come to rest and looks at it.
 * @param atRest resolves when no more isolates wait than should
 */
export async function takeRest(
  service: RunningService,
  asking: Asking,
  calls: number,
  atRest: () => Promise<unknown>,
): Promise<Rest> {
  await atRest();
  for (let round = 0; round < ROUNDS; round += 1) await Promise.all([asking.round(calls), sleep(ROUND_MS)]);
  await atRest();
  await sleep(METER_MS);
  const { body } = await service.request('GET', '/api/v1/plugins?per_page=100');
  return { calls, held: new Map((body.data as Shown[]).map(({ id, now }) => [id, now.resident_bytes / MIB])) };
}

/**
 * Judges memory at rest by a line through its sizes: neither one process nor all of them together may grow by more than
 * chance. The first rest is left out, since code is still being compiled before it.
 */
export function courseAtRest(rests: readonly Rest[]): RestingCourse {
  const judged = rests.slice(1);
  const first = judged[0];
  const last = judged.at(-1);
  if (first === undefined || last === undefined || judged.length < LEAST_RESTS - 1) {
    return { held: Number.NaN, growth: Number.NaN, slope: Number.NaN, faults: [`only ${rests.length} rests`] };
  }
  const span = last.calls - first.calls;
  const growthOf = (size: (rest: Rest) => number) =>
    slopeOf(judged.map((rest) => ({ x: rest.calls, y: size(rest) }))) * span;
  const growth = growthOf(sumOf);
  const faults: string[] = [];
  if (growth > NOISE_MIB) faults.push(`the plugin processes grew by ${growth.toFixed(1)} MiB over ${span} calls`);
  for (const id of last.held.keys()) {
    if (judged.some(({ held }) => !((held.get(id) ?? 0) > 0))) {
      faults.push(`the size of the process of ${id} is not known`);
      continue;
    }
    const own = growthOf(({ held }) => held.get(id) ?? 0);
    if (own > PROCESS_NOISE_MIB) faults.push(`the process of ${id} grew by ${own.toFixed(1)} MiB over ${span} calls`);
  }
  return { held: sumOf(last), growth, slope: (growth / span) * 10_000, faults };
}

function sumOf({ held }: Rest): number {
  return held.values().reduce((sum, size) => sum + size, 0);
}
