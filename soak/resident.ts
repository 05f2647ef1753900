import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Point, slopeOf } from '../gauntlet/figures.ts';
import { descendantsOf } from '../test/support/processes.ts';

const EVERY_MS = 1000;
const MIB = 1_048_576;

/** What a process and all below it hold in memory, looked at each second. */
export class Resident {
  readonly main: Point[] = [];
  readonly children: Point[] = [];
  readonly #pid: number;
  readonly #progress: () => number;
  readonly #stopped = new AbortController();
  #looking: Promise<void> = Promise.resolve();

  /** @param progress the number of calls so far: what memory is held against */
  constructor(pid: number, progress: () => number) {
    this.#pid = pid;
    this.#progress = progress;
  }

  start(): void {
    this.#looking = this.#look();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const x = this.#progress();
      this.main.push({ x, y: await residentMib(this.#pid) });
      const below = await descendantsOf(this.#pid);
      const sizes = await Promise.all(below.map(({ pid }) => residentMib(pid)));
      this.children.push({ x, y: sizes.reduce((sum, size) => sum + size, 0) });
      await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** The course of memory over the second half of the calls, in MiB. */
export interface Course {
  /** For each 10,000 calls. */
  readonly slope: number;
  /** What that comes to over the half. */
  readonly growth: number;
  readonly median: number;
}

/** The second half, when everything is warm. */
export function courseOf(points: readonly Point[], calls: number): Course {
  const half = points.filter(({ x }) => x >= calls / 2);
  const perCall = slopeOf(half);
  const sorted = half.map(({ y }) => y).toSorted((a, b) => a - b);
  return { slope: perCall * 10_000, growth: (perCall * calls) / 2, median: sorted[sorted.length >> 1] ?? 0 };
}

/** 0 for a process that is gone. */
async function residentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  return (Number(kilobytes) * 1024) / MIB;
}
