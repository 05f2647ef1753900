import { performance } from 'node:perf_hooks';
import type { DurableStart, Limits } from '../contract.ts';
import { UP } from '../protocol.ts';
import { HostCallBridge } from './call-bridge.ts';
import {
  type CpuCrowding,
  cpuLimit,
  memoryLimit,
  recentThreadCpuMs,
  type SlicePace,
  sliceCpuMs,
  sliceLimit,
} from './call-ends.ts';
import type { Channel } from './channel.ts';
import type { CryptoJobQueue } from './crypto/jobs.ts';
import type { CallEntry, GuestIsolate, SliceFailure } from './isolate.ts';

/** A call leaves little behind when it took less than this, in milliseconds, made no capability calls and returned. */
const LITTLE_MS = 0.1;
/** The heap is measured after every so many of such calls. Asking V8 takes a third of the time of such a call. */
const MEASURED_EVERY = 32;
/**
 * Of a longer result, the service reads the frame in several turns of its loop. They must not count as the guest's time,
 * so LEAVE goes ahead of it.
 */
const ONE_READ = 16_384;

/** The parts of the process that a call uses. */
export interface CallSurroundings {
  /** How quick the plugin's stretches are. */
  readonly pace: SlicePace;
  /** How much wall time a stretch needs. */
  readonly crowding: CpuCrowding;
  /** Isolates alive in this process. */
  readonly isolates: number;
  /** The jobs of all calls of this process. */
  readonly jobs: CryptoJobQueue;
  /** Called once, when the call has ended. `clean`: its isolate may serve another call. */
  onOver(clean: boolean): void;
}

/**
 * One running call in its own isolate. Each stretch of guest code is one entry. The host gets a message before and
 * after it, and the slice limits its time. A call that has taken more processor time than it may is ended.
 */
export class IsolateCall {
  readonly id: number;
  readonly limits: Limits;
  readonly #isolate: GuestIsolate;
  readonly #channel: Channel;
  readonly #surroundings: CallSurroundings;
  readonly #bridge: HostCallBridge;
  /** When guest code of the call began to run last, in milliseconds. */
  enteredAt = 0;
  #cpuMs = 0;
  /** When the present stretch has to end on a machine that is not crowded, in milliseconds. */
  #endsAt = 0;
  #over = false;
  readonly #durable: DurableStart | undefined;
  /** Replies for a durable call that come after the answers of its jobs. */
  #later: string[] = [];

  constructor(
    id: number,
    limits: Limits,
    isolate: GuestIsolate,
    channel: Channel,
    surroundings: CallSurroundings,
    durable?: DurableStart,
  ) {
    this.id = id;
    this.limits = limits;
    this.#isolate = isolate;
    this.#channel = channel;
    this.#surroundings = surroundings;
    this.#durable = durable;
    this.#bridge = new HostCallBridge(this, channel, surroundings.jobs);
    isolate.attach((op, text) => this.#bridge.answer(op, text));
  }

  /**
   * Starts the handler; `context` is the text of an {@link InvocationContext}.
   * @returns false when its isolate cannot serve the call: nothing has run, and the call must begin in another isolate
   */
  start(context: string): boolean {
    return this.#enter('invoke', context);
  }

  /** Passes a capability's answer to the guest. An answer that no request waits for is dropped. */
  reply(text: string): void {
    if (this.#durable !== undefined && this.#bridge.hasJobs) this.#later.push(text);
    else if (this.#bridge.replied(text)) this.#enter('reply', text);
  }

  get seed(): string | undefined {
    return this.#durable?.seed;
  }

  fire(timer: number): void {
    this.#enter('fire', timer);
    this.#channel.flush();
  }

  leftMs(): number {
    return Math.max(0, this.#endsAt - performance.now());
  }

  leftCpuMs(): number {
    return this.limits.cpu_ms - this.#cpuMs;
  }

  /** Enters the guest with a job's result. The job's time counts as the guest's own. */
  jobDone(reply: string, ms: number): void {
    if (this.#over) return;
    this.#cpuMs += ms;
    if (this.leftCpuMs() > 0) {
      this.#enter('reply', reply);
    } else {
      this.#bridge.end(cpuLimit(this.limits));
      this.#finish(false);
    }
    while (this.#later.length > 0 && !this.#bridge.hasJobs) this.reply(this.#later.shift() ?? '');
    this.#channel.flush();
  }

  /** Ends the call, because it is over for the service. Safe to call late. */
  drop(): void {
    this.#bridge.end({ kind: 'ended', code: 'CANCELED', message: 'The call was dropped by the service' });
    this.#finish(false);
  }

  /** @returns false when an earlier call left something behind in the isolate */
  #enter(entry: CallEntry, argument: string | number): boolean {
    if (this.#over) return true;
    const bridge = this.#bridge;
    const { pace, crowding } = this.#surroundings;
    const mayTakeMs = this.limits.slice_ms * crowding.factor;

    this.#channel.enter(this.id, pace.quick);
    const began = performance.now();
    this.enteredAt = began;
    const beganCpu = recentThreadCpuMs(began);
    this.#endsAt = began + this.limits.slice_ms;
    const escape = this.#isolate.enter(entry, argument, mayTakeMs, this.#durable?.now);
    const spentMs = performance.now() - began;
    this.#cpuMs += sliceCpuMs(spentMs, beganCpu);
    pace.took(spentMs);
    crowding.took(spentMs, beganCpu);
    if (escape === 'changed') {
      this.#channel.send(UP.LEAVE, this.id, '');
      this.#leave();
      return false;
    }
    if (escape !== null) this.#endBy(escape);
    if (this.leftCpuMs() <= 0) bridge.end(cpuLimit(this.limits));
    const clean = bridge.hasEnded && bridge.idle && this.#isolate.sound;
    const { result } = bridge;
    if (result !== null) bridge.logLeftBehind();
    if (result === null || result.length > ONE_READ) this.#channel.send(UP.LEAVE, this.id, '');

    if (bridge.hasEnded) this.#finish(clean);
    return true;
  }

  /** Turns an escape into the call's end; no other code does. An outcome that the guest announced before stands. */
  #endBy(escape: SliceFailure): void {
    switch (escape.cause) {
      case 'time': {
        const outcome = sliceLimit(this.limits);
        if (escape.stack !== '' && !this.#bridge.hasEnded) {
          this.#bridge.log(`uncaught ${outcome.code}: ${outcome.message}\n${escape.stack}`);
        }
        return this.#bridge.end(outcome);
      }
      case 'memory':
        return this.#bridge.end(memoryLimit(this.limits));
      case 'thrown': {
        // An unhandled rejection does not end the call: the handler may still return.
        this.#bridge.log(`uncaught Unhandled rejection: ${escape.text}`);
        return;
      }
      default:
        return escape satisfies never;
    }
  }

  #leave(): void {
    this.#over = true;
    this.#bridge.close();
    this.#isolate.detach();
  }

  #heapBytes(): number {
    const isolate = this.#isolate;
    const { result, requests } = this.#bridge;
    const did = this.#cpuMs >= LITTLE_MS || requests > 0 || result === null;
    return did || isolate.served % MEASURED_EVERY === 1 ? isolate.measureHeap() : isolate.heapBytes;
  }

  #finish(clean: boolean): void {
    if (this.#over) return;
    // Counts a job that still runs, which the handler did not await.
    this.#cpuMs += this.#bridge.jobMs;
    this.#leave();
    const { isolates } = this.#surroundings;
    const { result, outcome, requests, droppedLogs } = this.#bridge;
    const heapBytes = this.#heapBytes();
    // The result or outcome is the guest's own text. It is passed on unchanged; the host checks it, outside this process.
    if (result !== null) {
      const numbers = `${this.#cpuMs} ${requests} ${heapBytes} ${droppedLogs} ${isolates}`;
      this.#channel.send(UP.RETURNED, this.id, `${numbers}\n${result}`);
    } else {
      const usage = `{"cpu_ms":${this.#cpuMs},"calls":${requests},"heap_bytes":${heapBytes}}`;
      const done = `{"outcome":${outcome},"usage":${usage},"dropped_logs":${droppedLogs},"isolates":${isolates}}`;
      this.#channel.send(UP.DONE, this.id, done);
    }
    this.#surroundings.onOver(clean);
  }
}
