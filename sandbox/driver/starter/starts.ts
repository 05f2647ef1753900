import { performance } from 'node:perf_hooks';
import type { HeldProcess } from '../child/child.ts';
import { type Launcher, launch } from '../child/launch.ts';
import { Starter } from './starter.ts';

/** How many children are started without a starter: one plugin and its spare child need none. */
const WITHOUT = 2;
/** How long after a failed starter another one is tried, in milliseconds. */
const RETRY_MS = 60_000;

/**
 * Starts the children of one thread. It starts them directly until a starter is ready, and by the starter afterwards.
 * The third start creates the starter and does not wait for it.
 */
export class Starts {
  readonly #launcher: Launcher;
  readonly #program: string;
  #direct = 0;
  #starter: Starter | undefined;
  #retryAt = 0;

  /** @param program the program that each child runs */
  constructor(launcher: Launcher, program: string) {
    this.#launcher = launcher;
    this.#program = program;
  }

  /**
   * @param journalFd the descriptor that the child gets as its journal
   * @throws Error when the start cannot even be tried
   */
  start(journalFd?: number): HeldProcess {
    if (this.#starter?.state === 'ready') return this.#starter.start(journalFd);
    // Only Linux gains by a starter: elsewhere Node's own start is fast enough.
    if (this.#direct >= WITHOUT && process.platform === 'linux') this.#begin();
    this.#direct += 1;
    return launch(this.#launcher, this.#program, journalFd);
  }

  /** Call it when no further child will be started. Safe to call twice. */
  close(): void {
    this.#starter?.close();
  }

  #begin(): void {
    const now = performance.now();
    const state = this.#starter?.state;
    if (state === 'starting' || (state === 'unfit' && now < this.#retryAt)) return;
    this.#retryAt = now + RETRY_MS;
    this.#starter = new Starter(this.#launcher, this.#program);
  }
}
