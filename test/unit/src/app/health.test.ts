import t, { type Test } from 'tap';
import { healthChecks } from '../../../../src/app/health.ts';
import type { UnreachedRelayer } from '../../../../src/engine/relayers/unreached-chains.ts';
import { FakePluginHost } from '../../../support/fake-plugin-host.ts';
import { relayerOf, storeFor } from '../../../support/store.ts';

t.test('health checks', async (t) => {
  async function stage(
    t: Test,
    unreached: UnreachedRelayer[],
    parts: Partial<Parameters<typeof healthChecks>[0]> = {},
  ) {
    const store = await storeFor(t);
    await store.write(async (writer) => {
      for (const id of ['r1', 'r2']) await writer.putRelayer(relayerOf({ id }));
    });
    return healthChecks({
      store,
      engine: { unreached: () => unreached },
      pluginHost: new FakePluginHost(),
      connections: { endpoints: () => [] },
      writeFailure: () => undefined,
      freeBytes: async () => 1e9,
      oldestWriteMs: () => 0,
      openFiles: async () => undefined,
      ...parts,
    });
  }

  const lost = (relayerId: string, isElsewhere: boolean): UnreachedRelayer => ({
    relayerId,
    network: 'local',
    cause: 'connection refused',
    isElsewhere,
  });

  t.test('an instance that reaches nothing is not ready while another may serve', async (t) => {
    const { networks, store, plugins } = await stage(t, []);
    t.match(await networks?.(), { status: 'healthy' });
    t.match(await store?.(), { status: 'healthy' });
    t.match(await plugins?.(), { status: 'healthy', threads: Number });

    const half = await stage(t, [lost('r1', true)]);
    t.match(await half['networks']?.(), {
      status: 'degraded',
      error: undefined,
      unreached: [{ relayer_id: 'r1', network: 'local', cause: 'connection refused', served_by_others: true }],
    });
    const all = await stage(t, [lost('r1', false), lost('r2', true)]);
    const error = 'This instance reaches no network: connection refused';
    t.match(await all['networks']?.(), { status: 'unhealthy', error });
    const alone = await stage(t, [lost('r1', false), lost('r2', false)]);
    t.match(await alone['networks']?.(), { status: 'degraded', error });
    const gone = await stage(t, [lost('r3', true)]);
    t.match(await gone['networks']?.(), { status: 'healthy' }, 'of a relayer that is no more');
  });

  t.test('a method that only advises is told once per endpoint, with what its lack costs', async (t) => {
    const lack = { method: 'eth_feeHistory', reason: 'no such method', cost: 'Tips are a guess' };
    const endpoints = () => [
      { network: 'local', endpoint: 'https://a.test', unanswered: [lack] },
      { network: 'local', endpoint: 'https://a.test', unanswered: [lack] },
      { network: 'local', endpoint: 'https://b.test', unanswered: [] },
    ];
    const { networks } = await stage(t, [], { connections: { endpoints } });
    t.strictSame(await networks?.(), {
      status: 'healthy',
      unanswered_methods: [{ network: 'local', endpoint: 'https://a.test', ...lack }],
    });
  });

  t.test('a store that is not written and a disk without room are told, until it is otherwise', async (t) => {
    let failure: string | undefined = 'The database cannot be written: database or disk is full';
    let free = 16 * 1_048_576 - 1;
    const { store, disk } = await stage(t, [], { writeFailure: () => failure, freeBytes: async () => free });
    t.strictSame(await store?.(), { status: 'unhealthy', error: failure });
    t.match(await disk?.(), { status: 'unhealthy', error: 'The disk of DATA_DIR is full: 16.0 MB are left' });
    failure = undefined;
    free += 1;
    t.strictSame(await store?.(), { status: 'healthy' });
    t.strictSame(await disk?.(), { status: 'healthy', free_bytes: free });

    const warnings = ['The standby is asynchronous'];
    const stored = { now: async () => 0, read: (await storeFor(t)).read, warnings: async () => warnings };
    t.strictSame(await (await stage(t, [], { store: stored }))['store']?.(), { status: 'healthy', warnings });
  });

  t.test('where no process for plugins starts it says so, and is not ready when there are plugins', async (t) => {
    const pluginHost = new FakePluginHost();
    const status = pluginHost.status();
    const hostWith = (change: Partial<typeof status>) => ({ status: () => ({ ...status, ...change }) });
    const serving = { id: 'p', state: 'serving', reason: null, version: '1', refused: false } as const;
    const startFailure = 'exit code 127: setpriv: not found';
    const stuck = await stage(t, [], { pluginHost: hostWith({ startFailure, plugins: [serving] }) });
    const error = 'No process for plugins starts: exit code 127: setpriv: not found';
    t.match(await stuck['plugins']?.(), { status: 'unhealthy', error });
    const unused = await stage(t, [], { pluginHost: hostWith({ startFailure }) });
    t.match(await unused['plugins']?.(), { status: 'degraded', error });
    const broken = { ...serving, state: 'broken', reason: 'it does not compile' } as const;
    const unfit = await stage(t, [], { pluginHost: hostWith({ plugins: [serving, broken] }) });
    t.match(await unfit['plugins']?.(), { status: 'degraded', error: undefined, unfit: [{ id: 'p' }] });
  });

  t.test('a store whose write is stuck is said not to answer, at once', async (t) => {
    let waited = 5_000;
    const silent = {
      now: () => new Promise<never>(() => undefined),
      read: (await storeFor(t)).read,
      warnings: async () => [],
    };
    const { store } = await stage(t, [], { store: silent, oldestWriteMs: () => waited });
    waited = 7_400;
    const error = 'The store does not answer: a write has waited for 7 s';
    t.strictSame(await store?.(), { status: 'unhealthy', error });
  });

  t.test('open files are counted, and told before there are none left', async (t) => {
    let count = 10;
    const { system } = await stage(t, [], { openFiles: async () => ({ count, limit: 100 }) });
    t.strictSame(await system?.(), { status: 'healthy', fd_count: 10, fd_limit: 100, fd_usage_percent: 10 });
    count = 71;
    t.match(await system?.(), { status: 'degraded', error: /71 of 100 open files are used.*ulimit -n/ });
    count = 81;
    t.match(await system?.(), { status: 'unhealthy' });
    t.strictSame(await (await stage(t, []))['system']?.(), { status: 'healthy' }, 'where the system does not tell');
  });
});
