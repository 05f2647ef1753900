import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Point, slopeOf } from '../../gauntlet/figures.ts';
import { descendantsOf } from '../../test/support/processes.ts';
import type { RunningService } from '../../test/support/service.ts';
import { collect } from './collection.ts';

const EVERY_MS = 5000;
const MIB = 1_048_576;

/** What the server and its plugin processes hold in memory in the course of a run, in MiB; the server after a collection. */
export class Resident {
  readonly heap: Point[] = [];
  readonly main: Point[] = [];
  readonly children: Point[] = [];
  readonly #service: RunningService;
  readonly #progress: () => number;
  readonly #stopped = new AbortController();
  #looking: Promise<void> = Promise.resolve();

  /** @param progress the number of calls so far: what memory is held against */
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

/** The course of memory over the second half of the calls, in MiB. */
export interface Course {
  /** For each 10,000 calls. */
  readonly slope: number;
  /** What that comes to over the half. */
  readonly growth: number;
  readonly median: number;
  /** How often memory was looked at. */
  readonly looks: number;
}

/** The second half, when everything is warm. */
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

/** 0 for a process that is gone. */
async function residentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  return (Number(kilobytes) * 1024) / MIB;
}
