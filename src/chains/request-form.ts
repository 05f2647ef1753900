import type { z } from 'zod';
import { invalidRequest } from '../domain/errors.ts';
import { issueText } from '../domain/json/issue-text.ts';
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
  return unknownFields(issue) ?? issueText(issue);
}
