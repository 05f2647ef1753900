import type { RuntimeServices } from '../lazy-module-loader.ts';
import { checkFunction, checkObject, invalidArgType, nodeError, outOfRange } from '../node/node-error.ts';

/** Node's EventEmitter (https://nodejs.org/api/events.html). It behaves as Node's does, but is written differently. */
interface Emitter {
  on(name: EventName, listener: Listener): this;
  once(name: EventName, listener: Listener): this;
  off(name: EventName, listener: Listener): this;
  emit(name: EventName, ...args: unknown[]): boolean;
  listeners(name: EventName): Listener[];
  removeListener(name: EventName, listener: Listener): this;
  getMaxListeners(): number;
  setMaxListeners(most: number): this;
  [key: string | symbol]: unknown;
}

type EventName = string | symbol;

type Listener = (...args: unknown[]) => unknown;

/** A registered listener. One that is called only once is a wrapper, which carries the given listener. */
type Registered = Listener & { listener?: Listener };

const errorMonitor = Symbol('events.errorMonitor');

const captureRejectionSymbol = Symbol.for('nodejs.rejection');

const settings = { defaultMaxListeners: 10, captureRejections: false };

const captures = Symbol('kCapture');

const warned = Symbol('warned');

type Lists = Record<EventName, Registered[]>;

/**
 * The lists of listeners. They lie where Node has them, for code that looks there. An object that never called the
 * constructor gets its lists here.
 */
function listsOf(emitter: Emitter): Lists {
  if (!isOwn(emitter)) init(emitter);
  return emitter['_events'] as Lists;
}

function isOwn(emitter: Emitter): boolean {
  const lists = emitter['_events'];
  return lists !== undefined && lists !== (Object.getPrototypeOf(emitter) as Emitter | null)?.['_events'];
}

function init(emitter: Emitter): void {
  emitter['_events'] = { __proto__: null };
  emitter['_eventsCount'] = 0;
}

function setList(emitter: Emitter, name: EventName, list: Registered[]): void {
  const lists = listsOf(emitter);
  if (list.length > 0) lists[name] = list;
  else Reflect.deleteProperty(lists, name);
  emitter['_eventsCount'] = Reflect.ownKeys(lists).length;
}

/** A function and not a class, because older code calls it on an object of its own. */
function EventEmitter(this: unknown, options?: { captureRejections?: unknown }): void {
  const emitter = this as Emitter;
  if (!isOwn(emitter)) init(emitter);
  emitter['_maxListeners'] ??= undefined;
  const given = options?.captureRejections;
  if (given !== undefined && typeof given !== 'boolean') {
    throw invalidArgType('options.captureRejections', 'of type boolean', given);
  }
  hide(emitter, captures, given ?? settings.captureRejections);
}

function hide(emitter: Emitter, key: symbol, value: unknown): void {
  Object.defineProperty(emitter, key, { value, writable: true, enumerable: false, configurable: true });
}

function add(emitter: Emitter, name: EventName, listener: unknown, isFirst: boolean): Emitter {
  checkFunction(listener, 'listener');
  // Emits the event before it adds the listener, so that listeners of this event see the new one.
  if (listsOf(emitter)['newListener'] !== undefined) {
    emitter.emit('newListener', name, (listener as Registered).listener ?? listener);
  }
  const list = listsOf(emitter)[name] ?? [];
  // Makes a new list, because code may be going through the old one.
  const next = isFirst ? [listener, ...list] : [...list, listener];
  setList(emitter, name, next);
  warnOfMany(emitter, name, next.length);
  return emitter;
}

/** Warns of an event with too many listeners, which may be a leak. Warns once for each event. */
function warnOfMany(emitter: Emitter, name: EventName, count: number): void {
  const most = emitter.getMaxListeners();
  const before = emitter[warned] as Set<EventName> | undefined;
  if (most <= 0 || count <= most || before?.has(name) === true) return;
  hide(emitter, warned, new Set(before).add(name));
  const kind = (emitter.constructor as { name?: string } | undefined)?.name ?? 'EventEmitter';
  // oxlint-disable-next-line no-console -- the plugin's own console
  console.warn(
    `MaxListenersExceededWarning: Possible EventEmitter memory leak detected. ${count} ${String(name)} listeners added to [${kind}]. MaxListeners is ${most}. Use emitter.setMaxListeners() to increase limit`,
  );
}

function onceOnly(emitter: Emitter, name: EventName, listener: unknown): Registered {
  checkFunction(listener, 'listener');
  let fired = false;
  const wrapper: Registered = function (this: unknown, ...args: unknown[]) {
    if (fired) return undefined;
    fired = true;
    emitter.removeListener(name, wrapper);
    return Reflect.apply(listener, emitter, args);
  };
  wrapper.listener = listener;
  return wrapper;
}

function emit(emitter: Emitter, name: EventName, args: unknown[]): boolean {
  const lists = listsOf(emitter);
  if (name === 'error') {
    if (lists[errorMonitor] !== undefined) emitter.emit(errorMonitor, ...args);
    if (lists['error'] === undefined) throw unhandled(args[0]);
  }
  const list = lists[name];
  if (list === undefined) return false;
  for (const listener of list) {
    const result = Reflect.apply(listener, emitter, args);
    if (emitter[captures] === true && result !== undefined && result !== null) capture(emitter, name, args, result);
  }
  return true;
}

/** The value to throw for an error event without listeners. A value that is no Error is put into one. */
function unhandled(given: unknown): unknown {
  if (given instanceof Error) return given;
  const text = typeof given === 'string' ? `'${given}'` : String(given);
  const error = nodeError('ERR_UNHANDLED_ERROR', `Unhandled error. (${text})`);
  return Object.assign(error, { context: given });
}

/** Turns a rejection of an async listener into an error event of the emitter. */
function capture(emitter: Emitter, name: EventName, args: unknown[], result: unknown): void {
  const { then } = result as { then?: unknown };
  if (typeof then !== 'function') return;
  const onRejected = (error: unknown) =>
    process.nextTick(() => {
      const handler = emitter[captureRejectionSymbol];
      if (typeof handler === 'function') Reflect.apply(handler, emitter, [error, name, ...args]);
      else {
        const before = emitter[captures];
        emitter[captures] = false;
        try {
          emitter.emit('error', error);
        } finally {
          emitter[captures] = before;
        }
      }
    });
  Reflect.apply(then, result, [undefined, onRejected]);
}

function remove(emitter: Emitter, name: EventName, listener: unknown): Emitter {
  checkFunction(listener, 'listener');
  const list = listsOf(emitter)[name] ?? [];
  const index = list.findLastIndex((one) => one === listener || one.listener === listener);
  if (index < 0) return emitter;
  setList(emitter, name, list.toSpliced(index, 1));
  if (listsOf(emitter)['removeListener'] !== undefined) {
    emitter.emit('removeListener', name, listener);
  }
  return emitter;
}

function removeAll(emitter: Emitter, names: readonly EventName[]): Emitter {
  const lists = listsOf(emitter);
  if (lists['removeListener'] === undefined) {
    if (names.length === 0) init(emitter);
    for (const name of names) setList(emitter, name, []);
    return emitter;
  }
  const others = Reflect.ownKeys(lists).filter((name) => name !== 'removeListener');
  for (const name of names.length > 0 ? names : [...others, 'removeListener']) {
    for (const listener of (lists[name] ?? []).toReversed()) remove(emitter, name, listener);
  }
  return emitter;
}

const methods = {
  addListener(this: Emitter, name: EventName, listener: unknown) {
    return add(this, name, listener, false);
  },
  on(this: Emitter, name: EventName, listener: unknown) {
    return add(this, name, listener, false);
  },
  prependListener(this: Emitter, name: EventName, listener: unknown) {
    return add(this, name, listener, true);
  },
  once(this: Emitter, name: EventName, listener: unknown) {
    return this.on(name, onceOnly(this, name, listener));
  },
  prependOnceListener(this: Emitter, name: EventName, listener: unknown) {
    return add(this, name, onceOnly(this, name, listener), true);
  },
  removeListener(this: Emitter, name: EventName, listener: unknown) {
    return remove(this, name, listener);
  },
  off(this: Emitter, name: EventName, listener: unknown) {
    return remove(this, name, listener);
  },
  removeAllListeners(this: Emitter, ...names: EventName[]) {
    return removeAll(this, names[0] === undefined ? [] : names.slice(0, 1));
  },
  emit(this: Emitter, name: EventName, ...args: unknown[]) {
    return emit(this, name, args);
  },
  listeners(this: Emitter, name: EventName) {
    return (listsOf(this)[name] ?? []).map((one) => one.listener ?? one);
  },
  rawListeners(this: Emitter, name: EventName) {
    return [...(listsOf(this)[name] ?? [])];
  },
  listenerCount(this: Emitter, name: EventName, listener?: unknown) {
    const list = listsOf(this)[name] ?? [];
    if (listener === undefined || listener === null) return list.length;
    return list.filter((one) => one === listener || one.listener === listener).length;
  },
  eventNames(this: Emitter) {
    return Reflect.ownKeys(listsOf(this));
  },
  setMaxListeners(this: Emitter, most: unknown) {
    if (typeof most !== 'number') throw invalidArgType('setMaxListeners', 'of type number', most);
    if (!(most >= 0)) throw outOfRange('setMaxListeners', '>= 0', most);
    this['_maxListeners'] = most;
    return this;
  },
  getMaxListeners(this: Emitter) {
    return (this['_maxListeners'] as number | undefined) ?? settings.defaultMaxListeners;
  },
};

for (const [name, value] of Object.entries({
  ...methods,
  _events: undefined,
  _eventsCount: 0,
  _maxListeners: undefined,
})) {
  Object.defineProperty(EventEmitter.prototype, name, { value, writable: true, enumerable: true, configurable: true });
}

/**
 * Node's module `events`: the constructor itself, with functions on it.
 * @param changed called when a setting of all emitters changes
 */
export function createEvents(changed: () => void): typeof EventEmitter {
  function set<Name extends keyof typeof settings>(name: Name, value: (typeof settings)[Name]): void {
    changed();
    settings[name] = value;
  }
  const functions = {
    once,
    on,
    addAbortListener,
    EventEmitter,
    errorMonitor,
    captureRejectionSymbol,
    usingDomains: false,
    init: EventEmitter,
    EventEmitterAsyncResource,
    getEventListeners: (emitter: Emitter, name: EventName) => emitter.listeners(name),
    getMaxListeners: (emitter: Emitter) => emitter.getMaxListeners?.() ?? settings.defaultMaxListeners,
    listenerCount: (emitter: Emitter, name: EventName) => emitter.listeners(name).length,
    setMaxListeners(most: number = settings.defaultMaxListeners, ...emitters: Emitter[]) {
      if (typeof most !== 'number' || !(most >= 0)) throw outOfRange('setMaxListeners', '>= 0', most);
      if (emitters.length === 0) set('defaultMaxListeners', most);
      // An EventTarget has no such limit here.
      for (const emitter of emitters) emitter.setMaxListeners?.(most);
    },
  };
  for (const [name, value] of Object.entries(functions)) {
    Object.defineProperty(EventEmitter, name, { value, writable: true, enumerable: true, configurable: true });
  }
  Object.defineProperties(EventEmitter, {
    defaultMaxListeners: {
      enumerable: true,
      configurable: true,
      get: () => settings.defaultMaxListeners,
      set(most: unknown) {
        if (typeof most !== 'number') throw invalidArgType('defaultMaxListeners', 'of type number', most);
        if (!(most >= 0)) throw outOfRange('defaultMaxListeners', '>= 0', most);
        set('defaultMaxListeners', most);
      },
    },
    captureRejections: {
      enumerable: true,
      configurable: true,
      get: () => settings.captureRejections,
      set: (value: unknown) => {
        set('captureRejections', Boolean(value));
      },
    },
  });
  return EventEmitter;
}

/** An emitter whose listeners run in the context in which it was made. Here there is only one context. */
class EventEmitterAsyncResource extends (EventEmitter as unknown as new (options?: object) => Emitter) {
  get asyncId(): number {
    return 0;
  }

  get triggerAsyncId(): number {
    return 0;
  }

  emitDestroy(): void {}
}

interface Signal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: string, listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: string, listener: () => void): void;
}

/** The error for a wait that was aborted. */
function abortError(signal: Signal): Error {
  const error = nodeError('ABORT_ERR', 'The operation was aborted');
  Object.defineProperty(error, 'cause', { value: signal.reason, writable: true, configurable: true });
  error.name = 'AbortError';
  return error;
}

function signalOf(options: unknown): Signal | undefined {
  if (options === undefined) return undefined;
  checkObject(options, 'options');
  const { signal } = options;
  if (signal !== undefined && (typeof signal !== 'object' || signal === null || !('aborted' in signal))) {
    throw invalidArgType('options.signal', 'an instance of AbortSignal', signal);
  }
  return signal as Signal | undefined;
}

/** An EventEmitter or an EventTarget. */
interface Source {
  listen(name: EventName, listener: Listener): void;
  unlisten(name: EventName, listener: Listener): void;
  isEmitter: boolean;
}

function sourceOf(emitter: unknown): Source {
  if (typeof (emitter as Emitter | undefined)?.on === 'function') {
    const { on, removeListener } = emitter as Emitter;
    return {
      isEmitter: true,
      listen: (name, listener) => void Reflect.apply(on, emitter, [name, listener]),
      unlisten: (name, listener) => void Reflect.apply(removeListener, emitter, [name, listener]),
    };
  }
  if (typeof (emitter as EventTarget | undefined)?.addEventListener === 'function') {
    const target = emitter as EventTarget;
    return {
      isEmitter: false,
      listen: (name, listener) => target.addEventListener(String(name), listener),
      unlisten: (name, listener) => target.removeEventListener(String(name), listener),
    };
  }
  throw invalidArgType('emitter', 'an instance of EventEmitter', emitter);
}

/** Resolves with the arguments of the next event of a name. Rejects if an error event comes first. */
export async function once(emitter: unknown, name: EventName, options?: unknown): Promise<unknown[]> {
  const signal = signalOf(options);
  if (signal?.aborted === true) throw abortError(signal);
  const source = sourceOf(emitter);
  const { promise, resolve, reject } = Promise.withResolvers<unknown[]>();
  const onEvent: Listener = (...args) => resolve(args);
  const onError: Listener = (error) => reject(error);
  const onAbort = () => signal !== undefined && reject(abortError(signal));
  source.listen(name, onEvent);
  if (source.isEmitter && name !== 'error') source.listen('error', onError);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await promise;
  } finally {
    source.unlisten(name, onEvent);
    if (source.isEmitter && name !== 'error') source.unlisten('error', onError);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Iterates over the arguments of the events of a name, until an error or one of the names in `close`. */
export function on(emitter: unknown, name: EventName, options?: unknown): AsyncIterableIterator<unknown[]> {
  const signal = signalOf(options);
  if (signal?.aborted === true) throw abortError(signal);
  const { close = [] } = (options ?? {}) as { close?: readonly EventName[] };
  const source = sourceOf(emitter);
  const arrived: unknown[][] = [];
  const waiting: PromiseWithResolvers<IteratorResult<unknown[]>>[] = [];
  let failure: { error: unknown } | undefined;
  let isOver = false;

  const onEvent: Listener = (...args) => {
    const next = waiting.shift();
    if (next === undefined) arrived.push(args);
    else next.resolve({ done: false, value: args });
  };
  const end = () => {
    isOver = true;
    for (const [event, listener] of listeners) source.unlisten(event, listener);
    signal?.removeEventListener('abort', onAbort);
    for (const { resolve } of waiting.splice(0)) resolve({ done: true, value: undefined });
    return Promise.resolve({ done: true as const, value: undefined });
  };
  const onError: Listener = (error) => {
    const next = waiting.shift();
    if (next === undefined) failure = { error };
    else next.reject(error);
    void end();
  };
  const onAbort = () => signal !== undefined && onError(abortError(signal));
  const listeners: [EventName, Listener][] = [
    [name, onEvent],
    ...close.map((event) => [event, end] as [EventName, Listener]),
  ];
  if (source.isEmitter && name !== 'error') listeners.push(['error', onError]);
  for (const [event, listener] of listeners) source.listen(event, listener);
  signal?.addEventListener('abort', onAbort, { once: true });

  return {
    next() {
      const value = arrived.shift();
      if (value !== undefined) return Promise.resolve({ done: false, value });
      if (failure !== undefined) {
        const { error } = failure;
        failure = undefined;
        return Promise.reject(error);
      }
      if (isOver) return Promise.resolve({ done: true, value: undefined });
      const next = Promise.withResolvers<IteratorResult<unknown[]>>();
      waiting.push(next);
      return next.promise;
    },
    return: end,
    throw(error: unknown) {
      if (!(error instanceof Error)) throw invalidArgType('EventEmitter.AsyncIterator', 'an instance of Error', error);
      onError(error);
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Calls a listener once when the signal is aborted. Calls it soon if the signal is aborted already. */
export function addAbortListener(signal: Signal | undefined, listener: unknown): Record<symbol, () => void> {
  if (signal === undefined) throw invalidArgType('signal', 'an instance of AbortSignal', signal);
  checkFunction(listener, 'listener');
  if (signal.aborted) queueMicrotask(() => listener());
  else signal.addEventListener('abort', listener, { once: true });
  return { [disposal]: () => signal.removeEventListener('abort', listener) };
}

const disposal: symbol = (Symbol as { dispose?: symbol }).dispose ?? Symbol('dispose');

/** Node's EventEmitter. */
export function create({ changed }: RuntimeServices): Record<string, unknown> {
  return { EventEmitter: createEvents(changed) };
}
