import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Replaces two modules of the test library, under their names: the scope of each test, and the handler of errors that
 * nobody catches in it. The library's own version makes Node report the creation and collection of every promise, which
 * took a quarter of the tests' processor time. A stored context costs almost nothing.
 */
const scopes = new AsyncLocalStorage<AsyncResource>();

/** The scope of one test. Everything that starts in it belongs to the test, also later. */
export class AsyncResource {
  readonly parent = scopes.getStore();
  domain: Domain | undefined;

  runInAsyncScope<A extends unknown[], R>(run: (...args: A) => R, receiver: unknown, ...args: A): R {
    return scopes.run(this, () => Reflect.apply(run, receiver, args));
  }

  emitDestroy(): this {
    return this;
  }
}

/** Receives the errors of the scope in which it is created. After `destroy`, they go to the enclosing scope. */
export class Domain {
  readonly onerror: (error: unknown, type: string) => void;
  readonly #scope = scopes.getStore();

  constructor(onerror: (error: unknown, type: string) => void) {
    this.onerror = onerror;
    if (this.#scope !== undefined) this.#scope.domain = this;
  }

  destroy(): void {
    if (this.#scope?.domain === this) this.#scope.domain = undefined;
  }
}

process.on('uncaughtExceptionMonitor', (error, type) => {
  // Leave the error to code under test that handles such errors itself.
  if (process.hasUncaughtExceptionCaptureCallback() || process.listenerCount('uncaughtException') > 0) return;
  let scope = scopes.getStore();
  while (scope !== undefined && scope.domain === undefined) scope = scope.parent;
  if (scope?.domain === undefined) return;
  scope.domain.onerror(error, type);
  // The error has been reported, so the process continues.
  process.setUncaughtExceptionCaptureCallback(() => process.setUncaughtExceptionCaptureCallback(null));
});
