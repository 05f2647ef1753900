import { END_CODES } from '../../../sandbox/contract.ts';
import type { RunningService } from '../../support/service.ts';
import type { End } from './hostile-plugins.ts';

/** The answer to a plugin call, or the failure to get one. */
export interface Answer {
  readonly end: End;
  readonly status: number;
  /** The `data` of the answer: the plugin's result, or the details of an error. */
  readonly data: unknown;
  /** The beginning of the body, or the error if there was no answer. */
  readonly text: string;
  /** In seconds; null if the answer has no `Retry-After`. */
  readonly retryAfter: number | null;
  /** From the request until the answer was complete, in milliseconds. */
  readonly tookMs: number;
}

export interface Asking {
  /** How long to wait for an answer, in milliseconds. */
  readonly patienceMs: number;
  readonly idempotencyKey?: string;
}

const SHOWN_TEXT = 300;

/** Calls a plugin. Never rejects: without an answer it resolves with end `no answer`. */
export async function callPlugin(
  { url, apiKey }: Pick<RunningService, 'url' | 'apiKey'>,
  plugin: string,
  params: object,
  { patienceMs, idempotencyKey }: Asking,
): Promise<Answer> {
  const began = performance.now();
  const tookMs = () => performance.now() - began;
  try {
    const response = await fetch(`${url}/api/v1/plugins/${plugin}/call`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      body: JSON.stringify({ params }),
      signal: AbortSignal.timeout(patienceMs),
    });
    const text = await response.text();
    const retryAfter = response.headers.get('retry-after');
    return {
      ...readAnswer(response.status, text),
      status: response.status,
      text: text.slice(0, SHOWN_TEXT),
      retryAfter: retryAfter === null ? null : Number(retryAfter),
      tookMs: tookMs(),
    };
  } catch (error) {
    const text = String(error);
    return { end: 'no answer', status: 0, data: null, text, retryAfter: null, tookMs: tookMs() };
  }
}

/** Whether the call was not started, for example because there was no process for it or too many calls waited. */
export function isRefused({ end }: Answer): boolean {
  return end === 'SERVICE_UNAVAILABLE';
}

/** Whether the plugin is backed off, because its process was killed again and again. This is intended. */
export function isBackOff({ end, text, retryAfter }: Answer): boolean {
  return end === 'SERVICE_UNAVAILABLE' && retryAfter !== null && text.includes('is backed off');
}

/** A body that is not the API's envelope counts as `no answer`. */
function readAnswer(status: number, text: string): { end: End; data: unknown } {
  try {
    const { success, data } = JSON.parse(text) as { success?: unknown; data?: unknown };
    if (status === 200 && success === true) return { end: 'returned', data };
    const code = (data as { code?: unknown } | null)?.code;
    if (typeof code !== 'string') return { end: 'no answer', data };
    // A plugin may throw any code. A code of the sandbox counts only with the sandbox's own status.
    return { end: isEndCode(code) && END_CODES[code].status === status ? code : 'threw', data };
  } catch {
    return { end: 'no answer', data: null };
  }
}

function isEndCode(code: string): code is keyof typeof END_CODES {
  return Object.hasOwn(END_CODES, code);
}
