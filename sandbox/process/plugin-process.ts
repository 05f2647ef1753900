import { performance } from 'node:perf_hooks';
import { CallTable } from '../call-table.ts';
import type { CallOutcome, DurableStart, LoadFailure, PluginVersion } from '../contract.ts';
import {
  type BootMessage,
  DOWN,
  type DoneMessage,
  evaluationLimitMs,
  JOURNAL_FD,
  type LoadedMessage,
  PROTOCOL_VERSION,
  type ReadyMessage,
  UP,
} from '../protocol.ts';
import { type CallSurroundings, IsolateCall } from './call.ts';
import { hostFunctionOutsideCalls } from './call-bridge.ts';
import { CpuCrowding, memoryLimit, SlicePace, threadCpuMs } from './call-ends.ts';
import type { Channel } from './channel.ts';
import { CryptoJobQueue } from './crypto/jobs.ts';
import { EvaluationError, type GuestIsolate, GuestProgram, GuestRuntime } from './isolate.ts';
import { IsolatePool } from './isolate-pool.ts';

/** How often isolates that are left from a burst of calls are disposed of, in milliseconds. */
const SWEEP_MS = 10_000;
/**
 * How long the making of further isolates waits while one is ready, in milliseconds. The kernel likes to run the host,
 * which an answer wakes, on the processor of this process. There the answer would wait until this process sleeps.
 */
const AFTER_ANSWER_MS = 5;
/**
 * While so many calls are lively, further ones wait, so that few isolates serve them: an isolate that has served a moment
 * ago has its code compiled and its memory in the processor's cache, which halves the time of a short call.
 */
const MAX_LIVELY = 12;
/**
 * How long a call is lively after guest code of it has run, in milliseconds. One that has waited longer for its answers
 * or timers holds up no other.
 */
const LIVELY_MS = 3;
/** How long a call waits for lively ones at most, in milliseconds: they may go on and on with short waits. */
const LIVELY_PATIENCE_MS = 50;
/** The number that stands for guest code outside calls: the evaluation of a module. */
const NO_CALL = 0;

/** A call that waits for an isolate. */
interface WaitingCall {
  readonly id: number;
  readonly pool: IsolatePool;
  readonly context: string;
  readonly durable: DurableStart | undefined;
  readonly since: number;
}

/** Acts on the host's frames. Holds one plugin, its versions and its running calls. */
export class PluginProcess {
  readonly #channel: Channel;
  readonly #nodeVersion: string;
  readonly #afterAnswerMs: number;
  readonly #livelyMs: number;
  readonly #patienceMs: number;
  readonly #calls = new CallTable<IsolateCall>();
  readonly #pace = new SlicePace();
  readonly #crowding = new CpuCrowding();
  readonly #jobs = new CryptoJobQueue();
  /** The current version and the one before it, which may still get its last calls. */
  #pools: IsolatePool[] = [];
  #runtime: GuestRuntime | undefined;
  #preparing = false;
  /** Isolates that serve no other call. Disposing of one takes so long that no answer should wait for it. */
  #worn: GuestIsolate[] = [];
  /** An isolate after its first call. Later isolates get the code that the call has compiled. */
  #hasServed: GuestIsolate | undefined;
  /** Calls that have not begun, oldest first. */
  #waiting: WaitingCall[] = [];
  /** Calls that run and have been lively of late. */
  readonly #lively = new Set<IsolateCall>();
  /** True when waiting calls are looked at once more in the next turn of the loop, and later. */
  #looksSoon = false;
  #looksLater = false;
  /** True when this turn of the loop has made an isolate for a call. The next is made in a later turn. */
  #hasMade = false;
  /**
   * The number of isolates last reported to the host. Null after a call's end reported a number that may have changed
   * since.
   */
  #reported: number | null = null;

  constructor(
    channel: Channel,
    nodeVersion: string,
    { sweepMs = SWEEP_MS, afterAnswerMs = AFTER_ANSWER_MS, livelyMs = LIVELY_MS, patienceMs = LIVELY_PATIENCE_MS } = {},
  ) {
    this.#channel = channel;
    this.#afterAnswerMs = afterAnswerMs;
    this.#livelyMs = livelyMs;
    this.#patienceMs = patienceMs;
    this.#nodeVersion = nodeVersion;
    setInterval(() => this.#sweep(), sweepMs).unref();
  }

  /**
   * Acts on one frame.
   * @throws Error when the host speaks another protocol: this process can then only end
   */
  receive(kind: number, call: number, text: string): void {
    switch (kind) {
      case DOWN.INVOKE:
        return this.#invoke(call, text);
      case DOWN.REPLY:
        return this.#calls.get(call)?.reply(text);
      case DOWN.END:
        return this.#drop(call);
      case DOWN.LOAD:
        return this.#load(JSON.parse(text) as PluginVersion);
      case DOWN.BOOT:
        return this.#boot(JSON.parse(text) as BootMessage);
      default:
        throw new Error(`no such frame: ${kind}`);
    }
  }

  #boot({ protocol, journal, runtime }: BootMessage): void {
    if (protocol !== PROTOCOL_VERSION) {
      throw new Error(`the host speaks protocol ${protocol}, this process ${PROTOCOL_VERSION}`);
    }
    if (journal) this.#channel.keepJournal(JOURNAL_FD);
    this.#runtime = new GuestRuntime(runtime);
    const ready: ReadyMessage = { protocol: PROTOCOL_VERSION, node: this.#nodeVersion };
    this.#channel.send(UP.READY, NO_CALL, JSON.stringify(ready));
  }

  #load(given: PluginVersion): void {
    if (this.#runtime === undefined) throw new Error('LOAD came before BOOT');
    const program = new GuestProgram(this.#runtime, given);
    const { version } = program;
    const pool = new IsolatePool(version, {
      create: (start, isRenewable) =>
        this.#evaluating(() => program.createIsolate(hostFunctionOutsideCalls(start?.seed), start?.now, isRenewable)),
      tryRenewable: ({ seed, now }) =>
        program.tryRenewable(
          () => hostFunctionOutsideCalls(seed),
          now,
          (evaluate) => this.#evaluating(evaluate),
        ),
      renew: (isolate, start) =>
        this.#evaluating(
          () => isolate.renew(hostFunctionOutsideCalls(start?.seed), start?.now),
          isolate.evaluatedQuickly,
        ),
      discard: (isolate) => this.#worn.push(isolate),
    });
    const loaded: LoadedMessage = { version: version.version, isolate_bytes: 0, failure: null };
    try {
      loaded.isolate_bytes = pool.open();
      const [current, old] = this.#pools;
      current?.drain();
      old?.drain();
      this.#pools = current === undefined ? [pool] : [pool, current];
    } catch (error) {
      loaded.failure = failureOf(error, version);
    }
    this.#channel.send(UP.LOADED, NO_CALL, JSON.stringify(loaded));
  }

  #invoke(id: number, text: string): void {
    const cut = text.indexOf('\n');
    const [version, seed, now] = text.slice(0, cut).split(' ');
    const durable = seed === undefined ? undefined : { seed, now: Number(now) };
    const pool = this.#pools.find((known) => known.version.version === version);
    if (pool === undefined) return this.#refuse(id, lost(`Version ${version} is not loaded`));
    this.#waiting.push({ id, pool, context: text.slice(cut + 1), durable, since: performance.now() });
    this.#beginWaiting();
  }

  /**
   * Begins the waiting calls for which there are isolates. Makes one isolate per turn: evaluating a large module takes
   * long, and answers for running calls must not wait for the modules of all new calls. An isolate that a call gives
   * back serves the next call.
   */
  #beginWaiting(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (this.#isLively(first)) return this.#lookLater();
      if (!first.pool.isReadyFor(first.durable)) {
        if (this.#hasMade) return;
        this.#hasMade = true;
        this.#lookSoon();
      }
      this.#waiting.shift();
      this.#begin(first);
    }
  }

  /** Whether as many calls are lively as may be, and the call has not waited long for them. */
  #isLively(waiting: WaitingCall): boolean {
    const lively = this.#lively;
    if (lively.size < MAX_LIVELY) return false;
    const now = performance.now();
    if (now - waiting.since > this.#patienceMs) return false;
    const since = now - this.#livelyMs;
    for (const call of lively) if (call.enteredAt < since) lively.delete(call);
    return lively.size >= MAX_LIVELY;
  }

  #lookLater(): void {
    if (this.#looksLater) return;
    this.#looksLater = true;
    setTimeout(
      () => {
        this.#looksLater = false;
        this.#beginWaiting();
        this.#channel.flush();
      },
      Math.min(this.#livelyMs, this.#patienceMs),
    ).unref();
  }

  #lookSoon(): void {
    if (this.#looksSoon || this.#waiting.length === 0) return;
    this.#looksSoon = true;
    setImmediate(() => {
      this.#looksSoon = false;
      this.#hasMade = false;
      this.#beginWaiting();
      this.#channel.flush();
    });
  }

  /** Begins a call. If its isolate cannot serve the call, the call waits for another isolate. */
  #begin(waiting: WaitingCall): void {
    const { id, pool, durable } = waiting;
    let isolate: GuestIsolate;
    try {
      isolate = pool.take(durable);
    } catch (error) {
      return this.#refuse(id, failureOf(error, pool.version));
    }
    const surroundings: CallSurroundings = {
      pace: this.#pace,
      crowding: this.#crowding,
      isolates: this.#isolates(),
      jobs: this.#jobs,
      onOver: (clean) => {
        this.#calls.delete(id);
        this.#lively.delete(call);
        pool.give(isolate, clean);
        this.#lookSoon();
        if (clean && isolate.served === 1) this.#hasServed = isolate;
        this.#prepareSoon(pool);
      },
    };
    const call = new IsolateCall(id, pool.version.limits, isolate, this.#channel, surroundings, durable);
    this.#calls.set(id, call);
    this.#lively.add(call);
    this.#reported = null;
    if (!call.start(waiting.context)) {
      this.#calls.delete(id);
      this.#lively.delete(call);
      pool.give(isolate, false);
      this.#waiting.unshift(waiting);
    }
    this.#prepareSoon(pool);
  }

  /** The host has ended a call. */
  #drop(id: number): void {
    const at = this.#waiting.findIndex((waiting) => waiting.id === id);
    if (at < 0) return this.#calls.get(id)?.drop();
    this.#waiting.splice(at, 1);
    this.#refuse(id, {
      outcome: { kind: 'ended', code: 'CANCELED', message: 'The call was dropped before it began' },
      report: '',
    });
  }

  /** Evaluates a module. It is guest code, so the host watches the evaluation too, as code outside any call. */
  #evaluating<T>(evaluate: () => T, isQuick = false): T {
    this.#disposeOfWorn();
    this.#channel.enter(NO_CALL, isQuick);
    const beganOwn = threadCpuMs();
    const began = performance.now();
    try {
      return evaluate();
    } finally {
      this.#crowding.took(performance.now() - began, beganOwn);
      this.#channel.send(UP.LEAVE, NO_CALL, '');
    }
  }

  #refuse(id: number, { outcome }: LoadFailure): void {
    const done: DoneMessage = {
      outcome,
      usage: { cpu_ms: 0, calls: 0, heap_bytes: 0 },
      dropped_logs: 0,
      isolates: this.#isolates(),
    };
    this.#channel.send(UP.DONE, id, JSON.stringify(done));
  }

  #isolates(): number {
    return this.#pools.reduce((sum, pool) => sum + pool.size, 0);
  }

  /** Makes the next isolate between two batches of frames, so that calls seldom wait for it. */
  #prepareSoon(pool: IsolatePool): void {
    const hasOther = this.#worn.length > 0 || this.#hasServed !== undefined;
    if (this.#preparing || (!pool.wantsMore && !hasOther)) return;
    this.#preparing = true;
    if (pool.isReadyFor()) setTimeout(() => this.#prepare(pool), this.#afterAnswerMs).unref();
    else setImmediate(() => this.#prepare(pool));
  }

  #prepare(pool: IsolatePool): void {
    this.#preparing = false;
    this.#hasServed?.rememberCalls();
    this.#hasServed = undefined;
    this.#disposeOfWorn();
    // A waiting call makes the next isolate itself, and then calls `#prepareSoon` again.
    if (!pool.wantsMore || this.#waiting.length > 0) return;
    try {
      pool.prepare();
      this.#prepareSoon(pool);
    } catch (error) {
      // The next call will meet the same failure and report it.
      if (!(error instanceof EvaluationError)) throw error;
    }
    this.#channel.flush();
  }

  #disposeOfWorn(): void {
    for (const isolate of this.#worn.splice(0)) isolate.dispose();
  }

  #sweep(): void {
    for (const pool of this.#pools) pool.sweep();
    const isolates = this.#isolates();
    if (isolates === this.#reported) return;
    this.#reported = isolates;
    this.#channel.send(UP.ISOLATES, NO_CALL, String(isolates));
    this.#channel.flush();
  }
}

function failureOf(error: unknown, { limits, filename }: PluginVersion): LoadFailure {
  if (!(error instanceof EvaluationError)) throw error;
  const { escape } = error;
  switch (escape.cause) {
    case 'time': {
      const [frame] = escape.stack.split('\n', 1);
      const message = `${filename} took more than ${evaluationLimitMs(limits)} ms to load${frame === '' ? '' : `\n${frame}`}`;
      return { outcome: { kind: 'ended', code: 'CPU_LIMIT', message }, report: '' };
    }
    case 'memory':
      return { outcome: memoryLimit(limits), report: '' };
    case 'failed':
      return { ...escape.failure, outcome: failedToLoad(escape.failure, filename) };
    case 'thrown': {
      // An unhandled rejection: only its text comes out of the isolate.
      const message = `Unhandled rejection: ${escape.text}`;
      const outcome: CallOutcome = { kind: 'threw', message, code: 'PLUGIN_ERROR', status: 500, details: '{}' };
      return { outcome: failedToLoad({ outcome, report: message }, filename), report: message };
    }
    default:
      return escape satisfies never;
  }
}

/**
 * Adds the file and, if the report has a stack, the first frame in it. The host maps the frame to the author's files.
 */
function failedToLoad({ outcome, report }: LoadFailure, filename: string): CallOutcome {
  if (outcome.kind !== 'threw' || report === '') return outcome;
  const frame = report.split('\n').find((line) => /^\s+at /.test(line) && line.includes(`${filename}:`));
  const [said = ''] = outcome.message.split('\n    at ', 1);
  return { ...outcome, message: `${filename} failed to load: ${said}${frame === undefined ? '' : `\n${frame}`}` };
}

function lost(message: string): LoadFailure {
  return { outcome: { kind: 'ended', code: 'SANDBOX_LOST', message }, report: '' };
}
