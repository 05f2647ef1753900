import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningService } from '../../../support/service.ts';
import { slopeOf } from '../../gauntlet/figures.ts';
import type { Asking } from './asking.ts';

/**
 * The memory of the plugin processes at rest. Under load it varies with the number of living isolates. At rest each
 * process has only the isolates that should wait, so the sizes of two rests are comparable.
 */
export interface Rest {
  /** The number of calls before it. */
  readonly calls: number;
  /** Resident memory by plugin, in MiB. */
  readonly held: ReadonlyMap<string, number>;
}

/** How the memory at rest changed between the first judged rest and the last. */
export interface RestingCourse {
  /** The memory of all processes at the last rest, in MiB. */
  readonly held: number;
  /** Their growth, in MiB. */
  readonly growth: number;
  /** Their growth for each 10,000 calls, in MiB. */
  readonly slope: number;
  readonly faults: string[];
}

/**
 * How much one process may grow between the first judged rest and the last without a fault, in MiB. The times of V8's
 * collections vary, and the allocator keeps free memory between blocks in use.
 */
const PROCESS_NOISE_MIB = 10;
/** The same for all processes together. It is less than the sum, because chance does not affect all in the same way. */
const NOISE_MIB = 24;
/** With fewer rests growth cannot be told from chance. */
const MIN_RESTS = 4;
/**
 * Rounds of calls before a rest is measured. V8 keeps the pages of ended isolates for eight seconds, and frees them
 * when an isolate is entered after that.
 */
const ROUNDS = 14;
const ROUND_MS = 1000;
/** Idle processes report their size once a second. */
const METER_MS = 2000;
const MIB = 1_048_576;

interface Shown {
  id: string;
  now: { resident_bytes: number };
}

/**
 * Waits until the service is at rest, and measures its plugin processes.
 * @param atRest resolves when only the isolates wait that should
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
 * Judges memory at rest by its slope. Neither one process nor all together may grow by more than the noise. The first
 * rest is left out, because code is still being compiled before it.
 */
export function courseAtRest(rests: readonly Rest[]): RestingCourse {
  const judged = rests.slice(1);
  const first = judged[0];
  const last = judged.at(-1);
  if (first === undefined || last === undefined || judged.length < MIN_RESTS - 1) {
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
