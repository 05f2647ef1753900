import { construct, defineProperty, NativeTypeError, ownKeys } from '../intrinsics/primordials.ts';

/**
 * The members of ArrayBuffer.prototype that stay. An allow-list also removes the ways to grow a buffer of later
 * engines.
 */
const KEPT = new Set<string | symbol>([
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
    if (!KEPT.has(key)) Reflect.deleteProperty(prototype, key);
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
