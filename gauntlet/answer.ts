import { END_CODES } from '../sandbox/protocol.ts';
import type { RunningService } from '../test/support/service.ts';
import type { End } from './hostile-plugins.ts';

/** An answer to a plugin call, or what came in its place. */
export interface Answer {
  readonly end: End;
  readonly status: number;
  /** What the plugin returned. */
  readonly data: unknown;
  /** The beginning of the text. */
  readonly text: string;
  /** Seconds. */
  readonly retryAfter: number | null;
  /** From the request until all of the answer was there, in milliseconds. */
  readonly tookMs: number;
}

export interface Asking {
  /** How long an answer is waited for, in milliseconds. */
  readonly patienceMs: number;
  readonly idempotencyKey?: string;
}

const SHOWN_TEXT = 300;

/** Calls a plugin. Never rejects: an answer that does not come is one, too. */
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

/** The call was not begun: there was no process for it, or too many waited. */
export function isRefused({ end }: Answer): boolean {
  return end === 'SERVICE_UNAVAILABLE';
}

/** The plugin is refused for a while since its process was killed again and again; so it is meant to be. */
export function isBackOff({ end, text, retryAfter }: Answer): boolean {
  return end === 'SERVICE_UNAVAILABLE' && retryAfter !== null && text.includes('is backed off');
}

/** A text that is no envelope reads as no answer. */
function readAnswer(status: number, text: string): { end: End; data: unknown } {
  try {
    const { success, data } = JSON.parse(text) as { success?: unknown; data?: unknown };
    if (status === 200 && success === true) return { end: 'returned', data };
    const code = (data as { code?: unknown } | null)?.code;
    if (typeof code !== 'string') return { end: 'no answer', data };
    // A plugin may throw any code; those of the sandbox come with their own status.
    return { end: isEndCode(code) && END_CODES[code].status === status ? code : 'threw', data };
  } catch {
    return { end: 'no answer', data: null };
  }
}

function isEndCode(code: string): code is keyof typeof END_CODES {
  return Object.hasOwn(END_CODES, code);
}
