/**
 * Freezes a function or class of the SDK, and its prototype. All calls of an isolate share the module, so no call may
 * leave anything on it.
 */
export function frozen<T extends object>(value: T, name?: string): T {
  if (name !== undefined) Object.defineProperty(value, 'name', { value: name });
  const { prototype } = value as { prototype?: object };
  if (prototype !== undefined) Object.freeze(prototype);
  return Object.freeze(value);
}
