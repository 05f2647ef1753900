import type { CallEnd } from '../call-end.ts';
import type { CapabilityCalls } from '../capability-calls.ts';
import type { GlobalNames } from '../global-names.ts';
import type { HostLink } from '../host-link.ts';
import { LazyParts, PART_GLOBALS } from '../lazy-parts.ts';
import type { PartName } from '../part-name.ts';
import type { Part, PartWorld } from '../part-world.ts';
import { PLUGIN_ERROR_CLASS, PluginError } from '../plugin-error.ts';
import { defineProperty, NativeTypeError, stringSlice, toText } from '../primordials.ts';
import type { ReachableObjects } from '../reachable-objects.ts';
import { createConsole, type GuestConsole } from './console.ts';
import { createPerformance } from './performance.ts';
import { createProcess } from './process.ts';
import type { StreamClasses } from './streams.ts';
import { TimerHandle, Timers } from './timers.ts';

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
  names: Pick<GlobalNames, 'define'>;
  /** Is told of all that plugins reach. */
  objects: Pick<ReachableObjects, 'add' | 'addNoted'>;
  /** Loads a part of the runtime. */
  load(name: PartName): Part;
}

/**
 * Puts the web APIs on the global object, writable and not enumerable as in browsers. What most plugins do not need is
 * there as an accessor until a plugin first looks at it.
 */
export function installGlobals(global: object, parts: WorldParts): World {
  const { link, end, names, objects } = parts;
  const timers = new Timers(link, end);
  const timerFunctions = timers.globals();
  defineProperty(global, 'global', { value: global, writable: true, enumerable: false, configurable: true });
  names.define([PLUGIN_ERROR_CLASS], () => objects.add(PluginError));
  names.define(Object.keys(timerFunctions) as (keyof typeof timerFunctions)[], (name) => {
    objects.add(TimerHandle);
    return objects.add(timerFunctions[name]);
  });

  const now = () => link.now();
  const line = (level: 'log' | 'error') => (text: unknown) =>
    link.log(level, stringSlice(toText(text), 0, LONGEST_WRITE));
  let console: GuestConsole | undefined;
  let granted: Record<string, string> = {};
  const make = {
    console() {
      console ??= createConsole(link);
      return objects.addNoted(console.console);
    },
    process: () => objects.addNoted(createProcess(timers, line('log'), line('error'), now, granted)),
    performance: () => objects.add(createPerformance(now)),
  };
  names.define(['console', 'process', 'performance'], (name) => make[name]());
  installParts(parts, timerFunctions.setTimeout);
  return {
    console: { reset: () => console?.reset() },
    timers,
    grant(env) {
      granted = env;
    },
  };
}

function installParts(world: WorldParts, setTimer: PartWorld['setTimer']): void {
  const { link, end, calls, names, objects } = world;
  const load = (name: PartName): Part => {
    const part = world.load(name);
    return (given) => objects.add(part(given));
  };
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
    subtle: () => parts.get('subtle')['subtle'],
    streams: () => parts.get('streams') as unknown as StreamClasses,
    loadedStreams: () => parts.peek('streams') as StreamClasses | undefined,
  }));
  for (const part of Object.keys(PART_GLOBALS) as PartName[]) {
    names.define(PART_GLOBALS[part], (name) => parts.get(part)[name]);
  }
}

/** A fetch that failed is a TypeError (Fetch Standard 5.6). */
function toFetchError({ message }: { message: string }): Error {
  return new NativeTypeError(message);
}
