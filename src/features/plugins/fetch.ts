import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { AppError, invalidRequest } from '../../domain/errors.ts';
import type { KeyedEffect } from '../../domain/idempotency.ts';
import type { Json, WireObject } from '../../domain/json/json.ts';
import { FetchQueue } from '../../egress/fetch/fetch-queue.ts';
import {
  type FetchAnswer,
  FetchFailure,
  type FetchGrants,
  type FetchRequest,
} from '../../egress/fetch/plugin-fetch.ts';
import type { PluginHttp } from '../../egress/fetch/plugin-http.ts';
import type { Store } from '../../store/store.ts';
import { beginEffect, type EarlierEffect, earlierEffect, settleEffect } from '../recorded-effects.ts';

/** A plugin call that fetches. */
export interface PluginFetcher {
  readonly pluginId: string;
  readonly grants: FetchGrants;
  /** Aborts when the call ends. All fetches of the call share it. */
  readonly signal: AbortSignal;
}

/** Fetches for plugins, from the hosts that they were granted. */
export interface FetchService {
  /**
   * Fetches. Resolves with the answer and as much of its body as one reply can carry. `more` says that `read` has the
   * rest. `key` names the fetch within its plugin call. Rejects with `FETCH_FAILED`, or with `EFFECT_UNKNOWN` when an
   * earlier run of a keyed request sent this and its outcome is unknown.
   */
  fetch(by: PluginFetcher, key: number, request: FetchRequest, effect?: KeyedEffect): Promise<WireObject>;
  /** The next bytes of a body. Rejects with `FETCH_FAILED` when nothing is left. */
  read(by: PluginFetcher, key: number): Promise<WireObject>;
  /** Ends a fetch whose answer the plugin does not want any more. Returns false when there is no such fetch. */
  abort(by: PluginFetcher, key: number): boolean;
}

/** The most exchanges at once of one plugin call, and of one plugin. Further ones wait. */
const AT_ONCE = { perCall: 16, perPlugin: 64 };
/** The most bytes of answers that one plugin may have in transfer or unread. */
const MAX_HELD_BYTES = 64 * 1_048_576;
/**
 * The most bytes of a body in one reply. Even in base64, or with every character escaped, they stay below a reply's
 * limit.
 */
const REPLY_BYTES = 393_216;
/**
 * The longest body that is stored with the effect of a keyed request. A repeat of a request with a longer one is
 * refused.
 */
export const MAX_RECORDED_BODY_BYTES = 262_144;

export interface FetchDeps {
  store: Pick<Store, 'read' | 'write'>;
  http: PluginHttp;
}

/**
 * Fetches over guarded connections. In a call with a key, a request other than a read is recorded before it is sent.
 */
export function createFetchService({ store, http }: FetchDeps): FetchService {
  const queue = new FetchQueue(AT_ONCE);
  const held = new Map<string, number>();
  const calls = new WeakMap<AbortSignal, Map<number, RunningFetch>>();

  function begin({ pluginId, signal }: PluginFetcher, key: number): RunningFetch {
    const ofCall = calls.get(signal) ?? new Map<number, RunningFetch>();
    calls.set(signal, ofCall);
    if (ofCall.has(key)) throw invalidRequest(`fetch ${key} is running already`);
    const running = new RunningFetch(pluginId, held, signal, () => ofCall.delete(key));
    ofCall.set(key, running);
    return running;
  }

  async function send(
    by: PluginFetcher,
    running: RunningFetch,
    request: FetchRequest,
    effect: KeyedEffect | undefined,
  ): Promise<FetchAnswer> {
    const { signal } = running;
    const leave = await queue.enter({ pluginId: by.pluginId, call: by.signal }, signal).catch((error: unknown) => {
      throw new FetchFailure('aborted', 'the request was aborted', { unsent: true, cause: error });
    });
    try {
      if (effect !== undefined) await beginEffect(store, effect);
      return await http.fetch(request, { grants: by.grants, signal, hold: (bytes) => running.hold(bytes) });
    } finally {
      leave();
    }
  }

  async function sendOnce(by: PluginFetcher, running: RunningFetch, request: FetchRequest, effect: KeyedEffect) {
    const known = answerOf(await earlierEffect(store.read, effect));
    if (known !== undefined) return known;
    try {
      const answer = await send(by, running, request, effect);
      // A longer answer has no recorded outcome. So a further run does not send the request again.
      if (answer.body.length <= MAX_RECORDED_BODY_BYTES) await settleEffect(store, effect, keptAnswer(answer));
      return answer;
    } catch (error) {
      const neverHeard = by.signal.aborted && error instanceof FetchFailure && error.unsent;
      // The request was never sent, because its call ended first. A further run may send it.
      if (neverHeard) await store.write((writer) => writer.forgetEffect(effect));
      throw error;
    }
  }

  return {
    async fetch(by, key, request, effect) {
      const running = begin(by, key);
      try {
        const answer = await (effect === undefined
          ? send(by, running, request, undefined)
          : sendOnce(by, running, request, effect));
        const { body, ...head } = answer;
        // The outcome is stored by now, so this must not fail. The plugin aborted the fetch and does not see the
        // answer.
        if (effect !== undefined && running.signal.aborted) return { ...head, body: { text: '' }, more: false };
        return { ...head, ...running.hand(body) };
      } catch (error) {
        running.end();
        if (error instanceof FetchFailure) throw failed(reasonOf(error), error);
        throw error;
      }
    },

    async read(by, key) {
      const next = calls.get(by.signal)?.get(key)?.next();
      if (next === undefined) throw failed('fetch failed: there is nothing left to read');
      return next;
    },

    abort(by, key) {
      const running = calls.get(by.signal)?.get(key);
      running?.end();
      return running !== undefined;
    },
  };
}

/** One fetch of one plugin call, from its beginning until its last byte is handed over. */
class RunningFetch {
  readonly #pluginId: string;
  readonly #held: Map<string, number>;
  readonly #call: AbortSignal;
  readonly #forget: () => void;
  readonly #abort = new AbortController();
  readonly #onCallEnd = () => this.end();
  #rest: Buffer = Buffer.alloc(0);
  #holds = 0;

  constructor(pluginId: string, held: Map<string, number>, call: AbortSignal, forget: () => void) {
    this.#pluginId = pluginId;
    this.#held = held;
    this.#call = call;
    this.#forget = forget;
    if (call.aborted) this.#abort.abort();
    else call.addEventListener('abort', this.#onCallEnd, { once: true });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  hold(bytes: number): boolean {
    const sum = (this.#held.get(this.#pluginId) ?? 0) + bytes;
    if (sum > MAX_HELD_BYTES || this.signal.aborted) return false;
    this.#held.set(this.#pluginId, sum);
    this.#holds += bytes;
    return true;
  }

  /** Hands out the beginning of a body and keeps the rest. */
  hand(body: Buffer): WireObject {
    if (this.signal.aborted) throw new FetchFailure('aborted', 'the request was aborted');
    this.#rest = body;
    return this.#rest.length > REPLY_BYTES ? this.#next() : this.#all();
  }

  next(): WireObject | undefined {
    return this.#rest.length === 0 ? undefined : this.#next();
  }

  /** Ends the exchange and frees its bytes and its key. Safe to call twice. */
  end(): void {
    this.#abort.abort();
    this.#call.removeEventListener('abort', this.#onCallEnd);
    this.#rest = Buffer.alloc(0);
    const left = (this.#held.get(this.#pluginId) ?? 0) - this.#holds;
    this.#holds = 0;
    if (left > 0) this.#held.set(this.#pluginId, left);
    else this.#held.delete(this.#pluginId);
    this.#forget();
  }

  #next(): WireObject {
    const chunk = this.#rest.subarray(0, REPLY_BYTES);
    this.#rest = this.#rest.subarray(REPLY_BYTES);
    const more = this.#rest.length > 0;
    if (!more) this.end();
    return { body: { base64: chunk.toString('base64') }, more };
  }

  /** Returns the rest of the body, as text if possible, so that the plugin need not decode base64. */
  #all(): WireObject {
    const body = this.#rest;
    this.end();
    const text = isUtf8(body) ? body.toString('utf8') : undefined;
    // Control characters take six bytes each in JSON.
    // oxlint-disable-next-line no-control-regex -- these are what is looked for
    const isPlain = text !== undefined && !/[\0-\x08\x0b\x0c\x0e-\x1f]/.test(text);
    return { body: isPlain ? { text } : { base64: body.toString('base64') }, more: false };
  }
}

const keptSchema = z.strictObject({
  url: z.string(),
  redirected: z.boolean(),
  status: z.int(),
  statusText: z.string(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  base64: z.string(),
});

function keptAnswer({ body, ...head }: FetchAnswer): Json {
  return { ...head, base64: body.toString('base64') };
}

/**
 * Returns the stored answer for a repeat, which sends nothing.
 * @throws AppError `EFFECT_UNKNOWN` when sending again could act twice
 */
function answerOf(earlier: EarlierEffect | undefined): FetchAnswer | undefined {
  if (earlier === undefined) return undefined;
  if (earlier.outcome === undefined) throw new AppError('EFFECT_UNKNOWN', {});
  const { base64, ...head } = keptSchema.parse(earlier.outcome);
  return { ...head, body: Buffer.from(base64, 'base64') };
}

function reasonOf({ kind, message }: FetchFailure): string {
  return kind === 'refused' ? message : `fetch failed: ${message}`;
}

function failed(reason: string, cause?: unknown): AppError {
  return new AppError('FETCH_FAILED', { reason }, { cause });
}
