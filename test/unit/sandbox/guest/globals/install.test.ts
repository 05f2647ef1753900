import t from 'tap';
import { CallEnd } from '../../../../../sandbox/guest/call-end.ts';
import { CapabilityCalls } from '../../../../../sandbox/guest/capability-calls.ts';
import { installGlobals } from '../../../../../sandbox/guest/globals/install.ts';
import { HostLink } from '../../../../../sandbox/guest/host-link.ts';
import { create as makeDom } from '../../../../../sandbox/guest/lazy/dom.ts';
import { create as makeUrl } from '../../../../../sandbox/guest/lazy/url.ts';
import { LAZY_GLOBALS, type RuntimeServices } from '../../../../../sandbox/guest/lazy-modules.ts';
import { PLUGIN_ERROR_CLASS, PluginError } from '../../../../../sandbox/guest/plugin-error.ts';
import { GlobalNames } from '../../../../../sandbox/guest/reuse/global-names.ts';
import { GuestHost } from '../../../../support/guest-host.ts';

type Web = Pick<
  typeof globalThis,
  'URL' | 'URLSearchParams' | 'EventTarget' | 'Event' | 'AbortSignal' | 'DOMException'
> & { fetch: object };

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
  const world = installGlobals(global, { ...unsealed(global), link, end, calls: new CapabilityCalls(link, end), load });
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

  t.strictSame(loaded, [], 'no part is loaded by itself');
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
  t.notOk(world.timers.isHeld(1));
  t.end();
});

t.test('gives the parts what their APIs are made of', (t) => {
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
  const world = installGlobals(global, { ...unsealed(global), link, end, calls, load: () => () => ({}) });
  world.reset();
  world.grant({ GRANTED: 'yes' });
  t.strictSame((global['process'] as NodeJS.Process).env, { GRANTED: 'yes' });
  const console = global['console'] as Console;
  console.group('a');
  console.count();
  world.reset();
  console.count();
  t.strictSame(host.lines, ['log: a', 'log:   default: 1', 'log: default: 1']);
  t.end();
});
