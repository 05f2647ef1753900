import { checkFunction, checkString } from './node-error.ts';

/** The values of a context, by storage. A context is never changed, so that code can keep it and return to it. */
type Context = ReadonlyMap<object, unknown>;
type AnyFunction = (...args: unknown[]) => unknown;

const EMPTY: Context = new Map();
/** The original function, from before {@link keepContexts} replaces it. */
const defer = globalThis.queueMicrotask;
let current: Context = EMPTY;

/** Leaves all contexts at the beginning of a call, so that nothing is left of earlier calls. */
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

/** Makes a callback run in the context in which it was handed over. */
function bound(callback: unknown): unknown {
  if (typeof callback !== 'function' || current === EMPTY) return callback;
  const context = current;
  return function (this: unknown, ...args: unknown[]): unknown {
    return within(context, () => Reflect.apply(callback as AnyFunction, this, args));
  };
}

/**
 * Makes promises, timers and microtasks run their callbacks in the context in which they got them. An `await` calls no
 * method of its promise. So the bundler writes async functions as generators where a bundle names this module.
 * @returns false in a sealed world, where shared objects stay as they are
 */
export function keepContexts(global: Record<string, unknown>): boolean {
  if (Object.getOwnPropertyDescriptor(Promise.prototype, 'then')?.writable !== true) return false;
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
  return true;
}

function wrapFirstArgument(owner: Record<string, unknown>, name: string): void {
  const original = owner[name] as AnyFunction;
  owner[name] = Object.freeze((callback: unknown, ...args: unknown[]) =>
    Reflect.apply(original, owner, [bound(callback), ...args]),
  );
}

/**
 * Values that stay available in everything that a call starts
 * (https://nodejs.org/api/async_context.html#class-asynclocalstorage).
 */
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

  /** Sets a value for the rest of the running turn, and for everything that the turn starts. */
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

/** A library makes one for each of its own operations that calls back later. */
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

/** Node's module `async_hooks`. Hooks are never called, because asynchronous operations are not counted here. */
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
