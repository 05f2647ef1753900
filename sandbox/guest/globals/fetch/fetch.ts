import type { CapabilityContract } from '../../sdk/capabilities.ts';
import { atob, base64Of, bytesFromBase64, concatBytes } from '../encoding/bytes.ts';
import { TextEncoder } from '../encoding/text-encoder.ts';
import { tooFewArguments } from '../web-idl.ts';
import { type BodyClasses, type BodyClassKit, BodyContent, type WholeBody } from './body.ts';
import { Headers, headerLines } from './headers.ts';
import type { RequestClassKit, RequestSignal } from './request.ts';
import type { ResponseClassKit } from './response.ts';

type FetchMethod = Extract<keyof CapabilityContract, `fetch${string}`>;

type FetchReply = CapabilityContract['fetch']['result'];

/** Calls one of the service's fetch capabilities. Rejects with an error that a plugin may see. */
export type CallFetchCapability = <M extends FetchMethod>(
  method: M,
  params: CapabilityContract[M]['params'],
) => Promise<CapabilityContract[M]['result']>;

/** The classes that `fetch` uses. */
interface FetchClasses {
  classes: BodyClasses;
  body: BodyClassKit;
  request: RequestClassKit;
  response: ResponseClassKit;
}

/** Most bytes of a body. More do not fit into one capability call as base64. */
const MAX_BODY_BYTES = 750_000;

/**
 * Headers that belong to the connection. They are dropped, as browsers do (Fetch Standard 2.2.2, forbidden
 * request-header).
 */
const NOT_SENT =
  /^(connection|content-length|expect|host|http2-settings|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|via)$/;

const WITHOUT_BODY = [101, 204, 205, 304];

/**
 * The function fetch (Fetch Standard 5.6). It resolves once the whole answer is there. A failed fetch rejects with a
 * TypeError that has the service's reason. Each call numbers its exchanges anew: a durable call that runs again asks
 * for the same ones.
 */
export function createFetch(
  asker: () => CallFetchCapability,
  { classes, body, request, response }: FetchClasses,
  atCall: (reset: () => void) => void = () => {},
) {
  let lastKey = 0;
  atCall(() => {
    lastKey = 0;
  });

  async function fetch(...given: unknown[]): Promise<InstanceType<ResponseClassKit['Response']>> {
    if (given.length === 0) throw tooFewArguments('fetch', 1);
    // Taken now, for this plugin call: a body may be a stream that ends while another plugin call runs.
    const ask = asker();
    const outgoing = new request.Request(given[0], given[1]);
    const signals = request.followed(outgoing);
    throwIfAborted(signals);
    // Refused and not ignored, because the plugin would rely on a check that nobody makes.
    if (outgoing.integrity !== '') throw new TypeError('fetch does not check integrity');
    const whole = await body.contentOf(outgoing)?.whole();
    throwIfAborted(signals);
    if (outgoing.url.startsWith('data:')) return ofData(outgoing.url);
    const key = ++lastKey;
    const params = {
      key,
      url: outgoing.url,
      method: outgoing.method.toUpperCase() as 'GET',
      headers: headerLines(outgoing.headers).filter(([name]) => !NOT_SENT.test(name)),
      redirect: outgoing.redirect,
      ...(whole !== undefined && { body: sent(whole) }),
    };
    const { reply, content } = await abortable(ask, signals, key, async () => {
      const first = await ask('fetch', params);
      return { reply: first, content: await received(ask, first, key) };
    });
    const head = {
      type: 'basic',
      url: reply.url,
      redirected: reply.redirected,
      status: reply.status,
      statusText: reply.statusText,
      headers: new Headers(reply.headers),
    } as const;
    const hasBody = outgoing.method !== 'HEAD' && !WITHOUT_BODY.includes(reply.status);
    return response.answer(head, hasBody ? new BodyContent(classes, content) : null);
  }

  Object.defineProperty(fetch, 'length', { value: 1, configurable: true });
  return fetch;

  /** Answers a data URL without the service, because the URL holds the content. */
  function ofData(url: string): InstanceType<ResponseClassKit['Response']> {
    const data = readDataUrl(url);
    if (data === null) throw new TypeError('The data URL is not well formed');
    const headers = new Headers({ 'content-type': data.type });
    const head = { type: 'basic', url, redirected: false, status: 200, statusText: 'OK', headers } as const;
    return response.answer(head, new BodyContent(classes, { bytes: data.bytes }));
  }

  /** Rejects as soon as a signal is aborted, and then cancels the exchange. */
  function abortable<T>(
    ask: CallFetchCapability,
    signals: readonly RequestSignal[],
    key: number,
    work: () => Promise<T>,
  ): Promise<T> {
    if (signals.length === 0) return work();
    return new Promise((resolve, reject) => {
      const abort = () => {
        ask('fetch.abort', { key }).catch(() => undefined);
        reject(signals.find(({ aborted }) => aborted)?.reason);
      };
      for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
      work()
        .then(resolve, reject)
        .finally(() => {
          for (const signal of signals) signal.removeEventListener('abort', abort);
        });
    });
  }

  /** Reads the whole body. One reply holds only a part of a long body. */
  async function received(
    ask: CallFetchCapability,
    { body: begin, more }: FetchReply,
    key: number,
  ): Promise<WholeBody> {
    if (!more) return 'text' in begin ? begin : { bytes: bytesOf(begin) };
    const pieces = [bytesOf(begin)];
    for (let left: boolean = more; left; ) {
      const next = await ask('fetch.read', { key });
      pieces.push(bytesOf(next.body));
      left = next.more;
    }
    return { bytes: concatBytes(pieces) };
  }
}

function throwIfAborted(signals: readonly RequestSignal[]): void {
  const aborted = signals.find((signal) => signal.aborted);
  if (aborted !== undefined) throw aborted.reason;
}

function sent(whole: WholeBody): FetchReply['body'] {
  const length = 'text' in whole ? whole.text.length : whole.bytes.length;
  if (length > MAX_BODY_BYTES) throw new TypeError(`fetch sends at most ${MAX_BODY_BYTES} bytes`);
  return 'text' in whole ? whole : { base64: base64Of(whole.bytes) };
}

function bytesOf(body: FetchReply['body']): Uint8Array<ArrayBuffer> {
  return 'base64' in body ? bytesFromBase64(body.base64) : new Uint8Array();
}

/** What a data URL holds. */
interface DataUrl {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const TYPE = /^[!#$%&'*+\-.^_`|~\w]+\/[!#$%&'*+\-.^_`|~\w]+\s*(;.*)?$/;

const BY_DEFAULT = 'text/plain;charset=US-ASCII';

const BASE64 = /; *base64$/i;

/** Reads a data URL (Fetch Standard 6) as a URL serialises it; null for one that is not well formed. */
export function readDataUrl(href: string): DataUrl | null {
  const [url = ''] = href.split('#', 1);
  const comma = url.indexOf(',');
  if (comma < 0) return null;
  const head = url.slice('data:'.length, comma).trim();
  const body = percentDecoded(url.slice(comma + 1));
  if (!BASE64.test(head)) return { type: typeOf(head), bytes: body };
  try {
    const text = atob(Array.from(body, (byte) => String.fromCharCode(byte)).join(''));
    return { type: typeOf(head.replace(BASE64, '')), bytes: Uint8Array.from(text, (one) => one.charCodeAt(0)) };
  } catch {
    return null;
  }
}

function typeOf(given: string): string {
  const type = given.startsWith(';') ? `text/plain${given}` : given;
  return TYPE.test(type) ? type : BY_DEFAULT;
}

/** The bytes of a percent-encoded text (URL Standard 1.3). */
function percentDecoded(text: string): Uint8Array<ArrayBuffer> {
  const given = new TextEncoder().encode(text);
  const bytes = new Uint8Array(given.length);
  let length = 0;
  for (let at = 0; at < given.length; at++) {
    const pair = given[at] === 0x25 ? String.fromCharCode(given[at + 1] ?? 0, given[at + 2] ?? 0) : '';
    const isByte = /^[\da-f]{2}$/i.test(pair);
    bytes[length++] = isByte ? Number.parseInt(pair, 16) : (given[at] ?? 0);
    if (isByte) at += 2;
  }
  return bytes.slice(0, length);
}
