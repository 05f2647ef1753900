import type { CallerSignal, PluginVersion } from '../../../../sandbox/contract.ts';
import type { Clock } from '../../../domain/clock.ts';
import type { AppError } from '../../../domain/errors.ts';
import type { CallEnding, CallWait } from '../../calls/record.ts';
import type { CallInbox } from './call-inbox.ts';
import type { CallJournal } from './call-journal.ts';
import type { CallRecord } from './call-record.ts';
import type { PluginAnswer } from './plugin-host.ts';

/** One run of a durable call. */
export interface DurableRun {
  callId: string;
  requestId: string;
  keyId: string;
  /** How many triggers led to the call; undefined: none. */
  depth: number | undefined;
  /** From when on the call may have been made: when it was accepted, or the moment of its trigger. */
  since: number;
  version: PluginVersion;
  journal: CallJournal;
  inbox: CallInbox;
  /** How long its lifetime still lasts, in milliseconds. */
  leftMs: number;
  /** Aborted when the call is not to run here any more. */
  signal: CallerSignal;
}

/** How a run of a durable call ended. */
export type DurableEnd =
  | { kind: 'ended'; state: 'returned' | 'threw'; ending: CallEnding; answer: PluginAnswer }
  /** The call only waits. */
  | { kind: 'waits'; waitsFor: CallWait[] }
  /** The service ended the run, so it runs again. `lost`: its process ended under it, by its own fault or not. */
  | { kind: 'again'; inMs: number; reason: string; lost?: { isCulprit: boolean } }
  | { kind: 'failed'; error: AppError }
  /** The call runs elsewhere, or has ended. */
  | { kind: 'gone' };

/** A call whose waits are all longer than this ends its run, in ms. */
const LONG_MS = 10_000;
/** How long a run must be quiet before it counts as waiting, beside the time that its guest may compute, in ms. */
const QUIET_MS = 500;
/** How long before its time is over a run that waits is ended, in ms. */
const SPARE_MS = 1000;

/**
 * Ends a run when its call only waits, so that it holds no isolate meanwhile. A guest acts only when it is answered. So
 * a run that was quiet for as long as a guest may compute at once, and whose capability calls all wait, does nothing.
 */
export class WaitWatch {
  /** What the call waited for when its run was ended. */
  waitsFor: CallWait[] | undefined;
  readonly #record: CallRecord;
  readonly #clock: Clock;
  readonly #quietMs: number;
  /** By the clock that never goes back. */
  readonly #lastAt: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(record: CallRecord, clock: Clock, { sliceMs, timeoutMs }: { sliceMs: number; timeoutMs: number }) {
    this.#record = record;
    this.#clock = clock;
    this.#quietMs = QUIET_MS + Math.min(4 * sliceMs, timeoutMs / 4);
    this.#lastAt = clock.elapsed() + timeoutMs - SPARE_MS;
    record.onProgress = () => this.#later(this.#quietMs);
    this.#later(this.#quietMs);
  }

  /** Safe to call twice. */
  close(): void {
    clearTimeout(this.#timer);
    this.#record.onProgress = undefined;
  }

  #later(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), ms);
  }

  #look(): void {
    const { open, journal, ended, locks } = this.#record;
    if (ended || open.size === 0) return;
    const waits = [...open].map(({ wait }) => wait);
    if (journal?.isLive === false || waits.some((wait) => wait === undefined)) return;
    const now = this.#clock.now();
    // A timer that is due soon is worth waiting for. Nobody knows how long the others take.
    const leftMs = waits.map((wait) => {
      if (wait === undefined) return 0;
      const longMs =
        wait.on.kind === 'time'
          ? wait.on.until - now > LONG_MS
            ? 0
            : Number.POSITIVE_INFINITY
          : wait.since + LONG_MS - now;
      return longMs;
    });
    const isLast = this.#clock.elapsed() >= this.#lastAt;
    // A lock ends with its run.
    const inMs = locks.all.length > 0 ? Number.POSITIVE_INFINITY : Math.max(...leftMs);
    if (inMs > 0 && !isLast) {
      this.#later(Math.max(50, Math.min(inMs, this.#lastAt - this.#clock.elapsed())));
      return;
    }
    this.waitsFor = waits.flatMap((wait) => (wait === undefined ? [] : [wait.on]));
    this.close();
    this.#record.onFailure?.();
  }
}
