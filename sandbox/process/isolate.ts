import { performance } from 'node:perf_hooks';
import ivm from 'isolated-vm';
import { evaluationMs } from '../evaluation-time.ts';
import type { GuestEntries, GuestSetup, HostFunction, HostOp } from '../guest/host-function.ts';
import { mentionedNames } from '../language-names.ts';
import { DEFAULT_LIMITS, FIXED_LIMITS, type LoadFailure, type PluginVersion, RUNTIME_PART } from '../protocol.ts';

/** How a stretch of guest code ended other than by coming back: what isolated-vm threw, told apart in one place. */
export type Escape = { cause: 'time' } | { cause: 'memory' } | { cause: 'thrown'; text: string };

/** The entries by which a running call is driven. */
export type CallEntry = 'invoke' | 'reply' | 'fire';

/** Thrown when an isolate could not be made ready: the plugin's module did not evaluate. */
export class EvaluationError extends Error {
  readonly escape: Escape | { cause: 'failed'; failure: LoadFailure };

  constructor(escape: EvaluationError['escape']) {
    super('the module could not be evaluated');
    this.escape = escape;
  }
}

const MIB = 1_048_576;
/** isolated-vm's own minimum. */
const LEAST_MEMORY_MB = 8;
const LONGEST_TEXT = 2000;
const LONGEST_STACK = 10_000;
const FRAME = /^ {4}at /;
/** It means something at the beginning of a script only. */
const STRICT = '"use strict";';
/** What V8 keeps for an isolate beside its heap; its own count of it includes memory that it only borrows. */
const OUTSIDE_HEAP_BYTES = MIB / 4;

/** One script with V8's code cache for it, which is made here and never leaves this process. */
class CachedScript {
  /** See {@link GuestSetup}. */
  readonly mentioned: string[];
  readonly #code: string;
  readonly #filename: string;
  #cache: ivm.ExternalCopy<ArrayBuffer> | undefined;

  constructor(code: string, filename: string) {
    this.#code = code;
    this.#filename = filename;
    this.mentioned = mentionedNames(code);
  }

  compile(isolate: ivm.Isolate): ivm.Script {
    const options = { filename: this.#filename };
    return isolate.compileScriptSync(
      this.#code,
      this.#cache === undefined ? options : { ...options, cachedData: this.#cache },
    );
  }

  /**
   * Makes the cache of what an isolate has run of the script: there V8 finds it compiled, and the functions that were
   * called with it, which it leaves out as long as nobody has called them.
   */
  remember(isolate: ivm.Isolate): void {
    if (this.#cache !== undefined) return;
    // isolated-vm leaves the cache on the script; its types name it on the options only.
    const script: ivm.Script & ivm.CachedDataResult = isolate.compileScriptSync(this.#code, {
      filename: this.#filename,
      produceCachedData: true,
    });
    this.#cache = script.cachedData;
  }
}

/** A plugin of nobody's, which does what most plugins do; and what its one call is told. */
const WARM_UP: PluginVersion = {
  pluginId: 'warm-up',
  version: '',
  code: 'var __isolayer_plugin__ = { handler: async ({ kv }) => ({ value: await kv.get("key") }) };',
  filename: 'warm-up',
  env: {},
  isolation: 'plugin',
  limits: DEFAULT_LIMITS,
};
const WARM_UP_ENTRIES: readonly (readonly [CallEntry, string])[] = [
  ['invoke', '{"params":{},"headers":{},"route":"","config":null,"method":"POST","query":{},"caller":{"keyId":""}}'],
  ['reply', '{"id":1,"reply":{"ok":true,"value":null}}'],
];

/** The guest runtime, compiled once per process. */
export class GuestRuntime {
  readonly script: CachedScript;
  /** What an isolate loads when it is asked for, by name. */
  readonly parts: ReadonlyMap<string, string>;

  /** @param text an expression that evaluates to `boot`, see {@link GuestEntries}, and its parts, see {@link RUNTIME_PART} */
  constructor(text: string) {
    const [script = '', ...parts] = inLatin1(text).split(RUNTIME_PART);
    this.script = new CachedScript(script, 'isolayer');
    this.parts = new Map(
      parts.map((part) => {
        const end = part.indexOf('\n');
        return [part.slice(0, end), part.slice(end + 1)];
      }),
    );
    this.#warmUp();
  }

  /** Has an isolate of nobody's serve a call, so that the code cache has what a call needs. */
  #warmUp(): void {
    try {
      const isolate = new GuestIsolate(
        WARM_UP,
        this,
        new CachedScript(catching(WARM_UP.code), WARM_UP.filename),
        () => '',
      );
      for (const [entry, text] of WARM_UP_ENTRIES) isolate.enter(entry, text, FIXED_LIMITS.evaluate_ms);
      isolate.remember(this.script);
      isolate.dispose();
    } catch {
      // The first isolate of a plugin will meet the same failure, and there it is reported.
    }
  }
}

/** One version of a plugin, compiled once per process, and how to make isolates of it. */
export class GuestProgram {
  readonly version: PluginVersion;
  readonly #runtime: GuestRuntime;
  readonly #script: CachedScript;

  constructor(runtime: GuestRuntime, version: PluginVersion) {
    this.version = version;
    this.#runtime = runtime;
    this.#script = new CachedScript(catching(version.code), version.filename);
  }

  /**
   * Makes an isolate in which the plugin's module has been evaluated.
   * @throws EvaluationError
   */
  createIsolate(outsideCalls: HostFunction): GuestIsolate {
    return new GuestIsolate(this.version, this.#runtime, this.#script, outsideCalls);
  }
}

/**
 * One isolate with one context and one plugin in it, entered synchronously on this thread. Only primitives cross, and
 * no isolated-vm object but the one callback ever reaches the inside.
 *
 * No `onCatastrophicError`: on the thread that is inside the isolate it could only park this process for ever, while
 * without it V8 aborts the process at once, and that is what the driver waits for.
 */
export class GuestIsolate {
  readonly version: string;
  /** Calls this isolate was taken for. */
  served = 0;
  /** False once an end or an error leaves doubts about its state, or code of an ended call goes on in it. */
  sound = true;

  readonly #filename: string;
  readonly #isReused: boolean;
  readonly #isolate: ivm.Isolate;
  readonly #began = performance.now();
  readonly #outsideCalls: HostFunction;
  readonly #parts: ReadonlyMap<string, string>;
  readonly #entries: Record<CallEntry, ivm.Reference>;
  /** Used heap right after evaluation, in bytes. */
  readonly #bornHeapBytes: number;
  #heapBytes = 0;
  #answer: HostFunction;

  constructor(version: PluginVersion, runtime: GuestRuntime, plugin: CachedScript, outsideCalls: HostFunction) {
    this.version = version.version;
    this.#filename = version.filename;
    this.#isReused = version.isolation === 'plugin';
    this.#outsideCalls = outsideCalls;
    this.#parts = runtime.parts;
    this.#answer = outsideCalls;
    this.#isolate = new ivm.Isolate({ memoryLimit: Math.max(LEAST_MEMORY_MB, version.limits.memory_mb) });

    const mayTakeMs = evaluationMs(version.limits);
    const left = () => Math.max(1, Math.ceil(mayTakeMs - (performance.now() - this.#began)));
    const setup: GuestSetup = {
      env: version.env,
      reused: this.#isReused,
      mentioned: plugin.mentioned,
      limits: { result_bytes: version.limits.result_bytes, calls: version.limits.calls },
    };
    try {
      const context = this.#isolate.createContextSync();
      const boot: ivm.Reference = runtime.script
        .compile(this.#isolate)
        .runSync(context, { timeout: left(), reference: true });
      const host = new ivm.Callback((op: HostOp, text: string) => this.#onHost(op, text), { sync: true });
      const entries: ivm.Reference = boot.applySync(undefined, [host], {
        timeout: left(),
        result: { reference: true },
      });
      const entry = (name: keyof GuestEntries): ivm.Reference => entries.getSync(name, { reference: true });
      entry('setup').applySync(undefined, [JSON.stringify(setup)], { timeout: left() });
      plugin.compile(this.#isolate).runSync(context, { timeout: left() });
      const failure: unknown = entry('seal').applySync(undefined, [], { timeout: left() });
      // The runtime's own text; what is in it the driver checks.
      if (failure !== '') {
        throw new EvaluationError({ cause: 'failed', failure: JSON.parse(String(failure)) as LoadFailure });
      }
      this.#entries = {
        invoke: entry('invoke'),
        reply: entry('reply'),
        fire: entry('fire'),
      };
    } catch (error) {
      const failed = error instanceof EvaluationError ? error : new EvaluationError(this.#escapeOf(error));
      this.dispose();
      throw failed;
    }
    this.remember(plugin);
    this.#bornHeapBytes = this.measureHeap();
  }

  /** Keeps what V8 has compiled of a script of this isolate for the next ones. */
  remember(script: CachedScript): void {
    try {
      script.remember(this.#isolate);
    } catch {
      // Something that the script left behind, see `#statistics`; the next isolate tries again.
      this.sound = false;
    }
  }

  /** From now on `answer` is what the guest's host function reaches. */
  attach(answer: HostFunction): void {
    this.#answer = answer;
  }

  /** From now on the guest reaches nothing that belongs to a call. */
  detach(): void {
    this.#answer = this.#outsideCalls;
  }

  /**
   * Runs guest code until it comes back, its microtasks included.
   * @param limitMs longest stretch, in milliseconds
   * @returns null when it came back by itself; `changed` when nothing ran, as an earlier call has left something behind
   */
  enter(entry: CallEntry, argument: string | number, limitMs: number): Escape | 'changed' | null {
    try {
      const timeout = Math.max(1, Math.ceil(limitMs));
      if (this.#entries[entry].applySync(undefined, [argument], { timeout }) !== false) return null;
      this.sound = false;
      return 'changed';
    } catch (error) {
      return this.#escapeOf(error);
    }
  }

  /** Measures the used heap and what buffers take beside it, in bytes; 0 when the isolate is gone. */
  measureHeap(): number {
    const statistics = this.#statistics();
    if (statistics === null) return 0;
    this.#heapBytes = statistics.used_heap_size + statistics.externally_allocated_size;
    return this.#heapBytes;
  }

  /** The heap as it was measured last, in bytes. */
  get heapBytes(): number {
    return this.#heapBytes;
  }

  /** What the isolate takes from the system, in bytes. */
  get residentBytes(): number {
    const statistics = this.#statistics();
    if (statistics === null) return 0;
    return statistics.total_physical_size + statistics.externally_allocated_size + OUTSIDE_HEAP_BYTES;
  }

  /** How much of the room below its heap limit was used up when the heap was measured last, from 0 to 1. */
  growth(limitMb: number): number {
    const room = Math.max(LEAST_MEMORY_MB, limitMb) * MIB - this.#bornHeapBytes;
    return (this.#heapBytes - this.#bornHeapBytes) / Math.max(1, room);
  }

  /** Safe to call twice. */
  dispose(): void {
    this.sound = false;
    this.detach();
    if (!this.#isolate.isDisposed) this.#isolate.dispose();
  }

  /** A callback that throws would show the guest an error of this side, so it never does. */
  #onHost(op: HostOp, text: string): string {
    if (typeof op !== 'string' || typeof text !== 'string') return 'the host takes texts';
    if (op === 'now') {
      // A tenth of a millisecond is fine enough to measure work, and too coarse to measure caches.
      return String(Math.floor((performance.now() - this.#began) * 10) / 10);
    }
    if (op === 'retire') {
      this.sound = false;
      return '';
    }
    if (op === 'part') return this.#parts.get(text) ?? '';
    return this.#answer(op, text);
  }

  /**
   * Null when the isolate is gone. A stretch that its time limit ended can leave rejections behind that nobody handled,
   * and isolated-vm throws one of them out of the next thing that it is asked, whatever that is.
   */
  #statistics(): ivm.HeapStatistics | null {
    for (let left = 2; left > 0 && !this.#isolate.isDisposed; left -= 1) {
      try {
        return this.#isolate.getHeapStatisticsSync();
      } catch {
        this.sound = false;
      }
    }
    return null;
  }

  #escapeOf(error: unknown): Escape {
    this.sound = false;
    // A guest may throw an error with isolated-vm's words. It can lie about its own end only.
    if (this.#isolate.isDisposed) return { cause: 'memory' };
    if (error instanceof Error && error.message === 'Script execution timed out.') return { cause: 'time' };
    return { cause: 'thrown', text: thrownText(error, this.#filename) };
  }
}

/** V8 keeps a text in half the memory when each of its characters fits a byte; an escape means the same as the character. */
function inLatin1(code: string): string {
  return code.replace(/[\u0100-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * What isolated-vm copied out of the isolate is an Error of this side with own text properties, or a primitive. Its stack
 * has the frames of both sides; those of this one are nothing to a plugin.
 */
function thrownText(error: unknown, filename: string): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const isOfGuest = (line: string) => !FRAME.test(line) || line.includes(`${filename}:`);
  const ofGuest = text.slice(0, LONGEST_STACK).split('\n').filter(isOfGuest).join('\n');
  return ofGuest.length > LONGEST_TEXT ? `${ofGuest.slice(0, LONGEST_TEXT)}…` : ofGuest;
}

/** A script that leaves what it throws where the guest runtime finds it, with its causes, and its lines where they were. */
function catching(code: string): string {
  const strict = code.startsWith(STRICT) ? STRICT : '';
  return `${strict}try{${code}\n}catch(error){__isolayer_threw__={error}}`;
}
