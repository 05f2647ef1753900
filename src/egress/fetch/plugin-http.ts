import { type AddressGuard, BlockedAddressError } from '../address-guard.ts';
import { guardedConnector } from '../http-client.ts';
import { Agent } from '../undici.ts';
import { sendHop } from './exchange.ts';
import { fetchRequestHeaders } from './headers.ts';
import { type FetchAnswer, FetchFailure, type FetchGrants, type FetchRequest, type FetchRule } from './plugin-fetch.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Headers that describe a body. They are dropped together with it (Fetch Standard 2.2.2). */
const OF_THE_BODY = new Set([
  'content-encoding',
  'content-language',
  'content-location',
  'content-type',
  'content-length',
]);

/** Headers that were meant for the first host only. */
const CREDENTIALS = new Set(['authorization', 'cookie']);

/**
 * The request that follows an answer, by the rules of the Fetch Standard's HTTP-redirect fetch (4.4); undefined when
 * the answer is the last one.
 * @throws FetchFailure `redirect`
 */
export function redirectRequest(
  request: FetchRequest,
  status: number,
  location: string | undefined,
): FetchRequest | undefined {
  if (!REDIRECTS.has(status) || location === undefined || request.redirect === 'manual') return undefined;
  if (request.redirect === 'error') throw failure(`${request.url.host} redirects, which the request forbids`);
  const url = URL.parse(location, request.url);
  if (url === null) throw failure(`${request.url.host} redirects to what is not a URL`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw failure(`${request.url.host} redirects to ${url.protocol}, and only http and https are spoken`);
  }
  if (url.username !== '' || url.password !== '') throw failure(`${request.url.host} redirects with credentials`);

  const { method } = request;
  const turnsToGet =
    ((status === 301 || status === 302) && method === 'POST') ||
    (status === 303 && method !== 'GET' && method !== 'HEAD');
  const isElsewhere = url.origin !== request.url.origin;
  const headers = request.headers.filter(
    ([name]) => !(turnsToGet && OF_THE_BODY.has(name)) && !(isElsewhere && CREDENTIALS.has(name)),
  );
  return { ...request, url, headers, ...(turnsToGet && { method: 'GET', body: undefined }) };
}

function failure(message: string): FetchFailure {
  return new FetchFailure('redirect', message);
}

/** The terms under which a plugin's request is made. */
export interface FetchTerms {
  grants: FetchGrants;
  /** Aborted when the plugin does not want the answer any more, or its call is over. */
  signal: AbortSignal;
  /** Counts bytes of an answer as held by the plugin; false when the plugin may hold no more. */
  hold(bytes: number): boolean;
}

/** Plugins' HTTP client: guarded addresses, granted hosts, bounded answers. It keeps no cookies and uses no proxy. */
export interface PluginHttp {
  /** @throws FetchFailure */
  fetch(request: FetchRequest, terms: FetchTerms): Promise<FetchAnswer>;
  close(): Promise<void>;
}

const MAX_REDIRECTS = 5;
const CONNECT_MS = 5_000;
/** The same as Node's own limit. */
const HEADER_BYTES = 16_384;
/** A connection without a request is closed soon: plugins may be granted many hosts. */
const IDLE_MS = 4_000;

/**
 * Opens the connections of all plugins. Hosts that may be private never share a connection with others. So a connection
 * that was opened under one guard does not get past the other.
 */
export function createPluginHttp(guards: { open: AddressGuard; private: AddressGuard }): PluginHttp {
  const open = createAgent(guards.open);
  const inside = createAgent(guards.private);

  async function follow(first: FetchRequest, terms: FetchTerms, signal: AbortSignal): Promise<FetchAnswer> {
    let request: FetchRequest = { ...first, headers: fetchRequestHeaders(first.headers) };
    for (let hops = 0; ; hops++) {
      const rule = ruleFor(request, terms.grants, hops === 0);
      const { answer, next } = await hop(request, rule, terms, signal).catch((error: unknown) => {
        // After a redirect the first host already has the request, so the failure no longer counts as unsent.
        if (hops === 0 || !(error instanceof FetchFailure) || !error.unsent) throw error;
        throw new FetchFailure(error.kind, error.message, { cause: error.cause });
      });
      if (next === undefined) return { ...answer, url: withoutFragment(request.url), redirected: hops > 0 };
      if (hops >= MAX_REDIRECTS) throw new FetchFailure('redirect', `more than ${MAX_REDIRECTS} redirects`);
      request = next;
    }
  }

  async function hop(request: FetchRequest, rule: FetchRule, { grants, hold }: FetchTerms, signal: AbortSignal) {
    const guard = rule.isPrivate ? guards.private : guards.open;
    let next: FetchRequest | undefined;
    let fault: FetchFailure | undefined;
    const wantsBody = (status: number, location: string | undefined) => {
      try {
        next = redirectRequest(request, status, location);
      } catch (error) {
        if (!(error instanceof FetchFailure)) throw error;
        fault = error;
      }
      return next === undefined && fault === undefined;
    };
    try {
      guard.checkUrl(request.url);
      const dispatcher = rule.isPrivate ? inside : open;
      const answer = await sendHop(dispatcher, { request, maxBytes: rule.maxBytes, signal, hold, wantsBody });
      if (fault !== undefined) throw fault;
      return { answer, next };
    } catch (error) {
      throw explained(error, request.url, rule, grants);
    }
  }

  return {
    async fetch(request, terms) {
      const rule = ruleFor(request, terms.grants, true);
      const late = new AbortController();
      const timer = setTimeout(
        () => late.abort(new FetchFailure('timeout', `no answer within ${rule.timeoutMs} ms (timeout_ms)`)),
        rule.timeoutMs,
      );
      const aborted = new FetchFailure('aborted', 'the request was aborted');
      const abort = () => late.abort(aborted);
      if (terms.signal.aborted) abort();
      else terms.signal.addEventListener('abort', abort, { once: true });
      try {
        return await follow(request, terms, late.signal);
      } finally {
        clearTimeout(timer);
        terms.signal.removeEventListener('abort', abort);
      }
    },
    async close() {
      await Promise.all([open.destroy(), inside.destroy()]);
    },
  };
}

/** @throws FetchFailure `refused`, also for a body that is longer than the rule allows */
function ruleFor({ url, method, body }: FetchRequest, grants: FetchGrants, unsent: boolean): FetchRule {
  const rule = grants.rule(url, method);
  if (typeof rule === 'string') throw new FetchFailure('refused', rule, { unsent });
  if ((body?.length ?? 0) > rule.maxBytes) {
    throw new FetchFailure('too-large', `the body is larger than ${rule.maxBytes} bytes (max_bytes)`, { unsent });
  }
  return rule;
}

/** Explains a refusal of the address guard. If only a grant is missing, the message says which one. */
function explained(error: unknown, url: URL, rule: FetchRule, grants: FetchGrants): unknown {
  const cause = error instanceof FetchFailure ? error.cause : error;
  if (!(cause instanceof BlockedAddressError)) return error;
  const message =
    cause.isPrivate && !rule.isPrivate ? `${cause.message}: ${grants.privateRefusal(url)}` : cause.message;
  return new FetchFailure('refused', message, { unsent: true, cause });
}

function withoutFragment(url: URL): string {
  const shown = new URL(url);
  shown.hash = '';
  return shown.href;
}

function createAgent(guard: AddressGuard): Agent {
  return new Agent({
    connect: guardedConnector(guard, { timeout: CONNECT_MS, allowH2: false }),
    allowH2: false,
    maxHeaderSize: HEADER_BYTES,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    // The whole exchange has its own limit, which these would only duplicate.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}
