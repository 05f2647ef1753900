import type { CallEnd } from '../call-end.ts';
import type { CapabilityCalls } from '../capability-calls.ts';
import type { HostLink } from '../host-link.ts';
import { defineProperty, freeze, NativeTypeError, stringSlice, toText } from '../intrinsics/primordials.ts';
import type { StreamClasses } from '../lazy/streams.ts';
import {
  LAZY_GLOBALS,
  type LazyModule,
  type LazyModuleName,
  LazyModules,
  type RuntimeServices,
} from '../lazy-module-loader.ts';
import { PLUGIN_ERROR_CLASS, PluginError } from '../plugin-error.ts';
import type { GlobalNames } from '../reuse/global-names.ts';
import type { ReachableObjects } from '../reuse/reachable-objects.ts';
import type { Clock } from './clock.ts';
import { createConsole, type GuestConsole } from './console.ts';
import { createProcess } from './process.ts';
import { TimerHandle, Timers } from './timers.ts';
import { conformToWebIdl } from './web-idl.ts';

/** Most characters of one `process.stdout.write` that become a log line. */
const MAX_WRITE = 8192;

/** What the runtime keeps using of the globals. */
interface Globals {
  readonly timers: Timers;
  /** Forgets the state of the last call, because the next call begins, or because the module is evaluated anew. */
  reset(isAnew?: boolean): void;
  /** Gives the plugin its environment, as `process.env`. */
  grant(env: Record<string, string>): void;
}

/** What the globals work with. */
interface GlobalsServices {
  link: HostLink;
  end: CallEnd;
  calls: Pick<CapabilityCalls, 'ofRunning' | 'takeNumber'>;
  clock: Pick<Clock, 'isStopped' | 'elapsed' | 'origin'>;
  names: Pick<GlobalNames, 'define'>;
  /** Registers every object that plugins reach. */
  objects: Pick<ReachableObjects, 'add' | 'addNoted'>;
  /** To be called when a call changes something that outlives the call. */
  changed(): void;
  /** Whether a call has begun since the module ran. */
  isInCall(): boolean;
  /** Loads a lazy module of the runtime. */
  load(name: LazyModuleName): LazyModule;
}

/**
 * Puts the web APIs on the global object, writable and not enumerable as in browsers. An API that most plugins do not
 * need is an accessor until a plugin first reads it.
 */
export function installGlobals(global: object, services: GlobalsServices): Globals {
  const { link, end, calls, clock, names, objects } = services;
  const timers = new Timers(link, end, () => (clock.isStopped() ? calls.takeNumber() : null));
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

  const now = () => clock.elapsed();
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
      console ??= createConsole(link, now);
      return objects.addNoted(console.console);
    },
    navigator: () => navigator().navigator,
    Navigator: () => navigator().Navigator,
    process: () => objects.addNoted(createProcess(timers, line('log'), line('error'), now, granted)),
  };
  names.define(['console', 'process', 'navigator', 'Navigator'], (name) => make[name]());
  const resets = installLazyModules(global, services, (callback, delayMs) => timers.start(callback, delayMs));
  return {
    timers,
    reset(isAnew = false) {
      console?.reset();
      timers.reset();
      for (let index = 0; index < resets.length; index++) resets[index]?.(isAnew);
    },
    grant(env) {
      granted = env;
    },
  };
}

/** The symbol under which bundled code asks for Node's modules. */
const MODULE = Symbol.for('isolayer.module');

/** @returns functions to run at the beginning of each call, see `atCall` */
function installLazyModules(
  global: object,
  services: GlobalsServices,
  setTimer: RuntimeServices['setTimer'],
): readonly ((isAnew: boolean) => void)[] {
  const { link, end, calls, clock, names, objects, changed, isInCall } = services;
  const handlers = installHandlers(global, changed);
  const resets: ((isAnew: boolean) => void)[] = [];
  const load = (name: LazyModuleName): LazyModule => {
    const module = services.load(name);
    return (given) => objects.add(module(given));
  };
  const modules: LazyModules = new LazyModules(load, () => ({
    classes: {
      get URL() {
        return modules.get('url')['URL'] as RuntimeServices['classes']['URL'];
      },
      get URLSearchParams() {
        return modules.get('url')['URLSearchParams'] as RuntimeServices['classes']['URLSearchParams'];
      },
      get AbortSignal() {
        return modules.get('dom')['AbortSignal'] as RuntimeServices['classes']['AbortSignal'];
      },
      get DOMException() {
        return modules.get('dom')['DOMException'] as RuntimeServices['classes']['DOMException'];
      },
    },
    urls: link,
    report: (error) => end.uncaught(error),
    dom: () => modules.get('dom'),
    decoder: () => modules.get('text')['TextDecoder'] as ReturnType<RuntimeServices['decoder']>,
    now: () => clock.elapsed(),
    origin: () => clock.origin(),
    platform: {
      copy(value) {
        if (!modules.isPlatform(value) && value !== global) return undefined;
        return (
          answerOf(modules.peek('web')?.['copyBlob'], value) ??
          answerOf(modules.peek('subtle')?.['copyKey'], value) ??
          null
        );
      },
      move: (value) => answerOf(modules.peek('messages')?.['movePort'], value) as (() => object) | null | undefined,
    },
    handlers,
    setTimer,
    share: (object) => objects.add(object),
    changed,
    isInCall,
    atCall(reset) {
      resets[resets.length] = reset;
    },
    asker: () => {
      // A module that asks while it loads is refused. In a world that has served calls, the request would seem to be
      // one of theirs.
      if (!isInCall()) changed();
      const running = calls.ofRunning();
      return (method, params) => running.call(method, () => params, { refuse: toFetchError });
    },
    random: (bytes) => link.random(bytes),
    subtle: () => modules.get('subtle')['subtle'],
    compute: (question) => link.crypto(question),
    // Answers at once while the module is evaluated, because a module cannot wait.
    computeLater: async (question) => (isInCall() ? calls.ofRunning().job(question) : link.crypto(question)),
    global: global as Record<string, unknown>,
    large: (name) => modules.get(name),
    webKeys: () => modules.get('subtle')['webKeys'],
    streams: () => modules.get('streams') as unknown as StreamClasses,
    loadedStreams: () => modules.peek('streams') as StreamClasses | undefined,
  }));
  end.listen((error) => {
    const reporting = typeof handlers['onerror'] === 'function' ? modules.get('messages') : modules.peek('messages');
    return reporting !== undefined && (reporting['handled'] as (error: unknown) => boolean)(error);
  });
  const nodeModule = (name: unknown) => (modules.get('modules')['module'] as (name: string) => unknown)(toText(name));
  names.define([MODULE], () => objects.add(nodeModule));
  for (const module of Object.keys(LAZY_GLOBALS) as (keyof typeof LAZY_GLOBALS)[]) {
    names.define(LAZY_GLOBALS[module], (name) => modules.get(module)[name]);
  }
  return resets;
}

/** Calls a lazy module's function with a value. Returns undefined if the module has not been loaded. */
function answerOf(copy: unknown, value: object): object | null | undefined {
  return typeof copy === 'function' ? (copy as (value: object) => object | null | undefined)(value) : undefined;
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

const LANGUAGES = ['en-US'] as const;

/** The global `navigator` and its class (HTML 8.10). It tells a plugin nothing about the machine. */
export function createNavigator() {
  const permit = {};

  class Navigator {
    constructor(given?: unknown) {
      if (given !== permit) throw new TypeError('Illegal constructor');
    }

    get userAgent(): string {
      return 'Isolayer';
    }

    get hardwareConcurrency(): number {
      return 1;
    }

    get language(): string {
      return LANGUAGES[0];
    }

    get languages(): readonly string[] {
      return [...LANGUAGES];
    }

    get platform(): string {
      return '';
    }

    get onLine(): boolean {
      return true;
    }
  }

  conformToWebIdl(Navigator);
  return { Navigator, navigator: new Navigator(permit) };
}
