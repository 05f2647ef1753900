import type { CallEnd } from '../call-end.ts';
import type { CapabilityCalls } from '../capability-calls.ts';
import type { HostLink } from '../host-link.ts';
import { defineProperty, freeze, NativeTypeError, stringSlice, toText } from '../intrinsics/primordials.ts';
import type { PartName } from '../part-name.ts';
import type { Part, PartWorld } from '../part-world.ts';
import { PLUGIN_ERROR_CLASS, PluginError } from '../plugin-error.ts';
import type { GlobalNames } from '../reuse/global-names.ts';
import type { ReachableObjects } from '../reuse/reachable-objects.ts';
import { createConsole, type GuestConsole } from './console.ts';
import { LazyParts, PART_GLOBALS } from './lazy-parts.ts';
import { createNavigator } from './navigator.ts';
import { createProcess } from './process.ts';
import type { StreamClasses } from './streams.ts';
import { TimerHandle, Timers } from './timers.ts';

/** Characters of one `process.stdout.write` that become a log line. */
const LONGEST_WRITE = 8192;

/** The parts of the guest's world that the runtime goes on working with. */
export interface World {
  readonly timers: Timers;
  /** Forgets what belonged to a call: the next one begins. */
  reset(): void;
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
  /** Is told of what a call has changed that outlives it. */
  changed(): void;
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
  const plain: Record<string, unknown> = { global, self: global, isSecureContext: true };
  for (const name of Reflect.ownKeys(plain) as string[]) {
    defineProperty(global, name, { value: plain[name], writable: true, enumerable: false, configurable: true });
  }
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
  let known: ReturnType<typeof createNavigator> | undefined;
  const navigator = () => {
    known ??= objects.add(createNavigator());
    return known;
  };
  const make = {
    console() {
      console ??= createConsole(link);
      return objects.addNoted(console.console);
    },
    navigator: () => navigator().navigator,
    Navigator: () => navigator().Navigator,
    process: () => objects.addNoted(createProcess(timers, line('log'), line('error'), now, granted)),
  };
  names.define(['console', 'process', 'navigator', 'Navigator'], (name) => make[name]());
  const resets = installParts(global, parts, timerFunctions.setTimeout);
  return {
    timers,
    reset() {
      console?.reset();
      for (let index = 0; index < resets.length; index++) resets[index]?.();
    },
    grant(env) {
      granted = env;
    },
  };
}

/** By it the bundler's modules ask for Node's. */
const MODULE = Symbol.for('isolayer.module');

/** @returns what has to be done at the beginning of each call */
function installParts(global: object, world: WorldParts, setTimer: PartWorld['setTimer']): readonly (() => void)[] {
  const { link, end, calls, names, objects, changed } = world;
  const handlers = installHandlers(global, changed);
  const resets: (() => void)[] = [];
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
    dom: () => parts.get('dom'),
    decoder: () => parts.get('text')['TextDecoder'] as ReturnType<PartWorld['decoder']>,
    now: () => link.now(),
    platform: {
      copy(value) {
        if (!parts.isPlatform(value) && value !== global) return undefined;
        return asked(parts.peek('web')?.['copyBlob'], value) ?? asked(parts.peek('subtle')?.['copyKey'], value) ?? null;
      },
      move: (value) => asked(parts.peek('messages')?.['movePort'], value) as (() => object) | null | undefined,
    },
    handlers,
    setTimer,
    share: (object) => objects.add(object),
    changed,
    isInCall: () => end.number > 0,
    atCall(reset) {
      resets[resets.length] = reset;
    },
    asker: () => {
      const running = calls.ofRunning();
      return (method, params) => running.call(method, () => params, { refuse: toFetchError });
    },
    random: (bytes) => link.random(bytes),
    subtle: () => parts.get('subtle')['subtle'],
    compute: (question) => link.crypto(question),
    // A module that is evaluated cannot wait for anything.
    computeLater: async (question) => (end.number === 0 ? link.crypto(question) : calls.ofRunning().job(question)),
    global: global as Record<string, unknown>,
    large: (name) => parts.get(name),
    webKeys: () => parts.get('subtle')['webKeys'],
    streams: () => parts.get('streams') as unknown as StreamClasses,
    loadedStreams: () => parts.peek('streams') as StreamClasses | undefined,
  }));
  end.listen((error) => {
    const reporting = typeof handlers['onerror'] === 'function' ? parts.get('messages') : parts.peek('messages');
    return reporting !== undefined && (reporting['handled'] as (error: unknown) => boolean)(error);
  });
  const module = (name: unknown) => (parts.get('modules')['module'] as (name: string) => unknown)(toText(name));
  names.define([MODULE], () => objects.add(module));
  for (const part of Object.keys(PART_GLOBALS) as (keyof typeof PART_GLOBALS)[]) {
    names.define(PART_GLOBALS[part], (name) => parts.get(part)[name]);
  }
  return resets;
}

/** What a function of a part answers, where the part has been loaded. */
function asked(answer: unknown, value: object): object | null | undefined {
  return typeof answer === 'function' ? (answer as (value: object) => object | null | undefined)(value) : undefined;
}

/** The handlers of the global object (HTML 8.1.8.2), which are attributes: what is no function or object counts as null. */
const HANDLERS = ['onerror', 'onunhandledrejection', 'onrejectionhandled'] as const;

function installHandlers(global: object, changed: () => void): Readonly<Record<string, unknown>> {
  const handlers: Record<string, unknown> = { __proto__: null };
  const attribute = { __proto__: null, enumerable: true, configurable: true } as PropertyDescriptor;
  for (let index = 0; index < HANDLERS.length; index++) {
    const name = HANDLERS[index] as string;
    handlers[name] = null;
    attribute.get = freeze(() => handlers[name]);
    attribute.set = freeze((value: unknown) => {
      changed();
      handlers[name] = typeof value === 'function' || typeof value === 'object' ? value : null;
    });
    defineProperty(global, name, attribute);
  }
  return handlers;
}

/** A fetch that failed is a TypeError (Fetch Standard 5.6). */
function toFetchError({ message }: { message: string }): Error {
  return new NativeTypeError(message);
}
