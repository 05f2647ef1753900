import type { z } from 'zod';
import { invalidRequest } from '../domain/errors.ts';
import { MISSING_VALUE_TEXT, unknownFieldsText } from '../domain/json/issue-text.ts';

/** The longest reason. A reason may quote a key from the client's body, which can be a megabyte long. */
const MAX_REASON = 1_000;
/** The most faults in a reason. A body can have a million of them. */
const MAX_FAULTS = 20;

/**
 * Parses a request's body.
 * @param base the path that the reason puts before each place
 * @throws AppError `INVALID_REQUEST`, which names each place and what is wrong there
 */
export function parseBody<S extends z.ZodType>(
  schema: S,
  body: unknown,
  base: readonly PropertyKey[] = [],
): z.output<S> {
  const parsed = schema.safeParse(body, { error: (issue) => unknownFieldsText(issue) });
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.slice(0, MAX_FAULTS);
  const reason = faults.map((issue) => reasonOf(issue, base)).join('; ');
  throw invalidRequest(reason.length > MAX_REASON ? `${reason.slice(0, MAX_REASON)}…` : reason, parsed.error);
}

function reasonOf(issue: z.core.$ZodIssue, base: readonly PropertyKey[]): string {
  const path = [...base, ...issue.path].map(String);
  if (path.length === 0 && issue.code === 'unrecognized_keys') return issue.message;
  const place = path.length === 0 ? 'the body' : path.join('.');
  const isMissing = issue.code === 'invalid_type' && issue.message.startsWith(MISSING_VALUE_TEXT);
  return `${place}: ${isMissing ? MISSING_VALUE_TEXT : issue.message}`;
}
