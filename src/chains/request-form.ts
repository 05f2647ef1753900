import type { z } from 'zod';
import { invalidRequest } from '../domain/errors.ts';
import { unknownFields } from '../domain/json/unknown-field.ts';

/**
 * Parses a body. Names the first fault as the reference does. An unknown key comes before other faults, because a
 * missing field may be a misspelt one.
 * @throws AppError `INVALID_REQUEST`
 */
export function readForm<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const parsed = schema.safeParse(body, { error: textOf });
  if (!parsed.success) throw invalidRequest(failureOf(parsed.error, body));
  return parsed.data;
}

function failureOf({ issues }: z.ZodError, body: unknown): string {
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  const { path = [], message = 'expected an object' } = issue ?? {};
  const place = path.join('.');
  if (place === '') return message;
  return isAbsent(body, path) ? `missing field \`${place}\`` : `invalid \`${place}\`: ${message}`;
}

/** Whether the object that the path leads into has no such key. */
function isAbsent(body: unknown, path: readonly PropertyKey[]): boolean {
  let inside = body;
  for (const key of path) {
    if (typeof inside !== 'object' || inside === null) return false;
    if (!(key in inside)) return true;
    inside = (inside as Record<PropertyKey, unknown>)[key];
  }
  return false;
}

/** The message for an issue when the schema has none of its own. */
function textOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return unknownFields(issue) ?? '';
    case 'invalid_type':
      return `expected ${KINDS[issue.expected] ?? `a ${issue.expected}`}, not ${kindOf(issue.input)}`;
    case 'invalid_value':
      return `expected ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`;
    case 'too_big':
      return `expected at most ${issue.maximum}${UNITS[issue.origin] ?? ''}`;
    case 'too_small':
      return `expected at least ${issue.minimum}${UNITS[issue.origin] ?? ''}`;
    default:
      return 'expected another form';
  }
}

const KINDS: Readonly<Record<string, string>> = {
  array: 'a list',
  int: 'an integer',
  object: 'an object',
  record: 'an object',
};

const UNITS: Readonly<Record<string, string>> = { array: ' entries', string: ' characters' };

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
