import type { z } from 'zod';
import { type AppError, invalidRequest } from '../domain/errors.ts';
import { issueText, unknownFieldsText } from '../domain/json/issue-text.ts';
import type { Timestamp } from '../features/transactions/records/transaction.ts';

/**
 * Parses a body. Names the first fault as the reference does. An unknown key comes before other faults, because a
 * missing field may be a misspelt one.
 * @throws AppError `INVALID_REQUEST`
 */
export function parseRequestForm<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
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
  return unknownFieldsText(issue) ?? issueText(issue);
}

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Reads a time in the form of RFC 3339 that must lie in the future. Refuses dates that no calendar has (JavaScript
 * would count 30 February on into March), the hour 24 and leap seconds.
 * @throws AppError `INVALID_REQUEST` with the reference's texts
 */
export function readValidUntil(text: string, now: Timestamp): Timestamp {
  const [, year, month, day] = RFC_3339.exec(text) ?? [];
  const isDate = day !== undefined && isCalendarDay(Number(year), Number(month), Number(day));
  const at = isDate ? Date.parse(text.toUpperCase().replace(' ', 'T')) : Number.NaN;
  if (Number.isNaN(at)) {
    throw invalidRequest('Invalid validUntil datetime format: valid_until must be as 2027-01-31T00:00:00Z');
  }
  if (at <= now) throw validUntilPastError(at, now);
  return at;
}

export function validUntilPastError(at: Timestamp, now: Timestamp): AppError {
  const [said, current] = [at, now].map((time) => new Date(time).toISOString());
  return invalidRequest(`The validUntil time cannot be in the past: valid_until is ${said}, and it is ${current}`);
}

function isCalendarDay(year: number, month: number, day: number): boolean {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
