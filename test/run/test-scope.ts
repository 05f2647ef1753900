import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * What the test library knows from two other modules by these names: the scope of each test, and who is told of errors
 * that nobody catches in it. The library's own way asks Node to report every promise that is made and collected, which
 * took a quarter of the processor time of tests; a stored context costs next to nothing.
 */
const scopes = new AsyncLocalStorage<AsyncResource>();

/** The scope of one test: what runs in it, and whatever that leads to, belongs to the test. */
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

/** Takes the errors of the scope in which it is made, until it is destroyed; then they go to the scope around that. */
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
  // Code under test that takes such errors itself is left to it.
  if (process.hasUncaughtExceptionCaptureCallback() || process.listenerCount('uncaughtException') > 0) return;
  let scope = scopes.getStore();
  while (scope !== undefined && scope.domain === undefined) scope = scope.parent;
  if (scope?.domain === undefined) return;
  scope.domain.onerror(error, type);
  // It has been told of; the process goes on.
  process.setUncaughtExceptionCaptureCallback(() => process.setUncaughtExceptionCaptureCallback(null));
});
