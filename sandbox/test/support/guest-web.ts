import type { CallFetchCapability } from '../../guest/globals/fetch/fetch.ts';
import { create as makeDom } from '../../guest/lazy/dom.ts';
import { createStreamClasses } from '../../guest/lazy/streams.ts';
import { create as makeWeb } from '../../guest/lazy/web.ts';
import type { RuntimeServices } from '../../guest/lazy-module-loader.ts';
import { OpenCiphers } from '../../process/crypto/ciphers.ts';
import { answerCryptoQuestion } from '../../process/crypto/crypto-answer.ts';

/** A world that is not sealed, before its first call. */
export const unbound = {
  share: <T>(object: T) => object,
  changed: () => undefined,
  isInCall: () => false,
  atCall: () => undefined,
};

/** What the runtime gives to its parts, made of Node's own classes; `ask` answers fetches. */
export function runtimeServices(ask: CallFetchCapability = () => Promise.reject(new TypeError('nobody answers'))) {
  let streams: ReturnType<typeof createStreamClasses> | undefined;
  let dom: Record<string, unknown> | undefined;
  const room = { ciphers: new OpenCiphers(), leftMs: () => 10_000 };
  const world: RuntimeServices = {
    classes: { URL, URLSearchParams, AbortSignal, DOMException } as unknown as RuntimeServices['classes'],
    urls: { parseUrl: () => null, changeUrl: () => null },
    report: () => undefined,
    setTimer: setTimeout,
    dom: () => {
      dom ??= makeDom(world);
      return dom;
    },
    decoder: () => TextDecoder as ReturnType<RuntimeServices['decoder']>,
    now: () => performance.now(),
    origin: () => performance.timeOrigin,
    platform: { copy: () => undefined, move: () => undefined },
    handlers: {},
    ...unbound,
    subtle: () => crypto.subtle,
    asker: () => ask,
    random: (bytes) => 'r'.repeat(bytes),
    compute: (question) => answerCryptoQuestion(JSON.stringify(question), room),
    computeLater: async (question) => answerCryptoQuestion(JSON.stringify(question), room),
    webKeys: () => ({ materialOf: () => undefined }),
    global: {},
    large: () => ({}),
    streams: () => {
      streams ??= createStreamClasses();
      return streams;
    },
    loadedStreams: () => streams,
  };
  return world;
}

/** The web APIs that plugins see. They have the types of Node's, which are the standard of comparison. */
export type WebApis = Pick<
  typeof globalThis,
  'fetch' | 'Headers' | 'Request' | 'Response' | 'Blob' | 'File' | 'FormData' | 'ReadableStream'
>;

/** The guest's own, in this process. */
export function guestWeb(ask?: CallFetchCapability): WebApis {
  const world = runtimeServices(ask);
  const { ReadableStream } = world.streams();
  return { ...makeWeb(world), ReadableStream } as unknown as WebApis;
}

/** Node's. */
export const NODE_WEB: WebApis = globalThis;

/** The outcome of an attempt, in a form that two implementations can be compared by. */
export async function outcomeOf(attempt: () => unknown): Promise<unknown> {
  try {
    return { value: await attempt() };
  } catch (error) {
    return { threw: error instanceof Error ? error.name : String(error) };
  }
}
