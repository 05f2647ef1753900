import type { CallEnd } from '../call-end.ts';
import type { CapabilityCalls } from '../capability-calls.ts';
import type { HostLink } from '../host-link.ts';
import { defineLazily, LazyParts, PART_GLOBALS } from '../lazy-parts.ts';
import type { Part, PartName } from '../part-world.ts';
import { PLUGIN_ERROR_CLASS, PluginError } from '../plugin-error.ts';
import { defineProperty, NativeTypeError, stringSlice, toText } from '../primordials.ts';
import { createAbortClasses } from './abort.ts';
import { atob, btoa } from './base64.ts';
import { createConsole, type GuestConsole } from './console.ts';
import { createCrypto } from './crypto.ts';
import { DOMException } from './dom-exception.ts';
import { createEventClasses } from './event-target.ts';
import { createPerformance } from './performance.ts';
import { createProcess, type GuestProcess } from './process.ts';
import type { StreamClasses } from './streams.ts';
import { structuredClone } from './structured-clone.ts';
import { TextDecoder } from './text-decoder.ts';
import { TextEncoder } from './text-encoder.ts';
import { Timers } from './timers.ts';
import { createUrlClass } from './url.ts';
import { URLSearchParams } from './url-search-params.ts';

/** Characters of one `process.stdout.write` that become a log line. */
const LONGEST_WRITE = 8192;

/** The parts of the guest's world that the runtime goes on working with. */
export interface World {
  readonly console: GuestConsole;
  readonly timers: Timers;
  readonly process: GuestProcess;
}

/** What the web APIs work with. */
export interface WorldParts {
  link: HostLink;
  end: CallEnd;
  calls: Pick<CapabilityCalls, 'ofRunning'>;
  /** Loads a part of the runtime. */
  load(name: PartName): Part;
}

/**
 * Puts the web APIs on the global object, writable and not enumerable as in browsers. Those of the runtime's parts are
 * there as accessors until a plugin first looks at one.
 */
export function installGlobals(global: object, { link, end, calls, load }: WorldParts): World {
  const console = createConsole(link);
  const timers = new Timers(link, end);
  const now = () => link.now();
  const line = (level: 'log' | 'error') => (text: unknown) =>
    link.log(level, stringSlice(toText(text), 0, LONGEST_WRITE));
  const process = createProcess(timers, line('log'), line('error'), now);
  const events = createEventClasses((error) => end.uncaught(error));
  const timerFunctions = timers.globals();
  const abort = createAbortClasses(events, timerFunctions.setTimeout);
  const crypto = createCrypto(link);
  const URL = createUrlClass(link);

  const names: Record<string | symbol, unknown> = {
    ...timerFunctions,
    ...events,
    ...abort,
    console: console.console,
    process,
    global,
    TextEncoder,
    TextDecoder,
    URL,
    URLSearchParams,
    DOMException,
    crypto,
    performance: createPerformance(now),
    atob,
    btoa,
    structuredClone,
    [PLUGIN_ERROR_CLASS]: PluginError,
  };
  for (const name of Reflect.ownKeys(names)) {
    defineProperty(global, name, { value: names[name], writable: true, enumerable: false, configurable: true });
  }

  const parts: LazyParts = new LazyParts(load, {
    classes: { URL, URLSearchParams, DOMException, AbortSignal: abort.AbortSignal },
    asker: () => {
      const running = calls.ofRunning();
      return (method, params) => running.call(method, () => params, { refuse: toFetchError });
    },
    random: (bytes) => link.random(bytes),
    compute: (question) => link.crypto(question),
    streams: () => parts.get('streams') as unknown as StreamClasses,
    loadedStreams: () => parts.peek('streams') as StreamClasses | undefined,
  });
  for (const part of Object.keys(PART_GLOBALS) as PartName[]) {
    for (const name of PART_GLOBALS[part]) defineLazily(global, name, () => parts.get(part)[name]);
  }
  defineLazily(crypto, 'subtle', () => parts.get('subtle')['subtle']);
  return { console, timers, process };
}

/** A fetch that failed is a TypeError (Fetch Standard 5.6). */
function toFetchError({ message }: { message: string }): Error {
  return new NativeTypeError(message);
}
