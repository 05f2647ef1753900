import { checkFunction, checkString } from './node-error.ts';

/** By storage, the value that holds in a context; never changed, so that it can be kept by whoever comes back to it. */
type Context = ReadonlyMap<object, unknown>;
type AnyFunction = (...args: unknown[]) => unknown;

const EMPTY: Context = new Map();
/** As it is before contexts are kept. */
const defer = globalThis.queueMicrotask;
let current: Context = EMPTY;

/** At the beginning of a call nothing is left of those before it. */
export function leaveContexts(): void {
  current = EMPTY;
}

function within<T>(context: Context, run: () => T): T {
  const before = current;
  current = context;
  try {
    return run();
  } finally {
    current = before;
  }
}

/** A function that runs in the context in which it was handed over. */
function bound(callback: unknown): unknown {
  if (typeof callback !== 'function' || current === EMPTY) return callback;
  const context = current;
  return function (this: unknown, ...args: unknown[]): unknown {
    return within(context, () => Reflect.apply(callback as AnyFunction, this, args));
  };
}

/**
 * Has promises, timers and microtasks run their callbacks in the context in which they were given them. An `await` asks
 * no method of its promise, so where a bundle names this module its async functions are written as generators.
 */
export function keepContexts(global: Record<string, unknown>): void {
  // Once the module has run, what everybody shares stays as it is.
  if (Object.getOwnPropertyDescriptor(Promise.prototype, 'then')?.writable !== true) return;
  const { then } = Promise.prototype as unknown as { then: AnyFunction };
  // A method, which has no `prototype` that could be changed.
  const { thenInContext } = {
    thenInContext(this: unknown, onFulfilled: unknown, onRejected: unknown): unknown {
      return Reflect.apply(then, this, [bound(onFulfilled), bound(onRejected)]);
    },
  };
  // oxlint-disable-next-line unicorn/no-thenable -- that of all promises
  Promise.prototype.then = thenInContext as Promise<never>['then'];
  for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask']) {
    wrapFirstArgument(global, name);
  }
  wrapFirstArgument(global['process'] as Record<string, unknown>, 'nextTick');
}

function wrapFirstArgument(owner: Record<string, unknown>, name: string): void {
  const original = owner[name] as AnyFunction;
  owner[name] = Object.freeze((callback: unknown, ...args: unknown[]) =>
    Reflect.apply(original, owner, [bound(callback), ...args]),
  );
}

/** Values that follow what a call starts (https://nodejs.org/api/async_context.html#class-asynclocalstorage). */
class AsyncLocalStorage {
  readonly #default: unknown;
  readonly name: string;

  constructor(options: { defaultValue?: unknown; name?: string } = {}) {
    this.#default = options.defaultValue;
    this.name = options.name ?? '';
  }

  static bind(callback: unknown): unknown {
    checkFunction(callback, 'fn');
    const context = current;
    return function (this: unknown, ...args: unknown[]): unknown {
      return within(context, () => Reflect.apply(callback, this, args));
    };
  }

  static snapshot(): (callback: AnyFunction, ...args: unknown[]) => unknown {
    const context = current;
    return (callback, ...args) => within(context, () => callback(...args));
  }

  run(value: unknown, callback: AnyFunction, ...args: unknown[]): unknown {
    return within(new Map([...current, [this, value]]), () => callback(...args));
  }

  exit(callback: AnyFunction, ...args: unknown[]): unknown {
    return within(this.#without(), () => callback(...args));
  }

  getStore(): unknown {
    return current.has(this) ? current.get(this) : this.#default;
  }

  /** Holds until the running turn is over, and in what it starts. */
  enterWith(value: unknown): void {
    const before = current;
    const own: Context = new Map([...current, [this, value]]);
    current = own;
    defer(() => {
      if (current === own) current = before;
    });
  }

  disable(): void {
    current = this.#without();
  }

  #without(): Context {
    const others = [...current].filter(([storage]) => storage !== this);
    return others.length === 0 ? EMPTY : new Map(others);
  }
}

/** What a library makes for each thing of its own that calls back later. */
class AsyncResource {
  readonly type: string;
  readonly #context = current;

  constructor(type: unknown) {
    checkString(type, 'type');
    this.type = type;
  }

  static bind(callback: unknown, type?: string, self?: unknown): unknown {
    checkFunction(callback, 'fn');
    return new AsyncResource(type ?? (callback.name || 'bound-anonymous-fn')).bind(callback, self);
  }

  bind(callback: unknown, self?: unknown): unknown {
    checkFunction(callback, 'fn');
    const run = (caller: unknown, args: unknown[]) => this.runInAsyncScope(callback, self ?? caller, ...args);
    return function (this: unknown, ...args: unknown[]): unknown {
      return run(this, args);
    };
  }

  runInAsyncScope(callback: AnyFunction, self?: unknown, ...args: unknown[]): unknown {
    return within(this.#context, () => Reflect.apply(callback, self, args));
  }

  emitDestroy(): this {
    return this;
  }

  asyncId(): number {
    return 1;
  }

  triggerAsyncId(): number {
    return 0;
  }
}

/** Node's module `async_hooks`. Hooks are never called: nobody counts what is asynchronous here. */
export function createAsyncHooks(): Record<string, unknown> {
  const hook: object = Object.freeze({ enable: Object.freeze(() => hook), disable: Object.freeze(() => hook) });
  return {
    AsyncLocalStorage,
    AsyncResource,
    createHook: () => hook,
    executionAsyncId: () => 1,
    triggerAsyncId: () => 0,
    executionAsyncResource: () => ({}),
    asyncWrapProviders: Object.freeze({ __proto__: null }),
  };
}
