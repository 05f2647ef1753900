import t from 'tap';
import { CallEnd } from '../../../../guest/call-end.ts';
import { CapabilityCalls } from '../../../../guest/capability-calls.ts';
import { createCrypto } from '../../../../guest/globals/crypto.ts';
import { DOMException } from '../../../../guest/globals/dom-exception.ts';
import { createEventClasses } from '../../../../guest/globals/events/event-target.ts';
import { createNavigator, installGlobals } from '../../../../guest/globals/install.ts';
import { createProcess } from '../../../../guest/globals/process.ts';
import { Timers } from '../../../../guest/globals/timers.ts';
import { HostLink } from '../../../../guest/host-link.ts';
import { create as makeDom } from '../../../../guest/lazy/dom.ts';
import { create as createPerformance } from '../../../../guest/lazy/performance.ts';
import { create as makeUrl } from '../../../../guest/lazy/url.ts';
import { LAZY_GLOBALS, type RuntimeServices } from '../../../../guest/lazy-module-loader.ts';
import { PLUGIN_ERROR_CLASS, PluginError } from '../../../../guest/plugin-error.ts';
import { GlobalNames } from '../../../../guest/reuse/global-names.ts';
import { GuestHost } from '../../../support/guest-host.ts';

type Web = Pick<
  typeof globalThis,
  'URL' | 'URLSearchParams' | 'EventTarget' | 'Event' | 'AbortSignal' | 'DOMException'
> & { fetch: object };

const realClock = (link: HostLink) => ({ isStopped: () => false, elapsed: () => link.now(), origin: () => 0 });

/** What else it is given: nobody seals anything here. */
const unsealed = (global: object) => ({
  names: new GlobalNames(global, () => {}),
  objects: { add: <T>(object: T) => object, addNoted: <T>(object: T) => object },
  changed: () => undefined,
});

t.test('puts the web APIs on the global object, and nothing else', (t) => {
  const host = new GuestHost();
  const link = new HostLink(host.call);
  const end = new CallEnd(link);
  const global: Record<string | symbol, unknown> = {};
  const loaded: string[] = [];
  const made: Record<string, () => Record<string, unknown>> = {
    buffer: () => ({ Buffer: 'made' }),
    subtle: () => ({ subtle: 'made' }),
    dom: () => ({ crypto: {} }),
  };
  const load = (name: string) => {
    loaded.push(name);
    return made[name] ?? (() => ({}));
  };
  const globals = installGlobals(global, {
    ...unsealed(global),
    link,
    end,
    calls: new CapabilityCalls(link, end),
    clock: realClock(link),
    isInCall: () => end.number > 0,
    load,
  });
  const lazy: string[] = Object.values(LAZY_GLOBALS).flat();
  const names = Object.getOwnPropertyNames(global);
  t.strictSame(
    lazy.filter((name) => !names.includes(name)),
    [],
  );
  t.strictSame(names.filter((name) => !lazy.includes(name)).sort(), [
    'Navigator',
    'clearImmediate',
    'clearInterval',
    'clearTimeout',
    'console',
    'global',
    'isSecureContext',
    'navigator',
    'onerror',
    'onrejectionhandled',
    'onunhandledrejection',
    'process',
    'queueMicrotask',
    'self',
    'setImmediate',
    'setInterval',
    'setTimeout',
  ]);
  t.equal(global['global'], global);
  t.equal(global[PLUGIN_ERROR_CLASS], PluginError);
  t.strictSame(
    Object.keys(global),
    ['onerror', 'onunhandledrejection', 'onrejectionhandled'],
    'only attributes are enumerable',
  );
  global['onerror'] = 5;
  t.equal(global['onerror'], null);
  global['onerror'] = PluginError;
  t.equal(global['onerror'], PluginError);

  t.strictSame(loaded, [], 'no lazy module is loaded by itself');
  t.equal(global['Buffer'], 'made');
  t.type(global['crypto'], 'object');
  t.strictSame([global['Buffer'], loaded], ['made', ['buffer', 'dom']], 'and each one once');

  (global['process'] as NodeJS.Process).stdout.write('to the log\n');
  (global['process'] as NodeJS.Process).stderr.write('x'.repeat(20_000));
  t.equal(host.lines[0], 'log: to the log');
  t.equal(host.lines[1]?.length, 'error: '.length + 8192);
  t.equal((global['navigator'] as Navigator).userAgent, 'Isolayer');
  t.type(global['navigator'], global['Navigator'] as new () => object);
  t.equal(global['self'], global);
  t.notOk(globals.timers.isHeld(1));
  t.end();
});

t.test('lazy modules get the globals that theirs are made of', (t) => {
  const host = new GuestHost();
  const link = new HostLink(host.call);
  const end = new CallEnd(link);
  const parts = { dom: makeDom, url: makeUrl, web: ({ classes }: RuntimeServices) => ({ fetch: classes }) };
  const global: Record<string, unknown> = {};
  installGlobals(global, {
    ...unsealed(global),
    link,
    end,
    calls: new CapabilityCalls(link, end),
    clock: realClock(link),
    isInCall: () => end.number > 0,
    load: (name) => parts[name as keyof typeof parts],
  });
  const { URL, URLSearchParams, EventTarget, Event, AbortSignal, DOMException, fetch } = global as unknown as Web;
  t.equal(new URL('https://example.org/a').pathname, '/a');
  t.strictSame({ ...fetch }, { URL, URLSearchParams, AbortSignal, DOMException }, 'and to each other');
  AbortSignal.timeout(10);
  t.strictSame([...host.timers.values()], [10]);
  const target = new EventTarget();
  target.addEventListener('go', () => {
    throw new Error('mine');
  });
  end.begin(100);
  target.dispatchEvent(new Event('go'));
  t.match(host.outcome, { kind: 'threw', message: 'mine' });
  t.end();
});

t.test('the environment that is granted is that of the process, and groups and counters end with a call', (t) => {
  const host = new GuestHost();
  const link = new HostLink(host.call);
  const end = new CallEnd(link);
  const global: Record<string, unknown> = {};
  const calls = new CapabilityCalls(link, end);
  const globals = installGlobals(global, {
    ...unsealed(global),
    link,
    end,
    calls,
    clock: realClock(link),
    isInCall: () => end.number > 0,
    load: () => () => ({}),
  });
  globals.reset();
  globals.grant({ GRANTED: 'yes' });
  t.strictSame((global['process'] as NodeJS.Process).env, { GRANTED: 'yes' });
  const console = global['console'] as Console;
  console.group('a');
  console.count();
  globals.reset();
  console.count();
  t.strictSame(host.lines, ['log: a', 'log:   default: 1', 'log: default: 1']);
  t.end();
});

t.test('navigator tells nothing of the machine', (t) => {
  const { navigator, Navigator } = createNavigator();
  t.strictSame(
    [navigator.userAgent, navigator.hardwareConcurrency, navigator.language, navigator.languages, navigator.platform],
    ['Isolayer', 1, 'en-US', ['en-US'], ''],
  );
  t.ok(navigator.onLine);
  t.equal(String(navigator), '[object Navigator]');
  t.throws(() => new Navigator(), TypeError);
  t.end();
});

t.test('process', async (t) => {
  function open() {
    const host = new GuestHost();
    const link = new HostLink(host.call);
    const written: string[] = [];
    const process = createProcess(
      new Timers(link, new CallEnd(link)),
      (text) => written.push(`out ${String(text)}`),
      (text) => written.push(`err ${String(text)}`),
      () => 1234.5,
      { GRANTED: 'yes' },
    ) as unknown as NodeJS.Process;
    return { process, written };
  }

  t.test('has what libraries look for, and nothing that reaches out', async (t) => {
    const { process, written } = open();
    t.match(process, {
      env: { GRANTED: 'yes' },
      argv: [],
      version: /^v\d+/,
      versions: {},
      platform: 'linux',
      arch: 'x64',
    });
    t.equal(process.versions.node, undefined);
    for (const name of ['exit', 'kill', 'binding', 'dlopen', 'getBuiltinModule', 'send', 'mainModule'])
      t.notOk(name in process);
    t.equal(process.cwd(), '/');
    t.equal(process.uptime(), 1.2345);
    process.env['SET'] = 'by the plugin';
    t.equal(process.env['SET'], 'by the plugin');
    process.stdout.write('line\n');
    process.stderr.write(new Uint8Array([1]));
    process.emitWarning('careful');
    t.strictSame(written, ['out line', 'err 1', 'err careful']);
    t.equal(
      process.on('exit', () => {}),
      process,
    );
    t.equal(process.emit('warning', new Error('w')), false);
    t.strictSame(process.listeners('exit'), []);
    t.equal(process.listenerCount('exit'), 0);
    for (const name of ['once', 'off', 'addListener', 'removeListener', 'removeAllListeners'] as const) {
      t.equal(
        process[name]('exit', () => {}),
        process,
      );
    }
    const ticked = new Promise((resolve) => process.nextTick(resolve, 'tick'));
    t.equal(await ticked, 'tick');
  });

  t.test('tells passed time', (t) => {
    const { process } = open();
    t.strictSame(process.hrtime(), [1, 234_500_000]);
    t.strictSame(process.hrtime([1, 34_500_000]), [0, 200_000_000]);
    t.equal(process.hrtime.bigint(), 1_234_500_000n);
    t.end();
  });
});

t.test('DOMException is as the platform’s', (t) => {
  for (const args of [[], ['m'], ['m', 'AbortError'], ['m', 'QuotaExceededError'], ['m', 'Own']] as [
    string?,
    string?,
  ][]) {
    const ours = new DOMException(...args);
    const native = new globalThis.DOMException(...args);
    t.strictSame(
      [ours.name, ours.message, ours.code, String(ours)],
      [native.name, native.message, native.code, String(native)],
    );
    t.equal(Object.prototype.toString.call(ours), '[object DOMException]');
    t.ok(ours instanceof Error);
  }
  const cause = new Error('c');
  t.match(new DOMException('m', { name: 'TimeoutError', cause }), { name: 'TimeoutError', code: 23, cause });
  t.equal(new DOMException('m', {}).name, 'Error');
  t.end();
});

t.test('performance has the clock that is given, and its listeners outlive a call', (t) => {
  const events = createEventClasses(() => undefined) as unknown as Record<string, unknown>;
  let changes = 0;
  const { performance, Performance } = createPerformance({
    dom: () => events,
    now: () => 7.5,
    origin: () => 1000,
    changed: () => {
      changes += 1;
    },
  });
  t.equal(performance.now(), 7.5);
  t.equal(performance.timeOrigin, 1000);
  t.strictSame(performance.toJSON(), { timeOrigin: performance.timeOrigin });
  performance.addEventListener('x', () => undefined);
  t.equal(changes, 1);
  t.throws(() => new Performance(), TypeError);
  t.end();
});

t.test('crypto', async (t) => {
  const host = new GuestHost();
  const { crypto: made, Crypto: Made } = createCrypto(
    (bytes) => new HostLink(host.call).random(bytes),
    () => 'subtle',
  );
  const crypto = made as unknown as Crypto;

  t.test('fills integer arrays with the bytes of the host', (t) => {
    host.randomBytes = [1, 2, 255];
    const bytes = new Uint8Array(4);
    t.equal(crypto.getRandomValues(bytes), bytes);
    t.strictSame([...bytes], [1, 2, 255, 1]);
    t.equal(crypto.getRandomValues(new Uint32Array(1))[0], 0x01ff0201);
    t.equal(crypto.getRandomValues(new BigInt64Array(1)).length, 1);
    const whole = new Uint8Array(4);
    crypto.getRandomValues(whole.subarray(1, 3));
    t.strictSame([...whole], [0, 1, 2, 0], 'only the part that the view shows');
    t.end();
  });

  t.test('refuses other arrays and too many bytes', (t) => {
    for (const bad of [new Float64Array(1), new DataView(new ArrayBuffer(1))]) {
      t.throws(() => crypto.getRandomValues(bad as never), { name: 'TypeMismatchError' });
    }
    for (const bad of [[1], undefined, 5]) t.throws(() => crypto.getRandomValues(bad as never), TypeError);
    t.equal(crypto.getRandomValues(new Uint8Array(65_536)).length, 65_536);
    t.throws(() => crypto.getRandomValues(new Uint8Array(65_537)), { name: 'QuotaExceededError' });
    t.end();
  });

  t.test('makes version 4 UUIDs', (t) => {
    t.throws(() => new Made(), TypeError);
    t.equal(crypto.subtle, 'subtle');
    t.equal(String(crypto), '[object Crypto]');
    host.randomBytes = [0xff];
    t.equal(crypto.randomUUID(), 'ffffffff-ffff-4fff-bfff-ffffffffffff');
    host.randomBytes = [0];
    t.equal(crypto.randomUUID(), '00000000-0000-4000-8000-000000000000');
    t.end();
  });
});
