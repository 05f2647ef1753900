/**
 * The entry of the guest runtime. With esbuild, the host bundles it into one expression whose value is `boot`:
 *
 *   entryPoints: ['sandbox/guest/boot.ts'], bundle: true, platform: 'neutral', target: 'es2024', format: 'cjs',
 *   minifyWhitespace: true, minifySyntax: true, write: false,
 *   banner: { js: '(function () { "use strict"; const module = { exports: {} };' },
 *   footer: { js: 'return module.exports.boot; })()' }
 *
 * `"use strict"` comes first: it hides the caller of every function of the runtime. Names are not minified, so that
 * `URL.name` is `URL`.
 */

import type { CallFailure, InvocationContext } from '../contract.ts';
import { NAMESPACES, RUN_PLUGIN } from '../language-names.ts';
import type { ReplyMessage } from '../protocol.ts';
import { CallEnd } from './call-end.ts';
import { CapabilityCalls } from './capability-calls.ts';
import { UngrantedEnvironmentReads } from './environment-reads.ts';
import { describeFailure } from './failure.ts';
import { installClock } from './globals/clock.ts';
import { installGlobals } from './globals/install.ts';
import type { GuestEntries, GuestSetup, HostFunction } from './host-function.ts';
import { HostLink, outcomeText } from './host-link.ts';
import { Freezer } from './intrinsics/freeze.ts';
import { IntrinsicsFreezer } from './intrinsics/frozen-intrinsics.ts';
import {
  apply,
  defineProperty,
  deleteProperty,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  isArray,
  parseJson,
  preventExtensions,
  quoteJson,
  SafeMap,
} from './intrinsics/primordials.ts';
import { fixArrayBuffer, removeGlobals, removeTemporal, tolerateFrozenTargets } from './intrinsics/removed.ts';
import { findHandler, invokeHandler } from './invoke.ts';
import type { LazyModule, LazyModuleName } from './lazy-module-loader.ts';
import { uncaughtLine } from './log-line.ts';
import { GlobalNames } from './reuse/global-names.ts';
import { ReachableObjects } from './reuse/reachable-objects.ts';
import { OpenWorld, ReusedGlobals } from './reuse/reused-globals.ts';

/** The global name under which the plugin's bundle leaves its exports (esbuild's `globalName`). */
const EXPORTS = '__isolayer_plugin__';

/**
 * The global name under which the bundle leaves an error that it throws, as `{ error }`. The child process adds the
 * code for that.
 */
const THROWN = '__isolayer_threw__';

/**
 * Sets up the guest's global object and returns the entry functions that the child process calls. Runs before any
 * plugin code exists. `host` is the only function that leads out of the isolate, and only closures hold it. In tests,
 * `global` belongs to another realm.
 */
export function boot(host: HostFunction, global: typeof globalThis = globalThis): GuestEntries {
  const link = new HostLink(host);
  const environment = new UngrantedEnvironmentReads();
  const end = new CallEnd(link, environment);
  const calls = new CapabilityCalls(link, end);

  removeGlobals(global);
  const clock = installClock(global, link);
  fixArrayBuffer(global);
  tolerateFrozenTargets(global);
  // Under another name, `eval` is indirect: it does not see the local scope (ECMA-262 19.2.1.1).
  const { eval: evaluate } = global;
  const lazyModules = new SafeMap<string, LazyModule>();
  const load = (name: LazyModuleName) => lazyModules.get(name) ?? (evaluate(link.lazyModule(name)) as LazyModule);
  let reused: ReusedGlobals | undefined;
  let open: OpenWorld | undefined;
  // The module may change anything while it loads. Only later changes retire the isolate.
  const changed = () => {
    if (reused?.isSealed === true) link.retire();
  };
  const names = new GlobalNames(global, changed);
  const freezer = new Freezer();
  const objects = new ReachableObjects(freezer, changed);
  const isInCall = () => end.number > 0 && made === undefined;
  const globals = installGlobals(global, { link, end, calls, clock, load, names, objects, changed, isInCall });
  let limits: GuestSetup['limits'] = { result_bytes: 0, calls: 0 };
  let moduleExports: unknown;
  let made: MadeModule | undefined;

  return {
    setup(text) {
      const setup = parseJson(text) as GuestSetup;
      limits = setup.limits;
      const { env, mentioned, now, tried } = setup;
      if (now !== undefined) clock.stopAt(now);
      const watched = environment.watch(env);
      globals.grant(watched);
      if (setup.reused && !mentioned.includes('Temporal')) removeTemporal(global);
      clock.coverTemporal();
      if (setup.reused) {
        const intrinsics = new IntrinsicsFreezer(global, names, mentioned, freezer);
        objects.open();
        for (const left of [watched, global.Error, global.RegExp.prototype]) objects.leave(left);
        reused = new ReusedGlobals({ intrinsics, objects, names, env });
        if (tried) open = new OpenWorld(intrinsics, objects, [env, global, getPrototypeOf(global) as object]);
      }
      // Defined before the bundle runs, so that its `var` finds a property that `seal` can delete.
      for (const name of [EXPORTS, THROWN, RUN_PLUGIN, NAMESPACES]) {
        const value = name === NAMESPACES ? [] : undefined;
        defineProperty(global, name, { value, writable: true, configurable: true });
      }
    },

    take(name, module) {
      lazyModules.set(name, module as LazyModule);
    },

    seal() {
      moduleExports = takeAway(global, EXPORTS);
      const thrown = takeAway(global, THROWN) as { error: unknown } | undefined;
      const main = takeAway(global, RUN_PLUGIN);
      if (typeof main === 'function' && !hasHandler(moduleExports)) moduleExports = oldForm(main as OldMain, link);
      else if (typeof main === 'object' && main !== null) moduleExports = foreignForm(main, moduleExports);
      closeNamespaces(takeAway(global, NAMESPACES));
      if (open?.isAsItWas() === false) link.retire();
      reused?.seal();
      clock.seal();
      return thrown === undefined ? missingHandlerText(moduleExports) : loadFailureText(thrown.error, environment);
    },

    evaluate(make, now) {
      if (reused?.isAsItWas() !== true) return false;
      clock.load(now);
      globals.reset(true);
      environment.forget();
      made = { namespaces: [], exports: undefined, thrown: undefined };
      apply(make as (made: MadeModule) => void, undefined, [made]);
      return true;
    },

    settle() {
      const { namespaces, exports, thrown } = made as MadeModule;
      made = undefined;
      moduleExports = exports;
      closeNamespaces(namespaces);
      clock.seal();
      if (reused?.isAsItWas() !== true) link.retire();
      return thrown === undefined ? missingHandlerText(moduleExports) : loadFailureText(thrown.error, environment);
    },

    invoke(text, now) {
      if (reused?.beginCall() === false) return false;
      if (now !== undefined) clock.stopAt(now);
      else if (clock.isStopped()) clock.release();
      const given = parseJson(text) as InvocationContext;
      globals.reset();
      calls.begin(limits.calls);
      end.begin(limits.result_bytes);
      invokeHandler(moduleExports, given, calls.ofRunning(), end);
      return true;
    },

    reply(text) {
      const { id, reply } = parseJson(text) as ReplyMessage;
      if (reply.at !== undefined) clock.moveTo(reply.at);
      if (!calls.settle(id, reply) && clock.isStopped()) globals.timers.fire(id);
    },

    fire(id) {
      globals.timers.fire(id);
    },
  };
}

/** What a module leaves that runs as a function. */
interface MadeModule {
  readonly namespaces: unknown[];
  exports: unknown;
  thrown: { error: unknown } | undefined;
}

type OldMain = (api: unknown, params: unknown) => unknown;

function hasHandler(moduleExports: unknown): boolean {
  try {
    return typeof findHandler(moduleExports) === 'function';
  } catch {
    return false;
  }
}

/** The exports of a plugin of the form `runPlugin(main)`. */
function oldForm(main: OldMain, link: HostLink): { handler: OldMain } {
  return {
    handler: (api, params) => {
      link.log('warn', 'runPlugin(main) is the old form of a plugin: export main as `handler` instead');
      return apply(main, undefined, [api, params]);
    },
  };
}

/**
 * The exports of a plugin that was written for another host. The module that stands in for that host's library left how
 * it is called: `handler` in place of one that is not exported, or `around` the exported one.
 */
function foreignForm(form: object, moduleExports: unknown): unknown {
  const { handler, around } = form as { handler?: unknown; around?: unknown };
  if (!hasHandler(moduleExports)) return typeof handler === 'function' ? { handler } : moduleExports;
  if (typeof around !== 'function') return moduleExports;
  const exported = findHandler(moduleExports);
  return { handler: (context: unknown): unknown => apply(around as OldMain, undefined, [exported, context]) };
}

/** As the language closes them (ECMA-262 10.4.6). The bundler makes them ordinary objects. */
function closeNamespaces(namespaces: unknown): void {
  if (!isArray(namespaces)) return;
  for (let index = 0; index < namespaces.length; index++) {
    const namespace: unknown = namespaces[index];
    if (typeof namespace === 'object' && namespace !== null) preventExtensions(namespace);
  }
}

function takeAway(global: object, name: string): unknown {
  const value: unknown = getOwnPropertyDescriptor(global, name)?.value;
  deleteProperty(global, name);
  return value;
}

/** Leaves no room for details: these are for the callers of a handler, and no handler runs yet. */
const NO_DETAILS_BYTES = 2;

/** The text of a {@link LoadFailure} for what a module threw while it was evaluated. */
export function loadFailureText(
  thrown: unknown,
  environment: UngrantedEnvironmentReads = new UngrantedEnvironmentReads(),
): string {
  const { outcome } = describeFailure(thrown, NO_DETAILS_BYTES);
  const hint = environment.hint(outcome.message);
  return failureText({ ...outcome, message: outcome.message + hint }, uncaughtLine(thrown, hint));
}

/** The text of a {@link LoadFailure} for a module that exports no handler; empty when it exports one. */
export function missingHandlerText(moduleExports: unknown): string {
  try {
    findHandler(moduleExports);
    return '';
  } catch (error) {
    return failureText(describeFailure(error, NO_DETAILS_BYTES).outcome, '');
  }
}

function failureText(outcome: CallFailure, report: string): string {
  return `{"outcome":${outcomeText(outcome)},"report":${quoteJson(report)}}`;
}
