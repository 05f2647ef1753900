import { performance } from 'node:perf_hooks';
import ivm from 'isolated-vm';
import { DEFAULT_LIMITS, FIXED_LIMITS, type LoadFailure, type PluginVersion } from '../contract.ts';
import type { GuestEntries, GuestSetup, HostFunction, HostOp } from '../guest/host-function.ts';
import { findLanguageNames, NAMESPACES, RUN_PLUGIN } from '../language-names.ts';
import { evaluationLimitMs, LAZY_MODULE_MARKER } from '../protocol.ts';
import { nodeZlib } from './node-builtins.ts';

/**
 * How a stretch of guest code ended without returning. Made from the errors that isolated-vm throws, in one place only.
 */
export type SliceFailure =
  /** `stack`: the plugin's frames at the moment at which its time was over; empty when none is known. */
  { cause: 'time'; stack: string } | { cause: 'memory' } | { cause: 'thrown'; text: string };

/** The guest's entry functions for a running call. */
export type CallEntry = 'invoke' | 'reply' | 'fire';

/** Thrown when the plugin's module did not evaluate in a new isolate. */
export class EvaluationError extends Error {
  readonly escape: SliceFailure | { cause: 'failed'; failure: LoadFailure };

  constructor(escape: EvaluationError['escape']) {
    super('the module could not be evaluated');
    this.escape = escape;
  }
}

const MIB = 1_048_576;
/** isolated-vm's own minimum. */
const MIN_MEMORY_MB = 8;
const MAX_TEXT = 2000;
const MAX_STACK = 10_000;
const FRAME = /^ {4}at /;
/** The directive. It only counts at the beginning of a script. */
const STRICT = '"use strict";';
/** The file of the runtime in stack traces. */
const RUNTIME = 'isolayer';
/**
 * An estimate of V8's memory for an isolate beside its heap. V8's own count is no use: it includes memory that V8 only
 * borrows.
 */
const OUTSIDE_HEAP_BYTES = MIB / 4;

/** One script with its V8 code cache. The cache is made in this process and never leaves it. */
class CachedScript {
  readonly code: string;
  readonly #filename: string;
  #mentioned: string[] | undefined;
  #cache: ivm.ExternalCopy<ArrayBuffer> | undefined;
  #holdsCalls = false;

  constructor(code: string, filename: string) {
    this.code = code;
    this.#filename = filename;
  }

  /** See {@link GuestSetup}. */
  get mentioned(): string[] {
    this.#mentioned ??= findLanguageNames(this.code);
    return this.#mentioned;
  }

  compile(isolate: ivm.Isolate): ivm.Script {
    const options = { filename: this.#filename };
    return isolate.compileScriptSync(
      this.code,
      this.#cache === undefined ? options : { ...options, cachedData: this.#cache },
    );
  }

  /**
   * Makes the cache from an isolate that has run the script. There V8 has compiled the script and the functions that
   * ran; it leaves functions that were never called out of the cache.
   * @param hasServed whether calls have run functions of the script. The cache is then made once more
   */
  remember(isolate: ivm.Isolate, hasServed = false): void {
    if (this.#cache !== undefined && (!hasServed || this.#holdsCalls)) return;
    this.#holdsCalls = hasServed;
    // isolated-vm puts the cache on the script, though its types name it only on the options.
    const script: ivm.Script & ivm.CachedDataResult = isolate.compileScriptSync(this.code, {
      filename: this.#filename,
      produceCachedData: true,
    });
    this.#cache = script.cachedData;
  }
}

/** A sample plugin that does what most plugins do, and below it the texts for its one call. */
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
  /** The runtime's lazy modules by name: those that an isolate has asked for, and the packed texts of the others. */
  readonly #lazyModules: Map<string, CachedScript | string>;

  /**
   * @param text an expression that evaluates to `boot`, see {@link GuestEntries}, and its lazy modules, see {@link
   * LAZY_MODULE_MARKER}
   */
  constructor(text: string) {
    const [script = '', ...lazyModules] = text.split(LAZY_MODULE_MARKER);
    this.script = new CachedScript(script, RUNTIME);
    this.#lazyModules = new Map(
      lazyModules.map((module) => {
        const end = module.indexOf('\n');
        return [module.slice(0, end), module.slice(end + 1)];
      }),
    );
    this.#warmUp();
  }

  /** A lazy module, or undefined when there is none of that name. */
  lazyModule(name: string): CachedScript | undefined {
    const known = this.#lazyModules.get(name);
    if (typeof known !== 'string') return known;
    const script = new CachedScript(
      nodeZlib().inflateRawSync(Buffer.from(known, 'base64')).toString('latin1'),
      RUNTIME,
    );
    this.#lazyModules.set(name, script);
    return script;
  }

  /** Serves a call of the sample plugin, so that the code cache holds the code that a call needs. */
  #warmUp(): void {
    try {
      const isolate = new GuestProgram(this, WARM_UP).createIsolate(() => '');
      for (const [entry, text] of WARM_UP_ENTRIES) isolate.enter(entry, text, FIXED_LIMITS.evaluate_ms);
      isolate.remember(this.script);
      isolate.dispose();
    } catch {
      // The first isolate of a plugin will meet the same failure and report it.
    }
  }
}

/** One version of a plugin, compiled once per process. Makes isolates of it. */
export class GuestProgram {
  /** Without its code, which the script holds. */
  readonly version: PluginVersion;
  readonly #runtime: GuestRuntime;
  readonly #script: CachedScript;
  /** The script as a function, for isolates in which the module can be evaluated anew. */
  #function: CachedScript | undefined;
  /** Names of the lazy modules that an isolate of this version has used. Later isolates get them as compiled code. */
  readonly #used = new Set<string>();

  constructor(runtime: GuestRuntime, version: PluginVersion) {
    this.version = { ...version, code: '' };
    this.#runtime = runtime;
    this.#script = new CachedScript(catching(version.code), version.filename);
  }

  /**
   * Makes the first isolate in which the module can be evaluated anew. There is none of a module that reads the time or
   * draws numbers while it loads, as it may end up differently each time, and none of one that changes what all calls
   * share. It is evaluated in an ordinary isolate first, where its changes are found by comparison, and then in a sealed
   * world, where such a change is told, or throws, where the code is strict. Other code is tried as strict code too.
   * @returns false when there is none; undefined when time or memory ended a trial, so that it says nothing
   * @param outsideCalls makes the function that answers the module's questions
   * @param now where the clock stands meanwhile, for a durable call
   * @param evaluating runs one evaluation
   */
  tryRenewable(
    outsideCalls: () => HostFunction,
    now: number,
    evaluating: (evaluate: () => GuestIsolate) => GuestIsolate = (evaluate) => evaluate(),
  ): GuestIsolate | false | undefined {
    const { code } = this.#script;
    if (this.version.isolation !== 'plugin' || code.includes(RUN_PLUGIN)) return false;
    const attempt = (make: () => GuestIsolate): GuestIsolate | false | undefined => {
      try {
        const isolate = evaluating(make);
        if (isolate.sound) return isolate;
        isolate.dispose();
        return false;
      } catch (error) {
        if (!(error instanceof EvaluationError)) throw error;
        const { cause } = error.escape;
        return cause === 'failed' || cause === 'thrown' ? false : undefined;
      }
    };
    const trials = [() => this.#isolate(outsideCalls(), undefined, this.#script, false, true)];
    if (!STRICT_CODE.test(code)) {
      const plugin = new CachedScript(asFunction(STRICT + code), this.version.filename);
      trials.push(() => this.#isolate(outsideCalls(), now, plugin, true));
    }
    for (const make of trials) {
      const trial = attempt(make);
      if (!trial) return trial;
      trial.dispose();
      if (!trial.pure) return false;
    }
    return attempt(() => this.createIsolate(outsideCalls(), now, true));
  }

  /**
   * Makes an isolate in which the plugin's module has been evaluated.
   * @param now where the clock stands meanwhile, for a durable call
   * @param isRenewable whether the module can be evaluated anew in it
   * @throws EvaluationError
   */
  createIsolate(outsideCalls: HostFunction, now?: number, isRenewable = false): GuestIsolate {
    if (!isRenewable) return this.#isolate(outsideCalls, now, this.#script, false);
    this.#function ??= new CachedScript(asFunction(this.#script.code), this.version.filename);
    return this.#isolate(outsideCalls, now, this.#function, true);
  }

  #isolate(
    outsideCalls: HostFunction,
    now: number | undefined,
    plugin: CachedScript,
    isRenewable: boolean,
    isTrial = false,
  ) {
    const [version, runtime, used] = [this.version, this.#runtime, this.#used];
    return new GuestIsolate({ version, runtime, plugin, used, outsideCalls, now, isRenewable, isTrial });
  }
}

interface IsolateParts {
  readonly version: PluginVersion;
  readonly runtime: GuestRuntime;
  readonly plugin: CachedScript;
  /** Names of lazy modules that the plugin will probably use. Those that it asks for are added. */
  readonly used: Set<string>;
  readonly outsideCalls: HostFunction;
  /** Where the clock stands while the module is evaluated, for a durable call. */
  readonly now: number | undefined;
  readonly isRenewable: boolean;
  /** Whether a module that changes what calls share makes the isolate unsound. */
  readonly isTrial: boolean;
}

/** An evaluation that takes less, in milliseconds, is quick. */
const QUICK_MS = 0.5;

/** The module as a function, and the entries that run it. */
type RenewableModule = Record<'make' | 'evaluate' | 'settle', ivm.Reference>;

/**
 * One isolate with one context and one plugin. It is entered synchronously on this thread. Only primitives cross the
 * boundary. The guest gets no isolated-vm object except the one callback.
 *
 * It sets no `onCatastrophicError`. On the thread that is inside the isolate, that handler could only block this
 * process forever. Without it V8 aborts the process at once, and the host relies on that.
 */
export class GuestIsolate {
  readonly version: string;
  /** Number of calls that were given this isolate. */
  served = 0;
  /** Whether no call has met its module. */
  unused = true;
  /** Whether its module can be evaluated anew, by {@link renew}. */
  readonly isRenewable: boolean;
  /** Whether the module has read no time and drawn no number while it loaded, so that it is the same in each isolate. */
  pure = true;
  /** Whether evaluating the module anew will probably take very little time. */
  evaluatedQuickly = false;
  /** False once an end or an error makes its state doubtful, or code of an ended call still runs in it. */
  sound = true;

  readonly #filename: string;
  readonly #isReused: boolean;
  readonly #isolate: ivm.Isolate;
  readonly #began = performance.now();
  #outsideCalls: HostFunction;
  readonly #runtime: GuestRuntime;
  readonly #plugin: CachedScript;
  readonly #used: Set<string>;
  readonly #mayTakeMs: number;
  readonly #entries: Record<CallEntry, ivm.Reference>;
  #module: RenewableModule | undefined;
  /** Used heap right after evaluation, in bytes. */
  readonly #bornHeapBytes: number;
  #heapBytes = 0;
  #answer: HostFunction;
  #isLoading = true;

  constructor({ version, runtime, plugin, used, outsideCalls, now, isRenewable, isTrial }: IsolateParts) {
    this.version = version.version;
    this.#filename = version.filename;
    this.#isReused = version.isolation === 'plugin';
    this.isRenewable = isRenewable;
    this.#plugin = plugin;
    this.#used = used;
    this.#outsideCalls = outsideCalls;
    this.#runtime = runtime;
    this.#answer = outsideCalls;
    this.#isolate = new ivm.Isolate({ memoryLimit: Math.max(MIN_MEMORY_MB, version.limits.memory_mb) });

    const given = [...used].map((name) => [name, runtime.lazyModule(name) as CachedScript] as const);
    this.#mayTakeMs = evaluationLimitMs(version.limits);
    const left = () => Math.max(1, Math.ceil(this.#mayTakeMs - (performance.now() - this.#began)));
    const setup: GuestSetup = {
      env: version.env,
      reused: this.#isReused,
      tried: isTrial,
      mentioned: plugin.mentioned,
      now,
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
      for (const [name, script] of given) {
        const made = script.compile(this.#isolate).runSync(context, { timeout: left(), reference: true });
        entry('take').applySync(undefined, [name, made.derefInto({ release: true })], { timeout: left() });
      }
      const run = plugin.compile(this.#isolate);
      if (isRenewable) {
        entry('seal').applySync(undefined, [], { timeout: left() });
        const make: ivm.Reference = run.runSync(context, { timeout: left(), reference: true });
        this.#module = { make, evaluate: entry('evaluate'), settle: entry('settle') };
        this.#evaluate(now, left);
      } else {
        run.runSync(context, { timeout: left() });
        failIf(entry('seal').applySync(undefined, [], { timeout: left() }));
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
    this.#isLoading = false;
    this.remember(plugin);
    for (const [, script] of given) this.remember(script);
    this.#bornHeapBytes = this.measureHeap();
  }

  /**
   * Evaluates the module anew, so that nothing is left of the calls that the isolate has served: what they could have
   * left beside the module is frozen, or ends the isolate.
   * @param outsideCalls answers the module's questions meanwhile
   * @param now where the clock stands meanwhile, for a durable call
   * @returns whether the module has evaluated as it should
   */
  renew(outsideCalls: HostFunction, now?: number): boolean {
    const began = performance.now();
    this.#outsideCalls = outsideCalls;
    this.detach();
    this.#isLoading = true;
    this.pure = true;
    try {
      this.#evaluate(now, () => Math.max(1, Math.ceil(this.#mayTakeMs - (performance.now() - began))));
    } catch (error) {
      if (!(error instanceof EvaluationError)) this.#escapeOf(error);
      this.sound = false;
    }
    this.#isLoading = false;
    this.unused = true;
    this.evaluatedQuickly = performance.now() - began < QUICK_MS;
    // As a module of the same version has read no time before, this one should not.
    return this.sound && (now !== undefined || this.pure);
  }

  #evaluate(now: number | undefined, left: () => number): void {
    const { make, evaluate, settle } = this.#module as RenewableModule;
    const given = now === undefined ? [make.derefInto()] : [make.derefInto(), now];
    if (evaluate.applySync(undefined, given, { timeout: left() }) === false) this.sound = false;
    else failIf(settle.applySync(undefined, [], { timeout: left() }));
  }

  /** Keeps V8's compiled code of a script from this isolate for later isolates. */
  remember(script: CachedScript): void {
    if (this.#isolate.isDisposed) return;
    try {
      script.remember(this.#isolate, this.served > 0);
    } catch {
      // An error that the script left behind, see `#statistics`. The next isolate tries again.
      this.sound = false;
    }
  }

  /** Keeps the compiled code of what calls have run, too. To be called when there is time, after the first call. */
  rememberCalls(): void {
    this.remember(this.#plugin);
    for (const name of this.#used) this.remember(this.#runtime.lazyModule(name) as CachedScript);
  }

  /** Connects the guest's host function to `answer`. */
  attach(answer: HostFunction): void {
    this.#answer = answer;
  }

  /** Disconnects the guest's host function from the call. */
  detach(): void {
    this.#answer = this.#outsideCalls;
  }

  /**
   * Runs guest code, including its microtasks, until it returns.
   * @param limitMs longest stretch, in milliseconds
   * @param now where the clock of a durable call begins
   * @returns null when the code returned by itself; `changed` when nothing ran, because an earlier call left something
   * behind
   */
  enter(entry: CallEntry, argument: string | number, limitMs: number, now?: number): SliceFailure | 'changed' | null {
    try {
      const timeout = timeoutOf(limitMs);
      const given = now === undefined ? [argument] : [argument, now];
      if (this.#entries[entry].applySync(undefined, given, { timeout }) !== false) return null;
      this.sound = false;
      return 'changed';
    } catch (error) {
      return this.#escapeOf(error);
    }
  }

  /** Measures the used heap plus the memory of buffers outside it, in bytes. Returns 0 when the isolate is gone. */
  measureHeap(): number {
    const statistics = this.#statistics();
    if (statistics === null) return 0;
    this.#heapBytes = statistics.used_heap_size + statistics.externally_allocated_size;
    return this.#heapBytes;
  }

  /** The last measurement of the heap, in bytes. */
  get heapBytes(): number {
    return this.#heapBytes;
  }

  /** The system memory that the isolate takes, in bytes. */
  get residentBytes(): number {
    const statistics = this.#statistics();
    if (statistics === null) return 0;
    return statistics.total_physical_size + statistics.externally_allocated_size + OUTSIDE_HEAP_BYTES;
  }

  /** The share of the room below the heap limit that was in use at the last measurement, from 0 to 1. */
  growth(limitMb: number): number {
    const room = Math.max(MIN_MEMORY_MB, limitMb) * MIB - this.#bornHeapBytes;
    return (this.#heapBytes - this.#bornHeapBytes) / Math.max(1, room);
  }

  /** Safe to call twice. */
  dispose(): void {
    this.sound = false;
    this.detach();
    if (!this.#isolate.isDisposed) this.#isolate.dispose();
  }

  /** Answers the guest's host function. It never throws: the guest would see an error object of this side. */
  #onHost(op: HostOp, text: string): string {
    if (typeof op !== 'string' || typeof text !== 'string') return 'the host takes texts';
    if (this.#isLoading && isImpure(op, text)) this.pure = false;
    if (op === 'now') {
      // A resolution of 0.1 ms is fine enough to measure work, and too coarse to time caches.
      return String(Math.floor((performance.now() - this.#began) * 10) / 10);
    }
    if (op === 'retire') {
      this.sound = false;
      return '';
    }
    if (op === 'impure') return '';
    if (op === 'lazy') {
      const script = this.#runtime.lazyModule(text);
      if (script !== undefined) this.#used.add(text);
      return script?.code ?? '';
    }
    return this.#answer(op, text);
  }

  /**
   * Returns the heap statistics, or null when the isolate is gone. Tries twice: a stretch that its time limit ended can
   * leave unhandled rejections behind, and isolated-vm throws one of them from the next operation, whatever it is.
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

  #escapeOf(error: unknown): SliceFailure {
    this.sound = false;
    // A guest may throw an error with the same text as isolated-vm's. It can only lie about its own end.
    if (this.#isolate.isDisposed) return { cause: 'memory' };
    if (error instanceof Error && error.message === 'Script execution timed out.') {
      // isolated-vm takes the stack before it ends the script.
      const [, ...frames] = thrownText(error, this.#filename).split('\n');
      return { cause: 'time', stack: frames.join('\n') };
    }
    return { cause: 'thrown', text: thrownText(error, this.#filename) };
  }
}

/**
 * The runtime itself writes the text. The host checks its content.
 * @throws EvaluationError when the module has failed
 */
function failIf(failure: unknown): void {
  if (failure === '') return;
  throw new EvaluationError({ cause: 'failed', failure: JSON.parse(String(failure)) as LoadFailure });
}

/** By how much a limit may grow, as a part of it and in milliseconds. */
const MAX_GRACE = 1 / 20;
const MAX_GRACE_MS = 25;

/**
 * Returns a limit in whole milliseconds, a little later than asked: at the next multiple of the grace. A thread of
 * isolated-vm wakes for each limit when it would have run out, also for those of stretches that have long ended. Of many
 * short stretches, most have the same end then, and the thread wakes some times rather than thousands of times a second.
 */
function timeoutOf(limitMs: number): number {
  const grace = Math.max(1, Math.min(MAX_GRACE_MS, Math.floor(limitMs * MAX_GRACE)));
  return Math.max(1, Math.ceil(limitMs + grace - ((performance.now() + limitMs) % grace)));
}

/** Whether a question of the module tells it the time or draws a number for it. */
function isImpure(op: HostOp, text: string): boolean {
  if (op === 'crypto') return /"op":"(key-pair|sign|oaep|encrypt|cipher)"/.test(text);
  return op === 'impure' || op === 'random' || op === 'now';
}

/**
 * Returns the text of a thrown value. isolated-vm copies it out of the isolate as an Error of this side with own text
 * properties, or as a primitive. The stack has frames of both sides; those of this side are left out.
 */
function thrownText(error: unknown, filename: string): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const isOfGuest = (line: string) => !FRAME.test(line) || line.includes(`${filename}:`);
  const ofGuest = text.slice(0, MAX_STACK).split('\n').filter(isOfGuest).join('\n');
  return ofGuest.length > MAX_TEXT ? `${ofGuest.slice(0, MAX_TEXT)}…` : ofGuest;
}

/** Wraps a script so that the guest runtime finds a thrown error, with its causes. Line numbers stay the same. */
function catching(code: string): string {
  const strict = code.startsWith(STRICT) ? STRICT : '';
  return `${strict}try{${code}\n}catch(error){__isolayer_threw__={error}}`;
}

/** The beginning of a script whose code is strict, as the compiler writes it and behind {@link catching}. */
const STRICT_CODE = /^(?:"use strict";)?try\{(?:"use strict";|[^\n]{0,100}\(\(\) => \{"use strict";)/;
const NOTES = `globalThis.${NAMESPACES}?.push`;

/** A script behind {@link catching} as a function, which leaves what it makes on its argument. Lines stay the same. */
function asFunction(caught: string): string {
  const strict = caught.startsWith(STRICT) ? STRICT : '';
  const body = caught.slice(strict.length + 'try{'.length, caught.lastIndexOf('}catch'));
  const noted = body.replace(NOTES, '__isolayer_made__.namespaces.push');
  return `((__isolayer_made__)=>{${strict}try{${noted}__isolayer_made__.exports=__isolayer_plugin__}catch(error){__isolayer_made__.thrown={error}}})`;
}
