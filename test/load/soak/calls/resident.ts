import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { descendantsOf } from '../../../support/processes.ts';
import type { RunningService } from '../../../support/service.ts';
import { type Point, slopeOf } from '../../gauntlet/figures.ts';
import { collect } from './collection.ts';

const EVERY_MS = 5000;
const MIB = 1_048_576;

/** The memory of the server, after a collection, and of its plugin processes during a run, in MiB. */
export class Resident {
  readonly heap: Point[] = [];
  readonly main: Point[] = [];
  readonly children: Point[] = [];
  readonly #service: RunningService;
  readonly #progress: () => number;
  readonly #stopped = new AbortController();
  #looking: Promise<void> = Promise.resolve();

  /** @param progress returns the number of calls so far, the x value of each point */
  constructor(service: RunningService, progress: () => number) {
    this.#service = service;
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
      const { rss, heap } = await collect(this.#service);
      const x = this.#progress();
      this.heap.push({ x, y: heap / MIB });
      this.main.push({ x, y: rss / MIB });
      const below = await descendantsOf(this.#service.pid);
      const sizes = await Promise.all(below.map(({ pid }) => residentMib(pid)));
      this.children.push({ x, y: sizes.reduce((sum, size) => sum + size, 0) });
      await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** How memory changed over the second half of the calls, in MiB. */
export interface Course {
  /** Growth for each 10,000 calls. */
  readonly slope: number;
  /** Growth over the whole half, by the slope. */
  readonly growth: number;
  readonly median: number;
  /** The number of measurements. */
  readonly looks: number;
}

/** Uses only the second half of the calls, when caches and compiled code have their final size. */
export function courseOf(points: readonly Point[], calls: number): Course {
  const half = points.filter(({ x }) => x >= calls / 2);
  const perCall = slopeOf(half);
  const sorted = half.map(({ y }) => y).toSorted((a, b) => a - b);
  return {
    slope: perCall * 10_000,
    growth: (perCall * calls) / 2,
    median: sorted[sorted.length >> 1] ?? 0,
    looks: half.length,
  };
}

/** 0 if the process has ended. */
async function residentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  return (Number(kilobytes) * 1024) / MIB;
}
