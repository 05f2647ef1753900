import { checkObject, invalidArgType, nodeError } from './node-error.ts';

interface Signal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: string, listener: () => void): void;
  removeEventListener(type: string, listener: () => void): void;
}

function signalOf(options: unknown): Signal | undefined {
  if (options === undefined) return undefined;
  checkObject(options, 'options');
  const { signal } = options;
  if (signal !== undefined && typeof (signal as Signal | null)?.aborted !== 'boolean') {
    throw invalidArgType('options.signal', 'an instance of AbortSignal', signal);
  }
  return signal as Signal | undefined;
}

function aborted(signal: Signal): Error {
  const error = nodeError('ABORT_ERR', 'The operation was aborted');
  error.name = 'AbortError';
  return Object.defineProperty(error, 'cause', { value: signal.reason, writable: true, configurable: true });
}

/** A timer as its option `ref` says: with `false`, a call may end while it waits. */
function unheld<T>(timer: T, options: unknown): T {
  if ((options as { ref?: unknown } | undefined)?.ref === false) (timer as { unref(): unknown }).unref();
  return timer;
}

/** Waits until `start` calls `done`, or until the signal is aborted. */
async function wait<T>(value: T, options: unknown, start: (done: () => void) => () => void): Promise<T> {
  const signal = signalOf(options);
  if (signal?.aborted === true) throw aborted(signal);
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const cancel = start(() => resolve(value));
  const onAbort = () => {
    cancel();
    if (signal !== undefined) reject(aborted(signal));
  };
  signal?.addEventListener('abort', onAbort);
  try {
    return await promise;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

const sleep = <T>(delay?: number, value?: T, options?: unknown) =>
  wait(value, options, (done) => {
    const timer = unheld(setTimeout(done, delay), options);
    return () => clearTimeout(timer);
  });

const immediate = <T>(value?: T, options?: unknown) =>
  wait(value, options, (done) => {
    const timer = unheld(setImmediate(done), options);
    return () => clearImmediate(timer);
  });

async function* interval<T>(delay?: number, value?: T, options?: unknown): AsyncGenerator<T | undefined> {
  for (;;) yield await sleep(delay, value, options);
}

/** Node's module `timers/promises`. */
export const timerPromises = {
  setTimeout: sleep,
  setImmediate: immediate,
  setInterval: interval,
  scheduler: {
    wait: (delay?: number, options?: unknown) => sleep(delay, undefined, options),
    yield: () => immediate(),
  },
};
