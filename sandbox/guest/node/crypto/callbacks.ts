import { checkFunction } from '../node-error.ts';

/** Passes the result of a promise to a callback, after the running code has finished. */
export function tell(callback: unknown, result: Promise<readonly unknown[]>): void {
  checkFunction(callback, 'callback');
  result.then(
    (results) => process.nextTick(() => callback(null, ...results)),
    (error: unknown) => process.nextTick(() => callback(error)),
  );
}

/** Returns the result at once without a callback. With a callback, passes the result to it later. */
export function nowOrTold<T>(make: () => T, callback: unknown): T | undefined {
  if (callback === undefined) return make();
  checkFunction(callback, 'callback');
  tell(
    callback,
    Promise.resolve().then(() => [make()]),
  );
  return undefined;
}
