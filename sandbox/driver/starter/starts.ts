import { performance } from 'node:perf_hooks';
import type { HeldProcess } from '../child/child.ts';
import { type Launcher, launch } from '../child/launch.ts';
import { Starter } from './starter.ts';

/** One plugin that lives, and the spare beside it, need no starter. */
const WITHOUT = 2;
/** When a starter is tried again after one that could not begin. */
const RETRY_MS = 60_000;

/**
 * Starts the children of one thread: directly until there is a starter, and by that from then on. The third start asks
 * for one, and nobody waits for it.
 */
export class Starts {
  readonly #launcher: Launcher;
  readonly #program: string;
  #direct = 0;
  #starter: Starter | undefined;
  #retryAt = 0;

  /** @param program what each child is given to run */
  constructor(launcher: Launcher, program: string) {
    this.#launcher = launcher;
    this.#program = program;
  }

  /**
   * @param journalFd what the child is given as its journal
   * @throws Error when it cannot even be tried
   */
  start(journalFd?: number): HeldProcess {
    if (this.#starter?.state === 'ready') return this.#starter.start(journalFd);
    // Elsewhere Node starts a process as quickly as it can be.
    if (this.#direct >= WITHOUT && process.platform === 'linux') this.#begin();
    this.#direct += 1;
    return launch(this.#launcher, this.#program, journalFd);
  }

  /** To be called when no child is wanted any more. Safe to call twice. */
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
