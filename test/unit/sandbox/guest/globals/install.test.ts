import t from 'tap';
import { CallEnd } from '../../../../../sandbox/guest/call-end.ts';
import { CapabilityCalls } from '../../../../../sandbox/guest/capability-calls.ts';
import { installGlobals } from '../../../../../sandbox/guest/globals/install.ts';
import { HostLink } from '../../../../../sandbox/guest/host-link.ts';
import { PART_GLOBALS } from '../../../../../sandbox/guest/lazy-parts.ts';
import { PLUGIN_ERROR_CLASS, PluginError } from '../../../../../sandbox/guest/plugin-error.ts';
import { GuestHost } from '../../../../support/guest-host.ts';

t.test('puts the web APIs on the global object, and nothing else', (t) => {
  const host = new GuestHost();
  const link = new HostLink(host.call);
  const end = new CallEnd(link);
  const global: Record<string | symbol, unknown> = {};
  const loaded: string[] = [];
  const load = (name: string) => {
    loaded.push(name);
    return () => ({ Buffer: 'made', subtle: 'made', fetch: 'made' });
  };
  const world = installGlobals(global, { link, end, calls: new CapabilityCalls(link, end), load });
  const lazy: string[] = Object.values(PART_GLOBALS).flat();
  const names = Object.getOwnPropertyNames(global);
  t.strictSame(
    lazy.filter((name) => !names.includes(name)),
    [],
  );
  t.strictSame(names.filter((name) => !lazy.includes(name)).sort(), [
    'AbortController',
    'AbortSignal',
    'DOMException',
    'Event',
    'EventTarget',
    'TextDecoder',
    'TextEncoder',
    'URL',
    'URLSearchParams',
    'atob',
    'btoa',
    'clearImmediate',
    'clearInterval',
    'clearTimeout',
    'console',
    'crypto',
    'global',
    'performance',
    'process',
    'queueMicrotask',
    'setImmediate',
    'setInterval',
    'setTimeout',
    'structuredClone',
  ]);
  t.equal(global['global'], global);
  t.equal(global[PLUGIN_ERROR_CLASS], PluginError);
  t.strictSame(Object.keys(global), [], 'not enumerable');

  t.strictSame(loaded, [], 'no part is loaded by itself');
  t.equal(global['Buffer'], 'made');
  t.equal((global['crypto'] as { subtle: unknown }).subtle, 'made');
  t.strictSame([global['Buffer'], loaded], ['made', ['buffer', 'subtle']], 'and each one once');

  (global['process'] as NodeJS.Process).stdout.write('to the log\n');
  (global['process'] as NodeJS.Process).stderr.write('x'.repeat(20_000));
  t.equal(host.lines[0], 'log: to the log');
  t.equal(host.lines[1]?.length, 'error: '.length + 8192);
  t.equal((global['performance'] as Performance).now(), 0);
  t.notOk(world.timers.has(1));
  const target = new (global['EventTarget'] as typeof EventTarget)();
  target.addEventListener('go', () => {
    throw new Error('mine');
  });
  end.begin(100);
  target.dispatchEvent(new (global['Event'] as typeof Event)('go'));
  t.match(host.outcome, { kind: 'threw', message: 'mine' });
  t.end();
});
