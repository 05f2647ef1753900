import querystring from 'unenv/node/querystring';
import type { GuestModule } from '../../contract.ts';
import type { RuntimeServices } from '../lazy-module-loader.ts';
import { defineLazily } from '../lazy-property.ts';
import { createAsyncHooks, keepContexts, leaveContexts } from '../node/async-context.ts';
import { domainToASCII, fileURLToPath, pathToFileURL, urlToHttpOptions } from '../node/file-url.ts';
import { createOs } from '../node/os.ts';
import { createPath } from '../node/path.ts';
import { StringDecoder } from '../node/string-decoder.ts';
import { timerPromises } from '../node/timer-promises.ts';
import { createUtil } from '../node/util.ts';

type Members = Record<string, unknown>;

/** What the modules need. The larger modules are lazy modules of their own. */
type ModuleServices = Pick<RuntimeServices, 'global' | 'large' | 'share' | 'atCall' | 'isInCall' | 'changed'>;

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
export function createModuleTable(services: ModuleServices): (name: string) => unknown {
  const { global, large, share, atCall } = services;
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
      // A module that runs in a sealed world has to be told from one that has contexts.
      if (!keepContexts(global) && !services.isInCall()) services.changed();
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
      const members = late(createUtil(atCall), inspection, (name) => large('inspect')[name]);
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

type Log = (...values: unknown[]) => void;

type Stream = { write(text: string): unknown };

/** Node's module `console`: the global console, and the class Console for consoles that write elsewhere. */
export function createConsoleModule(console: object, tools: () => Record<string, unknown>): object {
  const text = (values: unknown[]) => (tools()['format'] as (...values: unknown[]) => string)(...values);

  class Console {
    declare readonly log: Log;

    constructor(out: Stream | { stdout: Stream; stderr?: Stream }, given?: Stream) {
      const isStream = 'write' in out;
      const stdout = isStream ? out : out.stdout;
      const stderr = (isStream ? given : out.stderr) ?? stdout;
      const to =
        (stream: Stream) =>
        (...values: unknown[]) =>
          void stream.write(`${text(values)}\n`);
      const nothing = () => {};
      for (const name of Object.keys(console)) Object.assign(this, { [name]: nothing });
      for (const name of ['log', 'info', 'debug', 'dir', 'dirxml', 'table', 'group'])
        Object.assign(this, { [name]: to(stdout) });
      for (const name of ['warn', 'error', 'trace']) Object.assign(this, { [name]: to(stderr) });
    }
  }

  return { ...console, Console };
}

type Chunks = AsyncIterable<unknown> | Iterable<unknown>;

async function buffer(stream: Chunks): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) {
    chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk as Uint8Array));
  }
  return Buffer.concat(chunks);
}

async function text(stream: Chunks): Promise<string> {
  return new TextDecoder().decode(await buffer(stream));
}

/** Node's module `stream/consumers`. */
export const streamConsumers = {
  buffer,
  text,
  bytes: async (stream: Chunks) => Uint8Array.from(await buffer(stream)),
  json: async (stream: Chunks): Promise<unknown> => JSON.parse(await text(stream)),
  blob: async (stream: Chunks) => new Blob([Uint8Array.from(await buffer(stream))]),
  async arrayBuffer(stream: Chunks) {
    const { buffer: bytes, byteOffset, byteLength } = await buffer(stream);
    return bytes.slice(byteOffset, byteOffset + byteLength);
  },
};

/** The table of Node's modules. It makes the smaller modules, and loads the others as lazy modules. */
export function create(services: RuntimeServices): Record<string, unknown> {
  return { module: createModuleTable(services) };
}
