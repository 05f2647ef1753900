import type { AppError, ErrorCode } from '../domain/errors.ts';
import type { Wire } from '../domain/json/json.ts';
import type { Page, PageRequest } from '../domain/page.ts';

/** What a list says about itself; the values in effect, not those asked for. */
export interface Pagination {
  current_page: number;
  per_page: number;
  total_items: number;
}

/** The body of a successful answer. */
export interface Success {
  success: true;
  data: Wire;
  error: null;
  pagination?: Pagination;
}

/** The body of a failed answer: `message` is the fixed text of the error table, `error` the specific reason. */
export interface Failure {
  success: false;
  data: null;
  error: string;
  message: string;
  /** The row of the error table, for programs: it never changes its meaning. */
  code: ErrorCode;
  /** Whether the same request may succeed later without being changed. */
  retryable: boolean;
  /** With 429 only, as the reference's clients know it: the seconds to wait. */
  after?: number;
}

export function success(data: Wire): Success {
  return { success: true, data, error: null };
}

/** One page of a list. */
export function successPage(page: Page<Wire>, asked: PageRequest): Success {
  const pagination = { current_page: asked.page, per_page: asked.perPage, total_items: page.total };
  return { success: true, data: page.items, error: null, pagination };
}

export function failure(error: AppError): Failure {
  const { code, retryable, message: reason, publicMessage: message, retryAfterSeconds: after } = error;
  const body: Failure = { success: false, data: null, error: reason, message, code, retryable };
  return code === 'TOO_MANY_REQUESTS' && after !== undefined ? { ...body, after } : body;
}
