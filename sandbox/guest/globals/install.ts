import type { CallEnd } from '../call-end.ts';
import type { CapabilityCalls } from '../capability-calls.ts';
import type { HostLink } from '../host-link.ts';
import { defineProperty, NativeTypeError, stringSlice, toText } from '../intrinsics/primordials.ts';
import { defineLazily } from '../lazy-property.ts';
import type { PartName } from '../part-name.ts';
import type { Part, PartWorld } from '../part-world.ts';
import { PLUGIN_ERROR_CLASS, PluginError } from '../plugin-error.ts';
import { createConsole, type GuestConsole } from './console.ts';
import { LazyParts, PART_GLOBALS } from './lazy-parts.ts';
import { createPerformance } from './performance.ts';
import { createProcess } from './process.ts';
import type { StreamClasses } from './streams.ts';
import { Timers } from './timers.ts';

/** Characters of one `process.stdout.write` that become a log line. */
const LONGEST_WRITE = 8192;

/** The parts of the guest's world that the runtime goes on working with. */
export interface World {
  readonly console: Pick<GuestConsole, 'reset'>;
  readonly timers: Timers;
  /** Gives the plugin its environment, as `process.env`. */
  grant(env: Record<string, string>): void;
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
 * Puts the web APIs on the global object, writable and not enumerable as in browsers. What most plugins do not need is
 * there as an accessor until a plugin first looks at it.
 */
export function installGlobals(global: object, parts: WorldParts): World {
  const { link, end } = parts;
  const timers = new Timers(link, end);
  const timerFunctions = timers.globals();
  const names: Record<string | symbol, unknown> = { ...timerFunctions, global, [PLUGIN_ERROR_CLASS]: PluginError };
  for (const name of Reflect.ownKeys(names)) {
    defineProperty(global, name, { value: names[name], writable: true, enumerable: false, configurable: true });
  }

  const now = () => link.now();
  const line = (level: 'log' | 'error') => (text: unknown) =>
    link.log(level, stringSlice(toText(text), 0, LONGEST_WRITE));
  let console: GuestConsole | undefined;
  let granted: Record<string, string> = {};
  const make = {
    console() {
      console ??= createConsole(link);
      return console.console;
    },
    process: () => createProcess(timers, line('log'), line('error'), now, granted),
    performance: () => createPerformance(now),
  };
  defineLazily(global, ['console', 'process', 'performance'], (name) => make[name as keyof typeof make]());
  installParts(global, parts, timerFunctions.setTimeout);
  return {
    console: { reset: () => console?.reset() },
    timers,
    grant(env) {
      granted = env;
    },
  };
}

/** By it the bundler's modules ask for Node's. */
const MODULE = Symbol.for('isolayer.module');

function installParts(global: object, { link, end, calls, load }: WorldParts, setTimer: PartWorld['setTimer']): void {
  const parts: LazyParts = new LazyParts(load, () => ({
    classes: {
      get URL() {
        return parts.get('url')['URL'] as PartWorld['classes']['URL'];
      },
      get URLSearchParams() {
        return parts.get('url')['URLSearchParams'] as PartWorld['classes']['URLSearchParams'];
      },
      get AbortSignal() {
        return parts.get('dom')['AbortSignal'] as PartWorld['classes']['AbortSignal'];
      },
      get DOMException() {
        return parts.get('dom')['DOMException'] as PartWorld['classes']['DOMException'];
      },
    },
    urls: link,
    report: (error) => end.uncaught(error),
    setTimer,
    asker: () => {
      const running = calls.ofRunning();
      return (method, params) => running.call(method, () => params, { refuse: toFetchError });
    },
    random: (bytes) => link.random(bytes),
    compute: (question) => link.crypto(question),
    global: global as Record<string, unknown>,
    large: (name) => parts.get(name),
    streams: () => parts.get('streams') as unknown as StreamClasses,
    loadedStreams: () => parts.peek('streams') as StreamClasses | undefined,
  }));
  const module = (name: unknown) => (parts.get('modules')['module'] as (name: string) => unknown)(toText(name));
  defineProperty(global, MODULE, { value: module, writable: true, enumerable: false, configurable: true });
  for (const part of Object.keys(PART_GLOBALS) as (keyof typeof PART_GLOBALS)[]) {
    defineLazily(global, PART_GLOBALS[part], (name) => {
      const value = parts.get(part)[name];
      if (name === 'crypto') defineLazily(value as object, ['subtle'], () => parts.get('subtle')['subtle']);
      return value;
    });
  }
}

/** A fetch that failed is a TypeError (Fetch Standard 5.6). */
function toFetchError({ message }: { message: string }): Error {
  return new NativeTypeError(message);
}
