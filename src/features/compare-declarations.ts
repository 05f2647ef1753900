import { createHash } from 'node:crypto';
import { isObject, type Json, type JsonObject } from '../domain/json/json.ts';

/** Whether two declarations have the same value under a key, or both none. The order of nested keys does not matter. */
export function isDeclaredAsBefore(key: string, now: Json, before: Json): boolean {
  return canonical(valueAt(now, key)) === canonical(valueAt(before, key));
}

function valueAt(declaration: Json, key: string): Json | undefined {
  return isObject(declaration) ? declaration[key] : undefined;
}

function canonical(value: Json | undefined): string | undefined {
  return JSON.stringify(value, (_, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

/** Returns a digest of a value that does not depend on the order of its keys. */
export function valueDigest(value: Json): string {
  return createHash('sha256')
    .update(canonical(value) ?? '')
    .digest('hex');
}

/** Returns a declaration as it is stored for comparison. Values that may hold credentials are replaced by digests. */
export function comparableDeclaration(declaration: Json, secretKeys: readonly string[]): Json {
  const kept: JsonObject = isObject(declaration) ? { ...declaration } : {};
  for (const key of secretKeys) {
    const text = canonical(valueAt(declaration, key));
    if (text !== undefined) kept[key] = createHash('sha256').update(text).digest('hex');
  }
  return kept;
}
