import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { PluginFolder } from '../../../../../../sandbox/test/support/plugin-folder.ts';
import { systemClock } from '../../../../../../src/domain/clock.ts';
import { createPluginHost } from '../../../../../../src/features/plugins/host/create-plugin-host.ts';
import type { PluginHost } from '../../../../../../src/features/plugins/host/plugin-host.ts';
import { eventually } from '../../../../../support/eventually.ts';
import { hostDeps, startPluginHost } from '../../../../../support/plugin-host.ts';
import { storeFor } from '../../../../../support/store.ts';

const driverFile = fileURLToPath(new URL('../../../../../../sandbox/test/support/fake-driver.ts', import.meta.url));
const files = { 'echo.ts': 'export const handler = () => 1;', 'broken.ts': 'export const handler = (' };

t.test('wires a call from its request to its answer', async (t) => {
  const { host, call, close } = await startPluginHost({ files, driverFile, entries: [{ id: 'get', path: 'echo.ts' }] });
  t.teardown(close);
  t.match(await call('get', { a: 1 }), {
    status: 200,
    body: { data: { params: { a: 1 }, caller: { keyId: 'key-1' } } },
  });
  t.match(await call('get', { ask: 'relayer.getRelayer' }), { body: { data: { ok: true, value: { id: 'known' } } } });
  t.match(await call('broken'), { status: 500, body: { data: { code: 'COMPILE_ERROR' } } });
  await t.rejects(call('unknown'), { code: 'PLUGIN_NOT_FOUND' });
  await t.rejects(call('get', {}, { method: 'GET' }), { code: 'PLUGIN_GET_DISABLED' });
  t.match(host.status(), {
    threads: 1,
    running: 0,
    queued: 0,
    confinement: { permission: true },
    plugins: [
      { id: 'broken', state: 'broken', reason: /broken\.ts/, version: null },
      { id: 'get', state: 'serving', reason: null, version: String, refused: false },
    ],
  });
});

t.test('has its spare process before it knows what plugins run among, and ends it also then', async (t) => {
  const folder = new PluginFolder(files);
  t.teardown(() => folder.remove());
  const host = createPluginHost({ ...hostDeps(folder.path), driverFile });
  host.prepare();
  const { threads } = await eventually(
    () => host.status(),
    ({ processes }) => processes === 1,
  );
  t.equal(threads, 1);
  await t.rejects(host.get('echo'), /has not been started/);
  await host.close(0);
  t.match(host.status(), { threads: 0, processes: 0 });
});

t.test('ends also while its thread is being started', async (t) => {
  const folder = new PluginFolder(files);
  t.teardown(() => folder.remove());
  const host = createPluginHost({ ...hostDeps(folder.path), driverFile });
  host.prepare();
  await host.close(0);
  t.match(host.status(), { threads: 0, processes: 0 });
});

t.test('ends at once while its thread does not come up', async (t) => {
  const folder = new PluginFolder({ ...files, 'silent.mjs': 'setInterval(() => undefined, 1000);' });
  t.teardown(() => folder.remove());
  const host = createPluginHost({ ...hostDeps(folder.path), driverFile: join(folder.path, 'silent.mjs') });
  host.prepare();
  await eventually(
    () => process.getActiveResourcesInfo(),
    (open) => open.includes('MessagePort'),
  );
  const began = performance.now();
  await host.close(0);
  t.ok(performance.now() - began < 5000, 'within the time that a part has');
});

t.test('goes by what clients make of a plugin, and tells what its calls wrote', async (t) => {
  const made = { pluginId: 'echo', settings: { timeout: 7 }, isDisabled: false, declared: {} };
  const { host, call, close } = await startPluginHost({ files, driverFile, settings: () => made });
  t.teardown(close);
  t.match(await host.get('echo'), { timeout: 7, enabled: true });
  t.equal(host.declared('echo').timeout, 300);
  made.isDisabled = true;
  host.applySettings();
  t.match(await host.get('echo'), { enabled: false });
  await t.rejects(call('echo'), { code: 'PLUGIN_DISABLED', status: 403, publicMessage: 'Plugin disabled' });
  made.isDisabled = false;
  host.applySettings();
  t.match(await call('echo'), { status: 200 });
  await host.reload('echo');
  const page = { page: 1, perPage: 5 };
  t.strictSame(host.logs('echo', page), { items: [], total: 0 });
  t.match(await call('echo', { kill: true }), { status: 503 });
  t.match(host.logs('echo', page), { items: [{ request_id: 'req-1', outcome: 'SANDBOX_LOST' }], total: 1 });
  for (const ask of [() => host.declared('x'), () => host.logs('x', page)]) t.throws(ask, { code: 'PLUGIN_NOT_FOUND' });
  await t.rejects(host.reload('x'), { code: 'PLUGIN_NOT_FOUND' });
});

t.test('a plugin that loses its process again and again is backed off, which is seen', async (t) => {
  const { host, call, close, log, metrics } = await startPluginHost({ files, driverFile });
  t.teardown(close);
  const kills = () => metrics.of('plugin_process_ends').filter((line) => line === 'echo died').length;
  for (let time = 1; time <= 3; time++) {
    t.match(await call('echo', { kill: true }, { keyId: `key-${time}` }), { status: 503 });
    // The answer may arrive before the report that the process ended.
    await eventually(kills, (count) => count === time);
  }
  const status = await eventually(
    () => host.status().plugins.find(({ id }) => id === 'echo'),
    (plugin) => plugin?.state === 'backing-off',
  );
  t.match(status, { state: 'backing-off', reason: 'died: it died of exit code 1', refused: true });
  t.match(await call('echo'), { status: 503, retryAfter: 1 });
  t.match(log(), 'last words');
  t.equal(kills(), 3);
  t.match(
    await eventually(
      () => call('echo'),
      ({ status: code }) => code === 200,
    ),
    { status: 200 },
    'not for good',
  );
});

t.test('a durable call that brings its processes down ends', async (t) => {
  const engine = { onChange: () => () => undefined };
  const durable = {
    store: await storeFor(t, systemClock),
    engine,
    newId: randomUUID,
    calls: { attach: () => undefined },
  };
  const { call, close } = await startPluginHost({
    files,
    driverFile,
    durable,
    entries: [{ id: 'echo', durable: true }],
  });
  t.teardown(close);
  const error = 'The call brought down 3 processes';
  t.match(await call('echo', { kill: true }, { waitMs: 15_000 }), { status: 503, body: { error } });
});

t.test('a thread that ends is replaced, and its plugins serve again', async (t) => {
  const { host, call, close } = await startPluginHost({ files, driverFile });
  t.teardown(close);
  t.match(await call('echo', { exit: true }), { status: 503 });
  t.match(
    await eventually(
      () => call('echo'),
      ({ status }) => status === 200,
    ),
    { status: 200 },
  );
  t.match(host.status(), { threads: 1, plugins: [{ id: 'broken' }, { id: 'echo', state: 'serving' }] });
});

t.test('builds that hang hold up neither the start nor the other plugins nor the end', async (t) => {
  const hanging = ['a', 'b', 'c', 'd', 'e'].map((id) => `hangs-${id}`);
  const folder = new PluginFolder({
    'echo.ts': files['echo.ts'],
    ...Object.fromEntries(
      hanging.map((id) => [`${id}.ts`, "import x from 'hanging';\nexport const handler = () => x;"]),
    ),
    'late.ts': files['echo.ts'],
    'node_modules/hanging/index.js': 'export default 1;',
  });
  t.teardown(() => folder.remove());
  folder.write('node_modules/hanging/package.json', '{"main":"./inner"}');
  folder.write('node_modules/hanging/inner/index.js', '');
  execFileSync('mkfifo', [join(folder.path, 'node_modules/hanging/inner/package.json')]);
  const { host, call, close, log } = await startPluginHost({ driverFile, pluginsDir: folder.path, compileMs: 3000 });
  const stuck = hanging.map((id) => ({ id, state: 'compiling', reason: 'it is still being compiled', version: null }));
  t.match(host.status().plugins, [{ id: 'echo', state: 'serving' }, ...stuck, { id: 'late' }]);
  t.match(log(), 'plugins are still being compiled');
  t.match(await call('echo'), { status: 200 });
  const late = await eventually(
    () => call('late'),
    ({ status }) => status === 200,
  );
  t.match(late, { status: 200 }, 'also of one that comes after more of them than are built at once');
  t.match(await call('hangs-a'), { status: 503, retryAfter: 2, body: { data: { code: 'SERVICE_UNAVAILABLE' } } });
  await close();
  t.match(host.status(), { processes: 0, plugins: [{ id: 'echo' }, ...stuck, { id: 'late' }] });
});

t.test('closing ends a start that is under way, and leaves nothing', async (t) => {
  const folder = new PluginFolder({ 'hangs.ts': "import 'hanging';", 'node_modules/hanging/inner/index.js': '' });
  t.teardown(() => folder.remove());
  folder.write('node_modules/hanging/package.json', '{"main":"./inner"}');
  execFileSync('mkfifo', [join(folder.path, 'node_modules/hanging/inner/package.json')]);
  let closed: Promise<void> | undefined;
  const { host, log, close } = await startPluginHost({
    driverFile,
    pluginsDir: folder.path,
    compileMs: 60_000,
    beforeStart: (starting) => {
      const confined = eventually(
        () => starting.status().confinement,
        (confinement) => confinement !== undefined,
      );
      closed = confined.then(() => starting.close(0));
    },
  });
  t.teardown(close);
  await closed;
  t.match(host.status(), { threads: 0, processes: 0, plugins: [{ id: 'hangs', state: 'compiling' }] });
  t.notMatch(log(), 'still being compiled', 'nobody waited for the build');
});

t.test('a host that is closed before it has begun to start begins nothing', async (t) => {
  const beforeStart = (starting: PluginHost) => void starting.close(0);
  const { host, close } = await startPluginHost({ files, driverFile, beforeStart });
  t.teardown(close);
  t.match(host.status(), { threads: 0, processes: 0, plugins: [] });
  await host.close(0);
});

t.test('closing ends everything, and a call then is refused', async (t) => {
  const { host, call, close } = await startPluginHost({ files, driverFile });
  await call('echo');
  await Promise.all([close(), host.close(0)]);
  t.equal(host.status().processes, 0);
  t.match(await call('echo'), { status: 503 });
});
