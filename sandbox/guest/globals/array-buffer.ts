import { construct, defineProperty, NativeTypeError, ownKeys } from '../intrinsics/primordials.ts';

/** What stays of ArrayBuffer.prototype. An allow-list, so that a later engine's ways to grow a buffer are not there. */
const KEPT = new Set<string | symbol>([
  ...['constructor', 'byteLength', 'slice', 'detached', 'transfer', 'transferToFixedLength'],
  Symbol.toStringTag,
]);

/**
 * Replaces ArrayBuffer by one whose buffers keep their size: the memory of a resizable buffer is not counted against
 * the isolate's limit (0.4 to 2.2 GB were taken under one of 32 MB). The engine's own constructor must not be found
 * again, hence the prototype's fixed `constructor` and a function that inherits from Function.prototype.
 */
export function fixArrayBuffer(global: typeof globalThis): void {
  const Native = global.ArrayBuffer;
  const { prototype, isView } = Native;

  function FixedArrayBuffer(length: unknown): object {
    if (new.target === undefined) throw new NativeTypeError("Constructor ArrayBuffer requires 'new'");
    return construct(Native, [length], new.target) as object;
  }

  for (const key of ownKeys(prototype)) {
    if (!KEPT.has(key)) Reflect.deleteProperty(prototype, key);
  }
  defineProperty(FixedArrayBuffer, 'name', { value: 'ArrayBuffer', configurable: true });
  defineProperty(FixedArrayBuffer, 'isView', { value: isView, writable: true, configurable: true });
  defineProperty(FixedArrayBuffer, Symbol.species, { get: speciesOf, configurable: true });
  defineProperty(FixedArrayBuffer, 'prototype', { value: prototype, writable: false });
  defineProperty(prototype, 'constructor', { value: FixedArrayBuffer, writable: false, configurable: false });
  defineProperty(global, 'ArrayBuffer', { value: FixedArrayBuffer, writable: true, configurable: true });
}

/** As a getter is made by the language: without a `prototype` that could be changed. */
const { speciesOf } = {
  speciesOf(this: unknown): unknown {
    return this;
  },
};
