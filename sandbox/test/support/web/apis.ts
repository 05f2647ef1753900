import { domException, structuredCloning } from './clone-cases.ts';
import { randomValues, subtleCrypto } from './crypto-cases.ts';
import { base64, decoder, encoder, encodingStreams } from './encoding-cases.ts';
import { abort, eventKinds, events, messages } from './events-cases.ts';
import { blob, fetching, formData, headers, request, response } from './fetch-cases.ts';
import { compression, readableStreams, transformStreams, writableStreams } from './streams-cases.ts';
import { performanceApi, timers } from './time-cases.ts';
import { searchParams, url, urlPattern } from './url-cases.ts';
import type { WebApi } from './web-cases.ts';

/** The web APIs of plugins, by the name that readers look for. */
export const WEB_APIS: Readonly<Record<string, WebApi>> = {
  URL: url,
  URLSearchParams: searchParams,
  URLPattern: urlPattern,
  TextEncoder: encoder,
  TextDecoder: decoder,
  'TextEncoderStream, TextDecoderStream': encodingStreams,
  'atob, btoa': base64,
  'Event, EventTarget, CustomEvent': events,
  'ErrorEvent, MessageEvent, PromiseRejectionEvent, onerror, reportError': eventKinds,
  'AbortController, AbortSignal': abort,
  'MessageChannel, MessagePort': messages,
  structuredClone: structuredCloning,
  DOMException: domException,
  Headers: headers,
  Request: request,
  Response: response,
  fetch: fetching,
  FormData: formData,
  'Blob, File': blob,
  'ReadableStream and its readers': readableStreams,
  'WritableStream, the queuing strategies': writableStreams,
  'TransformStream, pipes': transformStreams,
  'CompressionStream, DecompressionStream': compression,
  'crypto.getRandomValues, randomUUID': randomValues,
  'crypto.subtle': subtleCrypto,
  'timers, queueMicrotask': timers,
  performance: performanceApi,
};

/** Names of browsers or servers that plugins do not have, with the reason. */
export const ABSENT: Readonly<Record<string, string>> = {
  BroadcastChannel: 'a plugin has no other context to speak with',
  EventSource: 'an answer is there once the whole of it is',
  WebSocket: 'connections end with the call; `fetch` is what leaves',
  CloseEvent: 'as WebSocket',
  PerformanceObserver: 'marks and measures are not there: take `performance.now()`',
  XMLHttpRequest: '`fetch` has taken its place',
  Worker: 'more at once is `limits.processes`',
  SharedWorker: 'as Worker',
  SharedArrayBuffer: 'its clock is too fine a measure of others',
  Atomics: 'as SharedArrayBuffer',
  WebAssembly: 'its memory and its compiler are outside what is metered; no grant brings it',
  WeakRef: 'the collector would decide when code runs',
  FinalizationRegistry: 'as WeakRef',
  localStorage: '`kv` is what keeps values',
  sessionStorage: 'as localStorage',
  indexedDB: 'as localStorage',
  caches: 'as localStorage',
  document: 'there is no document',
  window: 'there is no document; `self` and `globalThis` are there',
};
