import t from 'tap';
import type { z } from 'zod';
import { readPluginGrants } from '../../../../../../../src/features/plugins/host/capabilities/grants.ts';
import { MAX_SHOWN_NAMES } from '../../../../../../../src/features/plugins/host/catalog/fetch-hosts.ts';
import {
  PluginViews,
  type PluginViewsDeps,
  type ShownPlugin,
} from '../../../../../../../src/features/plugins/host/catalog/plugin-view.ts';
import { pluginSchema } from '../../../../../../../src/features/plugins/operations.ts';
import { pluginEntrySchema } from '../../../../../../../src/features/plugins/records/plugin.ts';
import { KEEPING } from '../../../../../../support/principal.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const HOUR = {
  since: NOW - 60_000,
  calls: 3,
  cpuMs: 1.23456,
  capabilityCalls: 2,
  bytesIn: 10,
  bytesOut: 20,
  heapPeakBytes: 30,
  outcomes: new Map([
    ['threw', 1],
    ['TIMEOUT', 2],
  ]),
};

function shown(given: Partial<z.input<typeof pluginEntrySchema>>, more: Partial<ShownPlugin> = {}): ShownPlugin {
  const entry = pluginEntrySchema.parse({ id: 'p', path: 'p.ts', ...given });
  const { id, limits, isolation } = entry;
  return {
    entry,
    caller: { id, grants: readPluginGrants(entry), maxCalls: 10, ...KEEPING },
    serving: {
      version: { pluginId: id, version: 'v1', code: '', filename: '', env: { TOKEN: 'canary-env' }, limits, isolation },
      positions: { mapped: (text) => text },
      bytes: 1,
      inputs: new Set(),
      since: NOW,
      reads: { environment: ['MISSING', 'TOKEN'], fetches: true, hosts: ['a.example', 'b.example'] },
    },
    failure: undefined,
    isDisabled: false,
    isBuilt: Promise.resolve(),
    failedAt: undefined,
    ...more,
  };
}

function viewsOf(plugins: ShownPlugin[], more: Partial<PluginViewsDeps> = {}) {
  return new PluginViews({
    books: {
      triggers: async () => [],
      kvUsage: async () => ({ keys: 2, bytes: 30 }),
      spentLastHour: async (_, relayerId) => ({ value: relayerId === 'r2' ? 5n : 99n, fee: 2n ** 70n }),
    },
    plugins: () => plugins,
    lastHour: () => HOUR,
    uses: () => [
      { pluginId: 'p', isolates: 2, residentBytes: 100 },
      { pluginId: 'p', isolates: 1, residentBytes: 50 },
    ],
    load: () => ({ running: 4, queued: 1 }),
    backOff: () => undefined,
    clock: { now: () => NOW, elapsed: () => 0 },
    ...more,
  });
}

t.test('a list may be of some only', async (t) => {
  const views = viewsOf(['a', 'b', 'c'].map((id) => shown({ id })));
  const { items, total } = await views.list({ page: 1, perPage: 1 }, ['c', 'b', 'nobody']);
  t.strictSame([items.map(({ id }) => id), total], [['b'], 2]);
});

t.test('a plugin that serves: its entry, what it may, what it wants, what it used', async (t) => {
  const views = viewsOf([
    shown({
      timeout: 30,
      emit_usage: true,
      config: { apiKey: 'canary-config', nested: { deep: 'canary-deep' } },
      permissions: {
        relayers: {
          r1: ['read'],
          r2: { methods: ['send'], recipients: ['0x1'], value_per_hour: '10000000000000000000000', value_per_call: 7 },
        },
        hosts: ['a.example'],
        env: ['TOKEN'],
        kv: true,
      },
    }),
  ]);
  const view = await views.get('p');
  t.strictSame(pluginSchema.parse(JSON.parse(JSON.stringify(view))), JSON.parse(JSON.stringify(view)), 'as described');
  t.match(view, {
    id: 'p',
    path: 'p.ts',
    timeout: 30,
    emit_logs: false,
    emit_usage: true,
    config: { apiKey: '[hidden]', nested: '[hidden]' },
    state: 'serving',
    version: { hash: 'v1', since: '2026-11-21T12:00:00.000+00:00' },
    error: null,
    back_off: null,
    permissions: {
      relayers: {
        r1: { methods: ['read'], last_hour: undefined },
        r2: {
          methods: ['send'],
          recipients: ['0x1'],
          value_per_hour: '10000000000000000000000',
          value_per_call: '7',
          last_hour: { value: '5', fee: (2n ** 70n).toString() },
        },
      },
      hosts: [{ host: 'a.example', private: false }],
      env: ['TOKEN'],
      kv: true,
    },
    limits: { memory_mb: 128, kv_keys: 100_000 },
    kv_usage: { keys: 2, bytes: 30 },
    now: { processes: 2, isolates: 3, resident_bytes: 150, calls_running: 4, calls_queued: 1 },
    last_hour: { calls: 3, cpu_ms: 1.235, heap_peak_bytes: 30, outcomes: { TIMEOUT: 2, threw: 1 } },
  });
  t.match(view?.['reads'], {
    environment: [
      { name: 'MISSING', granted: false, missing: /add "MISSING" to permissions\.env of plugin p/ },
      { name: 'TOKEN', granted: true, missing: null },
    ],
    fetches: true,
    hosts: [
      { host: 'a.example', granted: true, missing: null },
      { host: 'b.example', granted: false, missing: /add "b\.example" to permissions\.hosts/ },
    ],
    more: false,
  });
  t.notMatch(JSON.stringify(view), 'canary');
});

t.test('without permissions every relayer is granted, and no host', async (t) => {
  const view = await viewsOf([shown({})]).get('p');
  t.match(view, {
    config: null,
    permissions: { relayers: { '*': { methods: ['read', 'send', 'sign', 'rpc'] } }, hosts: [], env: [], kv: true },
  });
});

t.test('a broken one says where and since when; one that is backed off until when', async (t) => {
  const details = { pluginId: 'p', file: 'plugins/p.ts', line: 3, column: 7 };
  const failure = { code: 'COMPILE_ERROR', message: 'Compilation failed', status: 500, details };
  const broken = shown({}, { serving: undefined, failure, failedAt: NOW - 1000 });
  const view = await viewsOf([broken]).get('p');
  t.match(view, {
    state: 'broken',
    version: null,
    reads: null,
    error: { code: 'COMPILE_ERROR', file: 'plugins/p.ts', line: 3, column: 7, since: '2026-11-21T11:59:59.000+00:00' },
  });
  t.ok(pluginSchema.safeParse(view).success);
  const old = await viewsOf([shown({}, { failure: { ...failure, details: {} }, failedAt: undefined })]).get('p');
  t.match(old, { state: 'serving', error: { file: null, line: null, column: null, since: null } });
  const away = await viewsOf([shown({})], { backOff: () => ({ reason: 'overdue', leftMs: 1500.5 }) }).get('p');
  t.match(away, { state: 'backing-off', back_off: { reason: 'overdue', until: '2026-11-21T12:00:01.501+00:00' } });
  t.ok(pluginSchema.safeParse(away).success);
});

t.test('one whose first version is still being built says so', async (t) => {
  const view = await viewsOf([shown({}, { serving: undefined })]).get('p');
  t.match(view, { state: 'compiling', version: null, error: null, reads: null });
  t.ok(pluginSchema.safeParse(view).success);
});

t.test('of what the code names a part is shown, and that there is more', async (t) => {
  const plugin = shown({});
  const { serving } = plugin;
  if (serving === undefined) return t.fail('nothing serves');
  const hosts = Array.from({ length: MAX_SHOWN_NAMES + 1 }, (_, index) => `h${index}.example`);
  const reads = async (more: Partial<typeof serving.reads>) => {
    const reading = { ...serving, reads: { ...serving.reads, ...more } };
    return pluginSchema.parse(await viewsOf([shown({}, { serving: reading })]).get('p')).reads;
  };
  const many = await reads({ hosts });
  t.equal(many?.hosts.length, MAX_SHOWN_NAMES);
  t.equal(many?.more, true);
  t.equal((await reads({ environment: hosts }))?.environment.length, MAX_SHOWN_NAMES);
  t.equal((await reads({ hosts: hosts.slice(1) }))?.more, false);
});

t.test('pages are cut from the whole', async (t) => {
  const views = viewsOf(['a', 'b', 'c'].map((id) => shown({ id })));
  const ids = async (page: number, perPage: number) => {
    const { items, total } = await views.list({ page, perPage });
    t.equal(total, 3);
    return items.map(({ id }) => id);
  };
  t.strictSame(await ids(1, 2), ['a', 'b']);
  t.strictSame(await ids(2, 2), ['c']);
  t.strictSame(await ids(3, 2), []);
  t.strictSame(await ids(1, 0), []);
  t.equal(await views.get('d'), undefined);
});
