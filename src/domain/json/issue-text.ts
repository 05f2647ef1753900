import { z } from 'zod';

/** The most unknown fields that a message names; a body can have a million. */
const MAX_NAMED = 20;

/** The most characters of a client's key that a message shows. */
const MAX_SHOWN = 64;

/**
 * The message about keys that an object schema does not know, for an error map; undefined for another fault. It names
 * each key with the nearest known one. After the last key without a near one it lists all known keys.
 * @param advice for keys that are not ours and well known elsewhere
 */
export function unknownFieldsText(
  issue: z.core.$ZodRawIssue,
  advice: ReadonlyMap<string, string> = new Map(),
): string | undefined {
  if (issue.code !== 'unrecognized_keys') return undefined;
  const known = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
  const hints = issue.keys.slice(0, MAX_NAMED).map((key) => ({ key, hint: hintFor(key, known, advice) }));
  const last = hints.findLast(({ hint }) => hint === '');
  if (last !== undefined) last.hint = expected(known);
  return hints.map(({ key, hint }) => `unknown field \`${shown(key)}\`${hint}`).join('; ');
}

/** An object schema with these fields and no other; `advice` as for {@link unknownFieldsText}. */
export function strictObjectSchema<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  advice?: ReadonlyMap<string, string>,
) {
  return z.strictObject(shape, { error: (issue) => unknownFieldsText(issue, advice) });
}

function hintFor(key: string, known: readonly string[], advice: ReadonlyMap<string, string>): string {
  const advised = advice.get(key);
  if (advised !== undefined) return `: ${advised}`;
  const nearest = nearestName(key, known);
  return nearest === undefined ? '' : `, did you mean \`${nearest}\`?`;
}

/** In the reference's words. */
function expected(known: readonly string[]): string {
  const names = known.map((one) => `\`${one}\``);
  if (names.length === 0) return '';
  return `, expected ${names.length <= 2 ? names.join(' or ') : `one of ${names.join(', ')}`}`;
}

function shown(key: string): string {
  return key.length > MAX_SHOWN ? `${key.slice(0, MAX_SHOWN)}…` : key;
}

/** `Did you mean "paused"?` for a misspelled known name, else undefined. */
export function didYouMean(name: string, known: Iterable<string>): string | undefined {
  const nearest = nearestName(name, known);
  return nearest === undefined ? undefined : `Did you mean "${nearest}"?`;
}

/**
 * The longest name that is compared. No known name is near a longer one, and comparing takes time for each pair of
 * letters.
 */
const MAX_COMPARED = 64;

/** The shortest name that is taken for the beginning of a known one. Shorter ones begin too many names. */
const MIN_STEM = 4;

/**
 * The known name with the fewest slips. The slips must be at most a third of the name's letters, or the name must begin
 * like the known one.
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > MAX_COMPARED) return undefined;
  let best: { name: string; distance: number } | undefined;
  for (const candidate of known) {
    const distance = distanceOf(name.toLowerCase(), candidate.toLowerCase());
    const isNear = distance <= Math.max(1, Math.floor(name.length / 3)) || isStem(name, candidate);
    if (isNear && distance < (best?.distance ?? Infinity)) {
      best = { name: candidate, distance };
    }
  }
  return best?.name;
}

/** Whether a known name is a longer form: `policy` and `policies`, `memory` and `memory_mb`. */
function isStem(name: string, candidate: string): boolean {
  return name.length >= MIN_STEM && candidate.toLowerCase().startsWith(name.slice(0, -1).toLowerCase());
}

/** Letters added, dropped, changed, or exchanged with the next one (the distance of optimal string alignment). */
function distanceOf(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 0; i < from.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const changed = (row[j] ?? 0) + (from[i] === to[j] ? 0 : 1);
      const isExchanged = i > 0 && j > 0 && from[i] === to[j - 1] && from[i - 1] === to[j];
      const exchanged = isExchanged ? (before[j - 1] ?? 0) + 1 : Infinity;
      next.push(Math.min(changed, exchanged, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** What is expected, in words, where the schema's own word is not one that a reader of JSON would use. */
const KINDS: Readonly<Record<string, string>> = {
  array: 'a list',
  int: 'an integer',
  object: 'an object',
  record: 'an object',
  tuple: 'a list',
  undefined: 'nothing',
  null: 'null',
};

const FORMATS: Readonly<Record<string, string>> = {
  url: 'a URL',
  uuid: 'a UUID',
  email: 'an email address',
  datetime: 'a time as in ISO 8601, such as 2026-01-31T12:00:00Z',
  date: 'a date such as 2026-01-31',
  base64: 'base64 text',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
};

const UNITS: Readonly<Record<string, readonly [one: string, several: string]>> = {
  array: ['entry', 'entries'],
  set: ['entry', 'entries'],
  string: ['character', 'characters'],
};

/** How the message of an absent value begins. */
export const MISSING_VALUE_TEXT = 'missing';

/** The message of a fault for which the schema has no words of its own. It says what is expected, in plain words. */
export function issueText(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type': {
      const expected = KINDS[issue.expected] ?? `a ${issue.expected}`;
      return issue.input === undefined
        ? `${MISSING_VALUE_TEXT}: expected ${expected}`
        : `expected ${expected}, not ${kindOf(issue.input)}`;
    }
    case 'invalid_value':
      return `expected ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`;
    case 'too_big':
      return `expected ${issue.exact === true ? 'exactly' : bound('most', issue.inclusive)} ${counted(issue.maximum, issue.origin)}`;
    case 'too_small':
      if (issue.origin in UNITS && issue.exact !== true && Number(issue.minimum) === 1) return 'must not be empty';
      return `expected ${issue.exact === true ? 'exactly' : bound('least', issue.inclusive)} ${counted(issue.minimum, issue.origin)}`;
    case 'not_multiple_of':
      return `expected a multiple of ${issue.divisor}`;
    case 'invalid_format': {
      if (issue.format === 'regex') return `expected text of the form ${issue.pattern}`;
      if (issue.format === 'starts_with') return `expected text that begins with ${String(issue['prefix'])}`;
      if (issue.format === 'ends_with') return `expected text that ends with ${String(issue['suffix'])}`;
      return `expected ${FORMATS[issue.format] ?? issue.format}`;
    }
    case 'unrecognized_keys':
      return `unknown ${issue.keys.length === 1 ? 'field' : 'fields'} ${issue.keys.map((key) => `\`${key}\``).join(', ')}`;
    case 'invalid_key':
    case 'invalid_element':
      return `one of its ${issue.code === 'invalid_key' ? 'keys' : 'values'} has another form than expected`;
    default:
      return 'expected another form';
  }
}

function bound(end: 'most' | 'least', inclusive: boolean | undefined): string {
  if (inclusive !== false) return `at ${end}`;
  return end === 'most' ? 'less than' : 'more than';
}

function counted(count: number | bigint, origin: string): string {
  const [one, several] = UNITS[origin] ?? [];
  return one === undefined ? String(count) : `${count} ${Number(count) === 1 ? one : several}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

// The one place of zod that every schema asks, in the words of its last setting. zod itself sets it when it is loaded.
z.config({ localeError: issueText });
