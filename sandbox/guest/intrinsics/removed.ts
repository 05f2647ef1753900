import { apply, construct, defineProperty, NativeTypeError, ownKeys } from './primordials.ts';

/**
 * Globals that a guest must not have: threads' memory and clocks (SharedArrayBuffer, Atomics), memory outside the
 * heap's limit (WebAssembly), and code that runs when the collector likes, after the call (WeakRef,
 * FinalizationRegistry).
 */
const REMOVED = ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry'];

/** Removes these globals. None of the remaining ones leads to them. */
export function removeGlobals(global: object): void {
  for (const name of REMOVED) {
    if (!Reflect.deleteProperty(global, name)) throw new Error(`${name} cannot be removed from the guest's globals`);
  }
}

/** Removes `Temporal` and the only method that leads to it. Only plugins that mention `Temporal` keep it. */
export function removeTemporal(global: typeof globalThis): void {
  Reflect.deleteProperty(global, 'Temporal');
  Reflect.deleteProperty(global.Date.prototype, 'toTemporalInstant');
}

/**
 * The members of ArrayBuffer.prototype that stay. An allow-list also removes the ways to grow a buffer of later
 * engines.
 */
const ALLOWED = new Set<string | symbol>([
  ...['constructor', 'byteLength', 'slice', 'detached', 'transfer', 'transferToFixedLength'],
  Symbol.toStringTag,
]);

/**
 * Replaces ArrayBuffer by a class whose buffers keep their size. The memory of a resizable buffer is not counted
 * against the isolate's limit (0.4 to 2.2 GB were taken under a limit of 32 MB). Plugins must not find the engine's own
 * constructor. So the prototype's `constructor` is fixed, and the new function inherits from Function.prototype.
 */
export function fixArrayBuffer(global: typeof globalThis): void {
  const Native = global.ArrayBuffer;
  const { prototype, isView } = Native;

  function FixedArrayBuffer(length: unknown): object {
    if (new.target === undefined) throw new NativeTypeError("Constructor ArrayBuffer requires 'new'");
    return construct(Native, [length], new.target) as object;
  }

  for (const key of ownKeys(prototype)) {
    if (!ALLOWED.has(key)) Reflect.deleteProperty(prototype, key);
  }
  defineProperty(FixedArrayBuffer, 'name', { value: 'ArrayBuffer', configurable: true });
  defineProperty(FixedArrayBuffer, 'isView', { value: isView, writable: true, configurable: true });
  defineProperty(FixedArrayBuffer, Symbol.species, { get: speciesOf, configurable: true });
  defineProperty(FixedArrayBuffer, 'prototype', { value: prototype, writable: false });
  defineProperty(prototype, 'constructor', { value: FixedArrayBuffer, writable: false, configurable: false });
  defineProperty(global, 'ArrayBuffer', { value: FixedArrayBuffer, writable: true, configurable: true });
}

/** A method, which has no `prototype` that could be changed. The language's own getters have none either. */
const { speciesOf } = {
  speciesOf(this: unknown): unknown {
    return this;
  },
};

type Capture = (target: object, omit?: unknown) => void;

/**
 * Makes `Error.captureStackTrace` ignore objects that cannot take a stack. Libraries call it on constructors of their
 * own errors, or on an object that they take for one. A built-in among these is frozen here, but not where the
 * libraries were written. An error about the frozen object would hide the error that the library meant to make.
 */
export function tolerateFrozenTargets(global: typeof globalThis): void {
  const errors = global.Error as unknown as { captureStackTrace: Capture };
  const { captureStackTrace: native } = errors;
  const { isExtensible } = Object;
  const tolerant = {
    captureStackTrace(target: object, omit?: unknown): void {
      const isObject = (typeof target === 'object' && target !== null) || typeof target === 'function';
      if (isObject && !isExtensible(target)) return;
      apply(native, errors, [target, omit ?? tolerant.captureStackTrace]);
    },
  };
  defineProperty(errors, 'captureStackTrace', {
    value: tolerant.captureStackTrace,
    writable: true,
    enumerable: false,
    configurable: true,
  });
}
