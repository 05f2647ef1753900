import type { Json } from '../domain/json.ts';

/** Whether two declarations say the same under a key, or both nothing; the order of keys below it does not count. */
export function isDeclaredAsBefore(key: string, now: Json, before: Json): boolean {
  return canonical(valueAt(now, key)) === canonical(valueAt(before, key));
}

function valueAt(declaration: Json, key: string): Json | undefined {
  const isObject = typeof declaration === 'object' && declaration !== null && !Array.isArray(declaration);
  return isObject ? declaration[key] : undefined;
}

function canonical(value: Json | undefined): string | undefined {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
