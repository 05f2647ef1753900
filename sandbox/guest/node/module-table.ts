import querystring from 'unenv/node/querystring';
import type { GuestModule } from '../../guest-modules.ts';
import { defineLazily } from '../lazy-property.ts';
import type { PartWorld } from '../part-world.ts';
import { createAsyncHooks, keepContexts, leaveContexts } from './async-context.ts';
import { createConsoleModule } from './console-module.ts';
import { domainToASCII, fileURLToPath, pathToFileURL, urlToHttpOptions } from './file-url.ts';
import { createOs } from './os.ts';
import { createPath } from './path.ts';
import { streamConsumers } from './stream-consumers.ts';
import { StringDecoder } from './string-decoder.ts';
import { timerPromises } from './timer-promises.ts';
import { createTools } from './tools/tools.ts';

type Members = Record<string, unknown>;

/** What the modules need. The larger modules are separate parts of the runtime. */
export type ModuleWorld = Pick<PartWorld, 'global' | 'large' | 'share' | 'atCall'>;

/** Global names that modules export as well. */
const OF_BUFFER = ['Buffer', 'Blob', 'File', 'atob', 'btoa'];
const OF_STREAMS = [
  'ReadableStream',
  'ReadableStreamDefaultReader',
  'ReadableStreamBYOBReader',
  'ReadableStreamBYOBRequest',
  'ReadableByteStreamController',
  'ReadableStreamDefaultController',
  'TransformStream',
  'TransformStreamDefaultController',
  'WritableStream',
  'WritableStreamDefaultController',
  'WritableStreamDefaultWriter',
  'ByteLengthQueuingStrategy',
  'CountQueuingStrategy',
  'TextEncoderStream',
  'TextDecoderStream',
  'CompressionStream',
  'DecompressionStream',
];
const TIMERS = ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'setInterval', 'clearInterval'];
const PERFORMANCE = ['performance', 'Performance'];
const MAX_BUFFER = 0x7fff_ffff;
const MAX_STRING = 0x1fff_ffe8;

/** Node's modules, by name. Each is made on its first use. */
export function createModuleTable({ global, large, share, atCall }: ModuleWorld): (name: string) => unknown {
  const path = createPath();
  const os = createOs(() => performance.now() / 1000);
  const own = (name: GuestModule): Members => module(name) as Members;

  const shared = <T>(value: T): T => (isObject(value) ? share(value) : value);

  /** Adds members to an object. Their values are looked up on first use. */
  function late(members: Members, names: readonly string[], find: (name: string) => unknown): Members {
    defineLazily(members, names, (name) => shared(find(name)), true);
    return members;
  }
  const globals = (names: readonly string[], members: Members = {}) =>
    late(
      members,
      names.filter((name) => name in global),
      (name) => global[name],
    );

  const makers: Record<GuestModule, () => unknown> = {
    assert: () => large('assert')['assert'],
    'assert/strict': () => own('assert')['strict'],
    async_hooks: () => {
      keepContexts(global);
      atCall(leaveContexts);
      return createAsyncHooks();
    },
    buffer: () => globals(OF_BUFFER, { ...bufferFunctions(), kMaxLength: MAX_BUFFER, kStringMaxLength: MAX_STRING }),
    console: () => createConsoleModule(console, () => own('util')),
    crypto: () => large('node-crypto')['crypto'],
    events: () => large('events')['EventEmitter'],
    os: () => os,
    path: () => path,
    'path/posix': () => path,
    perf_hooks: () => globals(PERFORMANCE, { constants: {} }),
    process: () => process,
    punycode: () => large('legacy-url')['punycode'],
    querystring: () => querystring,
    stream: () => large('stream')['Stream'],
    'stream/consumers': () => streamConsumers,
    'stream/promises': () => own('stream')['promises'],
    'stream/web': () => globals(OF_STREAMS),
    string_decoder: () => ({ StringDecoder }),
    sys: () => module('util'),
    timers: () => late(globals(TIMERS), ['promises'], () => timerPromises),
    'timers/promises': () => timerPromises,
    tty: () => ({ isatty: () => false }),
    url: () => {
      const toUnicode = (domain: string) => (own('punycode')['toUnicode'] as (domain: string) => string)(domain);
      const members: Members = {
        domainToASCII,
        fileURLToPath,
        urlToHttpOptions,
        domainToUnicode: (domain: unknown) => toUnicode(domainToASCII(domain)),
        fileURLToPathBuffer: (url: unknown) => Buffer.from(fileURLToPath(url)),
        pathToFileURL: (file: unknown) => pathToFileURL(file, path['resolve'] as (file: unknown) => string),
      };
      late(members, ['Url', 'parse', 'resolve', 'resolveObject', 'format'], (name) => large('legacy-url')[name]);
      return globals(['URL', 'URLSearchParams', 'URLPattern'], members);
    },
    util: () => {
      const inspection = ['inspect', 'format', 'formatWithOptions', 'stripVTControlCharacters'];
      const members = late(createTools(), inspection, (name) => large('inspect')[name]);
      return globals(['TextEncoder', 'TextDecoder'], members);
    },
    'util/types': () => own('util')['types'],
  };

  const made = new Map<string, unknown>();
  function module(name: string): unknown {
    if (!Object.hasOwn(makers, name)) throw new Error(`There is no module ${name}`);
    if (!made.has(name)) made.set(name, shared(makers[name as GuestModule]()));
    return made.get(name);
  }
  return module;
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function bufferFunctions(): Members {
  const bytesOf = (given: ArrayBufferView | ArrayBuffer) =>
    ArrayBuffer.isView(given)
      ? new Uint8Array(given.buffer, given.byteOffset, given.byteLength)
      : new Uint8Array(given);
  return {
    constants: { MAX_LENGTH: MAX_BUFFER, MAX_STRING_LENGTH: MAX_STRING },
    INSPECT_MAX_BYTES: 50,
    isAscii: (given: ArrayBufferView) => bytesOf(given).every((byte) => byte < 0x80),
    isUtf8(given: ArrayBufferView) {
      try {
        new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(given));
        return true;
      } catch {
        return false;
      }
    },
    resolveObjectURL: () => undefined,
    SlowBuffer: (length: number) => Buffer.alloc(length),
    transcode: (given: Uint8Array, from: 'utf8', to: 'utf8') => Buffer.from(Buffer.from(given).toString(from), to),
  };
}
