import type { CallEnd } from '../call-end.ts';
import type { HostLink } from '../host-link.ts';
import { PLUGIN_ERROR_CLASS, PluginError } from '../plugin-error.ts';
import { defineProperty, stringSlice, toText } from '../primordials.ts';
import { createAbortClasses } from './abort.ts';
import { atob, btoa } from './base64.ts';
import { createConsole, type GuestConsole } from './console.ts';
import { createCrypto } from './crypto.ts';
import { DOMException } from './dom-exception.ts';
import { createEventClasses } from './event-target.ts';
import { createPerformance } from './performance.ts';
import { createProcess, type GuestProcess } from './process.ts';
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

/** Puts the web APIs on the global object, writable and not enumerable as in browsers. */
export function installGlobals(global: object, link: HostLink, end: CallEnd): World {
  const console = createConsole(link);
  const timers = new Timers(link, end);
  const now = () => link.now();
  const line = (level: 'log' | 'error') => (text: unknown) =>
    link.log(level, stringSlice(toText(text), 0, LONGEST_WRITE));
  const process = createProcess(timers, line('log'), line('error'), now);
  const events = createEventClasses((error) => end.uncaught(error));
  const timerFunctions = timers.globals();

  const names: Record<string | symbol, unknown> = {
    ...timerFunctions,
    ...events,
    ...createAbortClasses(events, timerFunctions.setTimeout),
    console: console.console,
    process,
    global,
    TextEncoder,
    TextDecoder,
    URL: createUrlClass(link),
    URLSearchParams,
    DOMException,
    crypto: createCrypto(link),
    performance: createPerformance(now),
    atob,
    btoa,
    structuredClone,
    [PLUGIN_ERROR_CLASS]: PluginError,
  };
  for (const name of Reflect.ownKeys(names)) {
    defineProperty(global, name, { value: names[name], writable: true, enumerable: false, configurable: true });
  }
  return { console, timers, process };
}
