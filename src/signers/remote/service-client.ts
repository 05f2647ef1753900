import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { HttpAnswer } from '../../egress/http-client.ts';
import { HttpFailure } from '../../egress/http-failure.ts';
import type { SignerTools } from '../signer.ts';

/** How long a request to a service may take in all, in ms: with a token, a key and retries. */
export const REMOTE_LIMIT_MS = 10_000;
/** How long one HTTP exchange may take, in ms. */
const EXCHANGE_MS = 4_000;
const TRIES = 3;
/** How often a service is asked that says that it is not up to date yet: for some 3 s, within the limit above. */
const TRIES_WHILE_BEHIND = 6;
const FIRST_PAUSE_MS = 100;
/** The longest pause before a retry, in ms. When the service asks for a longer one, the request fails. */
const MAX_PAUSE_MS = 2_000;
/** The most bytes of an answer. Keys, tokens and signatures are short. */
const MAX_ANSWER = 262_144;
const MAX_REASON = 300;
/**
 * Errors mention a larger difference between the clocks. Correct clocks differ by less, even when an answer is slow.
 */
const MAX_CLOCK_SECONDS = 30;
/**
 * The shortest credentials that are masked, in characters. Shorter ones occur in any text. Headers contain more than
 * credentials, so their limit is higher.
 */
const MIN_SENT = 4;
const MIN_IN_HEADER = 16;
/** Statuses after which a request is tried again: the service was busy or broken, and did nothing. */
const PASSING = new Set([429, 500, 502, 503, 504]);

/** The address of a service, in a configuration. */
export const serviceUrlSchema = z.url({ protocol: /^https?$/, error: 'not a URL with https:// or http://' });

/** One question: a GET, or a POST where there is a body. */
export interface ServiceRequest<Answer> {
  url: URL;
  /** A function makes new headers for each try, when headers are valid only once. */
  headers: Record<string, string> | (() => Record<string, string>);
  body?: string;
  /** The credentials in the body. */
  credentials?: readonly string[];
  answer: z.ZodType<Answer>;
}

/** Asks a service for JSON. */
export interface ServiceClient {
  /**
   * Tries again when the connection failed or the service was busy. That is safe: signing the same bytes twice moves
   * nothing.
   * @throws ServiceRefusal when the service refuses; Error when it does not answer, or its answer is not understood
   */
  ask<Answer>(question: ServiceRequest<Answer>): Promise<Answer>;
}

/** The service answered with a status that is not one of 200 to 299. */
export class ServiceRefusal extends Error {
  readonly status: number;
  /** How long the service asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, status: number, retryAfterMs?: number) {
    super(message);
    this.name = 'ServiceRefusal';
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * @param name of the service, for errors
 * @param reasonIn finds the service's reason in the body of a refusal
 * @param behind statuses of a server that has yet to catch up with the others of its cluster
 */
export function createServiceClient(
  name: string,
  reasonIn: (body: unknown) => string | undefined,
  { http, random, clock }: Pick<SignerTools, 'http' | 'random' | 'clock'>,
  behind: readonly number[] = [],
): ServiceClient {
  /** How long to wait before the next try, in ms. Undefined when a further try would fail, too. */
  function pauseAfter(error: unknown, tried: number): number | undefined {
    const longest = FIRST_PAUSE_MS * 2 ** (tried - 1);
    if (error instanceof ServiceRefusal && behind.includes(error.status)) {
      // At least half of it: no time is lost by drawing too little, and the number of tries has to last.
      return tried < TRIES_WHILE_BEHIND ? longest * (0.5 + random() / 2) : undefined;
    }
    if (tried >= TRIES) return undefined;
    const drawn = longest * random();
    if (error instanceof HttpFailure) return error.kind === 'transport' ? drawn : undefined;
    if (!(error instanceof ServiceRefusal) || !PASSING.has(error.status)) return undefined;
    const { retryAfterMs = drawn } = error;
    return retryAfterMs > MAX_PAUSE_MS ? undefined : retryAfterMs;
  }

  async function exchange({ url, body, ...question }: ServiceRequest<unknown>): Promise<HttpAnswer> {
    const headers = typeof question.headers === 'function' ? question.headers() : question.headers;
    const given = { headers, timeoutMs: EXCHANGE_MS, maxBytes: MAX_ANSWER };
    const answer = await (body === undefined ? http.get(url, given) : http.post(url, { ...given, body }));
    const { status, redirect } = answer;
    if (status >= 200 && status < 300) return answer;
    const givenReason = reasonIn(jsonOf(answer.body)) ?? 'it gave no reason';
    const reason = withoutCredentials(givenReason, headers, question.credentials ?? [])
      .replaceAll(/\s+/g, ' ')
      .trim()
      .slice(0, MAX_REASON);
    const message = `${name} at ${url.host} answered ${status}${redirect}: ${reason}${clockFault(answer, clock.now())}`;
    throw new ServiceRefusal(message, status, retryAfter(answer));
  }

  return {
    async ask(question) {
      for (let tried = 1; ; tried += 1) {
        try {
          return understood(name, question, await exchange(question));
        } catch (error) {
          const waitMs = pauseAfter(error, tried);
          if (waitMs === undefined) throw named(error, name, question.url);
          await pause(waitMs);
        }
      }
    },
  };
}

function named(error: unknown, name: string, url: URL): unknown {
  return error instanceof HttpFailure ? new Error(`${name} at ${url.host}: ${error.message}`, { cause: error }) : error;
}

function understood<Answer>(name: string, question: ServiceRequest<Answer>, { body }: HttpAnswer): Answer {
  const parsed = question.answer.safeParse(jsonOf(body));
  if (parsed.success) return parsed.data;
  // Names the place of the error, but never the value there, which may be a key.
  const where = parsed.error.issues[0]?.path.join('.') || 'all of it';
  throw new Error(`${name} at ${question.url.host} gave an answer that is not understood (${where})`);
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/**
 * A hint about clocks that differ. Tokens and stamps are valid for a short while, and a refusal may not name the clocks
 * as the cause.
 */
function clockFault({ headers }: HttpAnswer, now: number): string {
  const serverTime = Date.parse(String(headers['date']));
  const seconds = Math.round((now - serverTime) / 1_000);
  if (Number.isNaN(serverTime) || Math.abs(seconds) <= MAX_CLOCK_SECONDS) return '';
  return ` (the clock of this machine is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the service's)`;
}

/**
 * The `Retry-After` header in milliseconds. Reads only seconds. The header may be a date, but such waits are too long
 * here.
 */
function retryAfter({ headers }: HttpAnswer): number | undefined {
  const value = headers['retry-after'];
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) * 1_000 : undefined;
}

/**
 * Masks credentials in a text: a service may repeat the header or the body that it refuses. The text must be cut only
 * afterwards, because a cut credential is not recognised.
 */
function withoutCredentials(text: string, headers: Record<string, string>, sent: readonly string[]): string {
  const inHeaders = Object.values(headers).map((value) => value.slice(value.lastIndexOf(' ') + 1));
  const inBody = sent.filter(({ length }) => length >= MIN_SENT).flatMap(writtenForms);
  return [...inHeaders.filter(({ length }) => length >= MIN_IN_HEADER), ...inBody]
    .toSorted((one, other) => other.length - one.length)
    .reduce((clean, credential) => clean.replaceAll(credential, '***'), text);
}

/** A text as it is, and as it is written in a form, in a URL and in JSON. */
function writtenForms(text: string): string[] {
  const inForm = new URLSearchParams({ '': text }).toString().slice(1);
  return [text, inForm, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)];
}

/** The first text at one of the paths in a body. */
export function readTextAtPath(body: unknown, ...paths: readonly (readonly (string | number)[])[]): string | undefined {
  for (const path of paths) {
    let value = body;
    for (const step of path) value = (value as Record<string | number, unknown> | null | undefined)?.[step];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}
