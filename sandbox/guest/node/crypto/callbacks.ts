import { checkFunction } from '../node-error.ts';

/** Tells a callback what a promise comes to, once the running code is over. */
export function tell(callback: unknown, result: Promise<readonly unknown[]>): void {
  checkFunction(callback, 'callback');
  result.then(
    (results) => process.nextTick(() => callback(null, ...results)),
    (error: unknown) => process.nextTick(() => callback(error)),
  );
}

/** Does it now; the callback, where there is one, hears of it later. */
export function nowOrTold<T>(make: () => T, callback: unknown): T | undefined {
  if (callback === undefined) return make();
  checkFunction(callback, 'callback');
  tell(
    callback,
    Promise.resolve().then(() => [make()]),
  );
  return undefined;
}
