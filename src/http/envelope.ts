import type { AppError, ErrorCode } from '../domain/errors.ts';
import type { JsonObject, WireValue } from '../domain/json/json.ts';
import { writeJson } from '../domain/json/json-text.ts';
import type { ListPart, ListPartRequest, Page, PageRequest } from '../domain/page.ts';
import { disabledReasonView } from '../features/relayers/records/disabled-reason.ts';

/** The page of a list. The numbers are those in effect, not those asked for. */
interface Pagination {
  current_page: number;
  per_page: number;
  total_items: number;
}

/** The part of a list that only grows. A client continues from a cursor, and there is no total. */
interface Continuation {
  per_page: number;
  /** The cursor of the next part; null at the end of the list. */
  next_cursor: string | null;
}

/** The body of a successful answer. */
interface Success {
  success: true;
  data: WireValue;
  error: null;
  pagination?: Pagination | Continuation;
}

/** The body of a failed answer: `message` is the fixed text of the error table, `error` the specific reason. */
interface Failure {
  success: false;
  data: null;
  error: string;
  message: string;
  /** The row of the error table, for programs: it never changes its meaning. */
  code: ErrorCode;
  /** Whether the same request may succeed later without being changed. */
  retryable: boolean;
  /** Seconds to wait, with 429 only. The reference's clients read this field. */
  after?: number;
  /** For a disabled relayer only: the result of its checks, and the time of the next check. */
  disabled_reason?: JsonObject;
}

export function success(data: WireValue): Success {
  return { success: true, data, error: null };
}

/** One page of a list. */
export function successPage(page: Page<WireValue>, request: PageRequest): Success {
  const pagination = { current_page: request.page, per_page: request.perPage, total_items: page.total };
  return { success: true, data: page.items, error: null, pagination };
}

/**
 * One part of a list that only grows.
 * @param cursorOf turns a position in the list into a cursor for clients
 */
export function successPart(
  { items, next }: ListPart<WireValue>,
  request: ListPartRequest,
  cursorOf: (place: number) => string = String,
): Success {
  const pagination = { per_page: request.limit, next_cursor: next === null ? null : cursorOf(next) };
  return { success: true, data: items, error: null, pagination };
}

export function failure(error: AppError): Failure {
  const {
    code,
    retryable,
    explained: reason,
    publicMessage: message,
    retryAfterSeconds: after,
    disabledReason,
  } = error;
  const body: Failure = { success: false, data: null, error: reason, message, code, retryable };
  if (disabledReason !== undefined) return { ...body, disabled_reason: disabledReasonView(disabledReason) };
  return error.status === 429 && after !== undefined ? { ...body, after } : body;
}

/**
 * Headers of every answer. Browsers must take the content type as it is, and nothing may be cached. A route that does
 * not answer with JSON may set its own.
 */
export const ANSWER_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' } as const;

/** The texts of frozen objects and lists. */
const texts = new WeakMap<object, string>();

/** The names in the envelope, as they are written. */
const NAMES: Readonly<Record<string, string>> = {
  success: '"success":',
  data: '"data":',
  error: '"error":',
  pagination: '"pagination":',
};

/**
 * Writes the body of an answer as JSON. A frozen object in the body, or in a list in it, is converted once, and so is a
 * frozen list. Later answers reuse the text.
 */
export function answerText(body: unknown): string {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return writeJson(body);
  let text = '';
  for (const name of Object.keys(body)) {
    const value: unknown = (body as Record<string, unknown>)[name];
    if (value === undefined) continue;
    text += (text === '' ? '{' : ',') + (NAMES[name] ?? `${JSON.stringify(name)}:`) + valueText(value);
  }
  return text === '' ? '{}' : `${text}}`;
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (value === true) return 'true';
  if (typeof value !== 'object') return writeJson(value);
  const known = texts.get(value);
  if (known !== undefined) return known;
  const text = Array.isArray(value) ? `[${value.map(valueText).join()}]` : writeJson(value);
  if (Object.isFrozen(value)) texts.set(value, text);
  return text;
}
