import type { CallEnd } from '../call-end.ts';
import type { HostLink } from '../host-link.ts';
import {
  apply,
  defineProperty,
  floor,
  max,
  min,
  NativeError,
  NativePromise,
  NativeTypeError,
  promiseThen,
  SafeMap,
  toNumber,
} from '../intrinsics/primordials.ts';

type Callback = (...args: unknown[]) => unknown;

/** Beyond this a delay no longer fits 32 bits. */
const MAX_MS = 2 ** 31 - 1;

interface TimerFunctions {
  setTimeout(callback: unknown, delay?: unknown, ...args: unknown[]): object;
  setInterval(callback: unknown, delay?: unknown, ...args: unknown[]): object;
  setImmediate(callback: unknown, ...args: unknown[]): object;
  clearTimeout(handle?: unknown): void;
  clearInterval(handle?: unknown): void;
  clearImmediate(handle?: unknown): void;
  queueMicrotask(callback: unknown): void;
}

interface Timer {
  readonly callback: Callback;
  readonly args: unknown[];
  /** The number under which the host wakes it. */
  number: number;
  /** Milliseconds between two runs; null for a timer that runs once. */
  readonly every: number | null;
  /** False once the plugin has called `unref`: the call may end while the timer waits. */
  isHeld: boolean;
}

/**
 * The timers of one isolate. The host keeps the time and wakes the guest with the number of a timer. It is the timer's
 * id, but in a durable call each wait has a number of its own, in one row with the capability calls.
 */
export class Timers {
  readonly #link: HostLink;
  readonly #end: CallEnd;
  readonly #armed = new SafeMap<number, Timer>();
  /** The ids of timers by their numbers, where these differ. */
  readonly #renumbered = new SafeMap<number, number>();
  readonly #numberOfWait: () => number | null;
  #lastId = 0;

  /** @param numberOfWait takes the number of a wait in a durable call; null in other calls */
  constructor(link: HostLink, end: CallEnd, numberOfWait: () => number | null = () => null) {
    this.#link = link;
    this.#end = end;
    this.#numberOfWait = numberOfWait;
  }

  /** Runs a timer that is due; what its callback throws ends the call. */
  fire(number: number): void {
    const id = this.#renumbered.get(number) ?? number;
    this.#renumbered.delete(number);
    const timer = this.#armed.get(id);
    if (timer === undefined || timer.number !== number) return;
    if (timer.every === null) this.#armed.delete(id);
    run(timer.callback, timer.args, this.#end);
    // Arms an interval again, unless its callback has cleared it. An interval that the host refuses to arm ends here.
    if (timer.every === null || !this.#armed.has(id)) return;
    timer.number = this.#numberOfWait() ?? id;
    if (timer.number !== id) this.#renumbered.set(timer.number, id);
    if (this.#link.arm(timer.number, timer.every) !== '') this.#armed.delete(id);
    else if (!timer.isHeld) this.#link.hold(timer.number, false);
  }

  /** Forgets the timers that an earlier call has left: its end has cleared them. */
  reset(): void {
    if (this.#armed.size > 0) this.#armed.clear();
    if (this.#renumbered.size > 0) this.#renumbered.clear();
  }

  /** The functions of the guest's global scope, by name. */
  globals(): TimerFunctions {
    return {
      setTimeout: (callback, delay, ...args) => this.#start(callback, delay, args, false),
      setInterval: (callback, delay, ...args) => this.#start(callback, delay, args, true),
      setImmediate: (callback, ...args) => this.#start(callback, 0, args, false),
      clearTimeout: (handle) => this.#clear(handle),
      clearInterval: (handle) => this.#clear(handle),
      clearImmediate: (handle) => this.#clear(handle),
      queueMicrotask: (callback) => this.queueMicrotask(callback, []),
    };
  }

  /** Runs a function after the current one. An error from it ends the call, as it would end a process. */
  queueMicrotask(callback: unknown, args: unknown[]): void {
    const due = checked(callback);
    const now = new NativePromise<void>((resolve) => resolve());
    // Gives the promise an own `constructor`: `then` would otherwise read Promise.prototype and Symbol.species, which a
    // plugin may replace.
    defineProperty(now, 'constructor', { __proto__: null, value: undefined } as object);
    promiseThen(now, () => run(due, args, this.#end));
  }

  /** `setTimeout` of the runtime's own code. */
  start(callback: () => void, delayMs: number): TimerHandle {
    return this.#start(callback, delayMs, [], false);
  }

  #start(callback: unknown, delay: unknown, args: unknown[], repeats: boolean): TimerHandle {
    const due = checked(callback);
    const milliseconds = delayOf(delay);
    const id = this.#numberOfWait() ?? this.#lastId + 1;
    this.#lastId = id;
    const refusal = this.#link.arm(id, milliseconds);
    if (refusal !== '') throw new NativeError(refusal);
    this.#armed.set(id, {
      callback: due,
      args,
      number: id,
      every: repeats ? max(milliseconds, 1) : null,
      isHeld: true,
    });
    return new TimerHandle(id, this);
  }

  #clear(handle: unknown): void {
    const id = TimerHandle.idOf(handle);
    const timer = this.#armed.get(id);
    if (timer === undefined) return;
    this.#armed.delete(id);
    this.#link.disarm(timer.number);
  }

  /** Whether a timer waits, and the call is busy until it has run. */
  isHeld(id: number): boolean {
    return this.#armed.get(id)?.isHeld === true;
  }

  /** What `ref` and `unref` do, as in Node: a call may end while an `unref`'d timer waits. */
  hold(id: number, isHeld: boolean): void {
    const timer = this.#armed.get(id);
    if (timer === undefined || timer.isHeld === isHeld) return;
    timer.isHeld = isHeld;
    this.#link.hold(timer.number, isHeld);
  }
}

/** The object that `setTimeout` returns: an object as in Node, which converts to a number as in browsers. */
export class TimerHandle {
  readonly #id: number;
  readonly #timers: Timers;

  constructor(id: number, timers: Timers) {
    this.#id = id;
    this.#timers = timers;
  }

  static idOf(handle: unknown): number {
    if (typeof handle === 'object' && handle !== null) return #id in handle ? handle.#id : 0;
    return typeof handle === 'number' || typeof handle === 'string' ? toNumber(handle) : 0;
  }

  ref(): this {
    this.#timers.hold(this.#id, true);
    return this;
  }

  unref(): this {
    this.#timers.hold(this.#id, false);
    return this;
  }

  hasRef(): boolean {
    return this.#timers.isHeld(this.#id);
  }

  [Symbol.toPrimitive](): number {
    return this.#id;
  }
}

function checked(callback: unknown): Callback {
  if (typeof callback !== 'function') throw new NativeTypeError('The "callback" argument must be of type function');
  return callback as Callback;
}

function delayOf(delay: unknown): number {
  const number = typeof delay === 'number' || typeof delay === 'string' ? toNumber(delay) : 0;
  return number > 0 ? max(0, min(floor(number), MAX_MS)) : 0;
}

function run(callback: Callback, args: unknown[], end: CallEnd): void {
  try {
    apply(callback, undefined, args);
  } catch (error) {
    end.uncaught(error);
  }
}
