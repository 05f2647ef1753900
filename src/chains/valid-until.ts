import { type AppError, invalidRequest } from '../domain/errors.ts';
import type { Timestamp } from '../domain/transaction/transaction.ts';

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
  if (at <= now) throw validUntilPast(at, now);
  return at;
}

export function validUntilPast(at: Timestamp, now: Timestamp): AppError {
  const [said, current] = [at, now].map((time) => new Date(time).toISOString());
  return invalidRequest(`The validUntil time cannot be in the past: valid_until is ${said}, and it is ${current}`);
}

function isCalendarDay(year: number, month: number, day: number): boolean {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
