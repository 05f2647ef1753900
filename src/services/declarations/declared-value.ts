import { createHash } from 'node:crypto';
import { isObject, type Json, type JsonObject } from '../../domain/json/json.ts';

/** Whether two declarations say the same under a key, or both nothing; the order of keys below it does not count. */
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

/** Of a value, whatever the order of its keys. */
export function valueDigest(value: Json): string {
  return createHash('sha256')
    .update(canonical(value) ?? '')
    .digest('hex');
}

/** A declaration as it is kept to be compared: of what may hold credentials, only a digest. */
export function keptDeclaration(declaration: Json, secretKeys: readonly string[]): Json {
  const kept: JsonObject = isObject(declaration) ? { ...declaration } : {};
  for (const key of secretKeys) {
    const text = canonical(valueAt(declaration, key));
    if (text !== undefined) kept[key] = createHash('sha256').update(text).digest('hex');
  }
  return kept;
}
