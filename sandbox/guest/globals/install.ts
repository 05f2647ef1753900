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

/** Most characters of one `process.stdout.write` that become a log line. */
const MAX_WRITE = 8192;

/** The parts of the guest's world that the runtime keeps using. */
export interface World {
  readonly timers: Timers;
  /** Forgets the state of the last call, because the next call begins. */
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
  /** Registers every object that plugins reach. */
  objects: Pick<ReachableObjects, 'add' | 'addNoted'>;
  /** To be called when a call changes something that outlives the call. */
  changed(): void;
  /** Loads a part of the runtime. */
  load(name: PartName): Part;
}

/**
 * Puts the web APIs on the global object, writable and not enumerable as in browsers. An API that most plugins do not
 * need is an accessor until a plugin first reads it.
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
  const line = (level: 'log' | 'error') => (text: unknown) => link.log(level, stringSlice(toText(text), 0, MAX_WRITE));
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
  const resets = installParts(global, parts, (callback, delayMs) => timers.start(callback, delayMs));
  return {
    timers,
    reset() {
      console?.reset();
      timers.reset();
      for (let index = 0; index < resets.length; index++) resets[index]?.();
    },
    grant(env) {
      granted = env;
    },
  };
}

/** The symbol under which bundled code asks for Node's modules. */
const MODULE = Symbol.for('isolayer.module');

/** @returns functions to run at the beginning of each call */
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
    // Answers at once while the module is evaluated, because a module cannot wait.
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

/** Calls a part's function with a value. Returns undefined if the part has not been loaded. */
function asked(answer: unknown, value: object): object | null | undefined {
  return typeof answer === 'function' ? (answer as (value: object) => object | null | undefined)(value) : undefined;
}

/** The handler attributes of the global object (HTML 8.1.8.2). A value that is no function or object counts as null. */
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

/** Makes the TypeError of a failed fetch (Fetch Standard 5.6). */
function toFetchError({ message }: { message: string }): Error {
  return new NativeTypeError(message);
}
