/**
 * Writes the same text for all spellings of a JSON value: members ordered by the code units of their keys, no blanks
 * (RFC 8785). For hashing and comparing.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) {
    // A list of plain values is written in one call, which is much faster than item by item.
    return value.every(isPlain) ? JSON.stringify(value) : `[${value.map(canonicalJson).join(',')}]`;
  }
  let members = '';
  // `sort` orders by code units.
  for (const key of Object.keys(value).sort()) {
    const part = (value as Record<string, unknown>)[key];
    if (part === undefined) continue;
    members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(part)}`;
  }
  return `{${members}}`;
}

/** Whether `JSON.stringify` can write the value in one way only. */
function isPlain(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
