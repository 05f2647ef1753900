import type { Emitter, EventName, Listener } from '../lazy/events.ts';
import { checkFunction, checkObject, nodeError, wrongType } from './node-error.ts';

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
    throw wrongType('options.signal', 'an instance of AbortSignal', signal);
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
  throw wrongType('emitter', 'an instance of EventEmitter', emitter);
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
      if (!(error instanceof Error)) throw wrongType('EventEmitter.AsyncIterator', 'an instance of Error', error);
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
  if (signal === undefined) throw wrongType('signal', 'an instance of AbortSignal', signal);
  checkFunction(listener, 'listener');
  if (signal.aborted) queueMicrotask(() => listener());
  else signal.addEventListener('abort', listener, { once: true });
  return { [disposal]: () => signal.removeEventListener('abort', listener) };
}

const disposal: symbol = (Symbol as { dispose?: symbol }).dispose ?? Symbol('dispose');
