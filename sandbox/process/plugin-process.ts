import { performance } from 'node:perf_hooks';
import { CallTable } from '../call-table.ts';
import { evaluationMs } from '../evaluation-time.ts';
import {
  type BootMessage,
  DOWN,
  type DoneMessage,
  JOURNAL_FD,
  type LoadedMessage,
  type LoadFailure,
  type Outcome,
  type PluginVersion,
  PROTOCOL_VERSION,
  type ReadyMessage,
  UP,
} from '../protocol.ts';
import { outsideCalls } from './bridge.ts';
import { Call, memoryLimit } from './call.ts';
import type { Channel } from './channel.ts';
import { Crowding } from './crowding.ts';
import { JobQueue } from './crypto/jobs.ts';
import { EvaluationError, type GuestIsolate, GuestProgram, GuestRuntime } from './isolate.ts';
import { IsolateShelf } from './isolate-shelf.ts';
import { Pace } from './pace.ts';
import { threadMs } from './stretch-time.ts';

/** How often isolates that are left from a burst of calls are disposed of, in milliseconds. */
const SWEEP_MS = 10_000;
/** The number that stands for guest code outside calls: the evaluation of a module. */
const NO_CALL = 0;

/** A call that waits for an isolate. */
interface WaitingCall {
  readonly id: number;
  readonly shelf: IsolateShelf;
  readonly context: string;
}

/** Acts on the driver's frames. Holds one plugin, its versions and its running calls. */
export class PluginProcess {
  readonly #channel: Channel;
  readonly #nodeVersion: string;
  readonly #calls = new CallTable<Call>();
  readonly #pace = new Pace();
  readonly #crowding = new Crowding();
  readonly #jobs = new JobQueue();
  /** The current version and the one before it, which may still get its last calls. */
  #shelves: IsolateShelf[] = [];
  #runtime: GuestRuntime | undefined;
  #preparing = false;
  /** Calls that have not begun, oldest first. */
  #waiting: WaitingCall[] = [];
  /** True when this turn of the loop has made an isolate for a call. The next is made in a later turn. */
  #hasMade = false;
  /**
   * The number of isolates last reported to the driver. Null after a call's end reported a number that may have changed
   * since.
   */
  #told: number | null = null;

  constructor(channel: Channel, nodeVersion: string, sweepMs = SWEEP_MS) {
    this.#channel = channel;
    this.#nodeVersion = nodeVersion;
    setInterval(() => this.#sweep(), sweepMs).unref();
  }

  /**
   * Acts on one frame.
   * @throws Error when the driver speaks another protocol: this process can then only end
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
      throw new Error(`the driver speaks protocol ${protocol}, this process ${PROTOCOL_VERSION}`);
    }
    if (journal) this.#channel.keepJournal(JOURNAL_FD);
    this.#runtime = new GuestRuntime(runtime);
    const ready: ReadyMessage = { protocol: PROTOCOL_VERSION, node: this.#nodeVersion };
    this.#channel.send(UP.READY, NO_CALL, JSON.stringify(ready));
  }

  #load(version: PluginVersion): void {
    if (this.#runtime === undefined) throw new Error('LOAD came before BOOT');
    const program = new GuestProgram(this.#runtime, version);
    const shelf = new IsolateShelf(version, () => this.#createIsolate(program));
    const loaded: LoadedMessage = { version: version.version, isolate_bytes: 0, failure: null };
    try {
      loaded.isolate_bytes = shelf.open();
      const [current, old] = this.#shelves;
      current?.drain();
      old?.drain();
      this.#shelves = current === undefined ? [shelf] : [shelf, current];
    } catch (error) {
      loaded.failure = failureOf(error, version);
    }
    this.#channel.send(UP.LOADED, NO_CALL, JSON.stringify(loaded));
  }

  #invoke(id: number, text: string): void {
    const cut = text.indexOf('\n');
    const version = text.slice(0, cut);
    const shelf = this.#shelves.find((known) => known.version.version === version);
    if (shelf === undefined) return this.#refuse(id, lost(`Version ${version} is not loaded`));
    this.#waiting.push({ id, shelf, context: text.slice(cut + 1) });
    this.#beginWaiting();
  }

  /**
   * Begins the waiting calls for which there are isolates. Makes one isolate per turn: evaluating a large module takes
   * long, and answers for running calls must not wait for the modules of all new calls. An isolate that a call gives
   * back serves the next call.
   */
  #beginWaiting(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (!first.shelf.isReady) {
        if (this.#hasMade) return;
        this.#hasMade = true;
        setImmediate(() => {
          this.#hasMade = false;
          this.#beginWaiting();
          this.#channel.flush();
        });
      }
      this.#waiting.shift();
      this.#begin(first);
    }
  }

  /** Begins a call. If its isolate cannot serve the call, the call waits for another isolate. */
  #begin(waiting: WaitingCall): void {
    const { id, shelf } = waiting;
    let isolate: GuestIsolate;
    try {
      isolate = shelf.take();
    } catch (error) {
      return this.#refuse(id, failureOf(error, shelf.version));
    }
    const call = new Call(id, shelf.version.limits, isolate, this.#channel, {
      pace: this.#pace,
      crowding: this.#crowding,
      isolates: this.#isolates(),
      jobs: this.#jobs,
      onOver: (clean) => {
        this.#calls.delete(id);
        shelf.give(isolate, clean);
        this.#prepareSoon(shelf);
      },
    });
    this.#calls.set(id, call);
    this.#told = null;
    if (!call.start(waiting.context)) {
      this.#calls.delete(id);
      shelf.give(isolate, false);
      this.#waiting.unshift(waiting);
    }
    this.#prepareSoon(shelf);
  }

  /** The driver has ended a call. */
  #drop(id: number): void {
    const at = this.#waiting.findIndex((waiting) => waiting.id === id);
    if (at < 0) return this.#calls.get(id)?.drop();
    this.#waiting.splice(at, 1);
    this.#refuse(id, {
      outcome: { kind: 'ended', code: 'CANCELED', message: 'The call was dropped before it began' },
      report: '',
    });
  }

  /** Makes an isolate. Its module is guest code, so the driver watches the evaluation too, as code outside any call. */
  #createIsolate(program: GuestProgram): GuestIsolate {
    this.#channel.enter(NO_CALL);
    const beganOwn = threadMs();
    const began = performance.now();
    try {
      return program.createIsolate(outsideCalls());
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
    return this.#shelves.reduce((sum, shelf) => sum + shelf.size, 0);
  }

  /** Makes the next isolate between two batches of frames, so that calls seldom wait for it. */
  #prepareSoon(shelf: IsolateShelf): void {
    if (this.#preparing || !shelf.wantsMore) return;
    this.#preparing = true;
    setImmediate(() => {
      this.#preparing = false;
      // A waiting call makes the next isolate itself, and then calls this function again.
      if (!shelf.wantsMore || this.#waiting.length > 0) return;
      try {
        shelf.prepare();
        this.#prepareSoon(shelf);
      } catch (error) {
        // The next call will meet the same failure and report it.
        if (!(error instanceof EvaluationError)) throw error;
      }
      this.#channel.flush();
    });
  }

  #sweep(): void {
    for (const shelf of this.#shelves) shelf.sweep();
    const isolates = this.#isolates();
    if (isolates === this.#told) return;
    this.#told = isolates;
    this.#channel.send(UP.SHELF, NO_CALL, String(isolates));
    this.#channel.flush();
  }
}

function failureOf(error: unknown, { limits, filename }: PluginVersion): LoadFailure {
  if (!(error instanceof EvaluationError)) throw error;
  const { escape } = error;
  switch (escape.cause) {
    case 'time': {
      const [frame] = escape.stack.split('\n', 1);
      const message = `${filename} took more than ${evaluationMs(limits)} ms to load${frame === '' ? '' : `\n${frame}`}`;
      return { outcome: { kind: 'ended', code: 'CPU_LIMIT', message }, report: '' };
    }
    case 'memory':
      return { outcome: memoryLimit(limits), report: '' };
    case 'failed':
      return { ...escape.failure, outcome: failedToLoad(escape.failure, filename) };
    case 'thrown': {
      // An unhandled rejection: only its text comes out of the isolate.
      const message = `Unhandled rejection: ${escape.text}`;
      const outcome: Outcome = { kind: 'threw', message, code: 'PLUGIN_ERROR', status: 500, details: '{}' };
      return { outcome: failedToLoad({ outcome, report: message }, filename), report: message };
    }
    default:
      return escape satisfies never;
  }
}

/**
 * Adds the file and, if the report has a stack, the first frame in it. The host maps the frame to the author's files.
 */
function failedToLoad({ outcome, report }: LoadFailure, filename: string): Outcome {
  if (outcome.kind !== 'threw' || report === '') return outcome;
  const frame = report.split('\n').find((line) => /^\s+at /.test(line) && line.includes(`${filename}:`));
  const [said = ''] = outcome.message.split('\n    at ', 1);
  return { ...outcome, message: `${filename} failed to load: ${said}${frame === undefined ? '' : `\n${frame}`}` };
}

function lost(message: string): LoadFailure {
  return { outcome: { kind: 'ended', code: 'SANDBOX_LOST', message }, report: '' };
}
