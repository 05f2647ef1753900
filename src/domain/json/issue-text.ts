import { z } from 'zod';

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
export const MISSING = 'missing';

/** The message of a fault for which the schema has no words of its own. It says what is expected, in plain words. */
export function issueText(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type': {
      const expected = KINDS[issue.expected] ?? `a ${issue.expected}`;
      return issue.input === undefined
        ? `${MISSING}: expected ${expected}`
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
