/**
 * Threat: ways in and out around the guest's world: the inspector, caches, the children's command lines, functions of
 * isolated-vm that cross the boundary, and late failures. If one of these fails, look at
 * `sandbox/driver/launch.ts` and `sandbox/process/isolate.ts`.
 */
import { readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { createAddressGuard } from '../../../src/egress/address-guard.ts';
import { createPluginHttp } from '../../../src/egress/fetch/plugin-http.ts';
import { openStage } from '../../support/attacks/stage.ts';
import { hostileHttp, plain, redirectTo } from '../../support/hostile-http.ts';
import { fetchServiceOver } from '../../support/no-plugin-http.ts';
import { startPluginHost } from '../../support/plugin-host.ts';
import { PluginServices } from '../../support/plugin-services.ts';
import { descendantsOf } from '../../support/processes.ts';
import { startService } from '../../support/service.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

let resets = 0;
const server = await hostileHttp(t, {
  '/late': (_request, socket) => {
    setTimeout(() => {
      resets++;
      socket.destroy();
    }, 2000);
  },
  '/fine': (_request, socket) => socket.write(plain('fine')),
  '/away': redirectTo('http://127.0.0.1:1/'),
  '/metadata': redirectTo('http://169.254.169.254/latest/meta-data/'),
});
const proxy = await hostileHttp(t, {});
const stage = await openStage(t, [], startService, {
  pluginFiles: {
    'late.ts': `export async function handler({ params }) {
      for (let i = 0; i < 20; i++) fetch(params.url).catch(() => {}).then(() => { for (;;); });
      await new Promise((resolve) => setTimeout(resolve, 500));
      return 'returned';
    }\n`,
    'gets.ts': `export async function handler({ params }) {
      return await fetch(params.url).then((response) => response.text(), (error) => 'refused: ' + error.message);
    }\n`,
    'once.ts': `export async function handler() { globalThis.kept = new Array(1000).fill({}); return 'once'; }\n`,
  },
  plugins: [
    ...['late', 'gets'].map((id) => ({
      id,
      path: `${id}.ts`,
      permissions: { hosts: [{ host: server.host, private: true }] },
    })),
    { id: 'once', path: 'once.ts', isolation: 'call', limits: { slice_ms: 5000, cpu_ms: 10_000 } },
  ],
  env: {
    HTTP_PROXY: `http://${proxy.host}`,
    http_proxy: `http://${proxy.host}`,
    ALL_PROXY: `http://${proxy.host}`,
    NODE_USE_ENV_PROXY: '1',
  },
});
const { service, workspace } = stage;
await service.call('honest');

/** The TCP ports on which a process listens. */
async function listeningPorts(pid: number): Promise<number[]> {
  const fds = await readdir(`/proc/${pid}/fd`);
  const links = await Promise.all(fds.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
  const inodes = new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8')));
  // proc_net(5): local address, state (0A listens) and inode are columns 2, 4 and 10.
  return tables.flatMap((table) =>
    table.split('\n').flatMap((line) => {
      const columns = line.trim().split(/\s+/);
      if (columns[3] !== '0A' || !inodes.has(columns[9] ?? '')) return [];
      return [Number.parseInt(columns[1]?.split(':')[1] ?? '', 16)];
    }),
  );
}

async function sandboxChildren() {
  return (await descendantsOf(service.pid)).filter(({ command }) => command.includes('isolayer-sandbox'));
}

t.test('threat 29: a capability that fails after its call is over', async (t) => {
  // Threat: nobody waits for the failure, so it ends the process as an unhandled rejection.
  const answers = await Promise.all(
    Array.from({ length: 3 }, () => service.call('late', { url: server.url('/late') })),
  );
  for (const { status, body } of answers) t.match({ status, data: body.data }, { status: 200, data: 'returned' });
  const asked = server.seen.filter(({ line }) => line.includes(' /late ')).length;
  t.ok(asked > 0, 'some are on their way when the calls are over');
  const end = performance.now() + 20_000;
  while (resets < asked && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.equal(resets, asked, 'and have failed since');
  t.match(await service.request('GET', '/api/v1/health'), { status: 200 });
  t.match(await service.call('honest'), { status: 200 });
  t.match(await service.call('gets', { url: server.url('/fine') }), { body: { data: 'fine' } });
});

t.test('threat 32: nothing of isolated-vm leads through the wall', async (t) => {
  // Threat: references that inherit, promises that the host waits for, calls that are not counted, and shared handles.
  const banned =
    /unsafeInherit|applySyncPromise|applyIgnored|ignored: ?true|derefInto|NativeModule|inspector: ?true|transferIn|ExternalCopy\(/;
  const files = await readdir(join(ROOT, 'sandbox'), { recursive: true });
  const sources = files.filter((file) => file.endsWith('.ts') && !file.startsWith('test/'));
  t.ok(sources.length > 50);
  const importers = [];
  for (const file of sources) {
    const text = await readFile(join(ROOT, 'sandbox', file), 'utf8');
    const code = text.replaceAll(/\/\*[^]*?\*\/|\/\/[^\n]*/g, '');
    // Functions of the guest that go back to the guest that they were compiled for.
    const own = code.replace('made.derefInto({ release: true })', '').replaceAll('make.derefInto()', '');
    t.notMatch(own, banned, file);
    if (/from 'isolated-vm'/.test(code)) importers.push(file);
  }
  t.strictSame(importers, ['process/isolate.ts']);
});

t.test('threat 53: nothing in the child waits for the host while a guest runs', async (t) => {
  // Threat: a guest and the host wait for each other for ever.
  const text = await readFile(join(ROOT, 'sandbox/process/isolate.ts'), 'utf8');
  t.equal(text.match(/new ivm\.Callback\(/g)?.length, 1, 'one function leads out');
  const own = text.replace(/code: .var __isolayer_plugin__.*/, '');
  t.not(own, text, 'all but the warm-up plugin is looked at');
  t.notMatch(own, /Promise\.(all|race)|await /);
});

t.test('threat 44: compiled code comes from nowhere but the child itself', async (t) => {
  // Threat: V8 trusts a cache or a snapshot completely. A file in a folder could contain anybody's code.
  for (const name of ['honest.ts.cache', 'honest.cache', 'honest.blob', 'honest.jsc']) {
    await writeFile(join(workspace.dir, 'plugins', name), Buffer.alloc(4096, 0xff));
  }
  t.match(await service.call('honest'), { status: 200, body: { data: 'honest' } });
  const files = await readdir(workspace.dir, { recursive: true });
  t.strictSame(
    files.filter((file) => /cache|\.blob|\.jsc|snapshot/i.test(file)).sort(),
    ['plugins/honest.blob', 'plugins/honest.cache', 'plugins/honest.jsc', 'plugins/honest.ts.cache'],
    'none is written',
  );
  const children = await sandboxChildren();
  t.ok(children.length > 0);
  for (const { command } of children) {
    t.match(command, /--permission/);
    t.notMatch(command, /--allow-fs/, 'and none could be read');
  }
});

t.test('threat 45: no inspector listens, whoever asks for one', async (t) => {
  // Threat: SIGUSR1 opens the inspector, and gives full access to everyone who can connect.
  const port = Number(new URL(service.url).port);
  const all = [{ pid: service.pid }, ...(await sandboxChildren())];
  for (const { pid } of all) process.kill(pid, 'SIGUSR1');
  for (let look = 0; look < 5; look++) {
    await service.call('honest');
    t.strictSame(await listeningPorts(service.pid), [port], 'the server listens where it should');
  }
  for (const { pid } of await sandboxChildren()) t.strictSame(await listeningPorts(pid), [], 'its children nowhere');
  for (const { command } of await sandboxChildren()) t.notMatch(command, /--inspect/);
});

t.test('threat 46: worlds made for one call each do not pile up', { timeout: 60_000 }, async (t) => {
  // Threat: contexts are freed late, and fill the process's memory.
  const residentOf = async () => {
    const { body } = await service.request('GET', '/api/v1/ready');
    const status = await Promise.all(
      (await sandboxChildren()).map(({ pid }) => readFile(`/proc/${pid}/status`, 'utf8')),
    );
    const largest = Math.max(...status.map((text) => Number(/^VmRSS:\s+(\d+)/m.exec(text)?.[1] ?? 0) / 1024));
    return { largest, ready: body.ready };
  };
  for (let call = 0; call < 60; call++) await service.call('once');
  const before = await residentOf();
  for (let round = 0; round < 40; round++) await Promise.all(Array.from({ length: 5 }, () => service.call('once')));
  const after = await residentOf();
  t.equal(after.ready, true);
  t.ok(after.largest - before.largest < 120, `grew from ${before.largest} to ${after.largest} MB`);
});

t.test('threat 65: redirects, and proxies of the environment, lead nowhere else', async (t) => {
  // Threat: an allowed host redirects a plugin to one that is not allowed, or the environment sets a proxy.
  t.match((await service.call('gets', { url: server.url('/fine') })).body.data, 'fine');
  for (const path of ['/away', '/metadata']) {
    t.match((await service.call('gets', { url: server.url(path) })).body.data, /^refused: /, path);
  }
  t.strictSame(proxy.seen, [], 'nothing went through a proxy');
});

t.test('threat 65: a name that changes its address between check and connection', async (t) => {
  // Threat: DNS rebinding. The name's address is public when it is checked, and local when the connection is made.
  const answers = ['192.0.2.1', '127.0.0.1', '127.0.0.1', '127.0.0.1'];
  const guard = (blockPrivate: boolean) =>
    createAddressGuard({ allowedHosts: [], blockPrivate }, (_host, _options, callback) =>
      callback(null, [{ address: answers.shift() ?? '127.0.0.1', family: 4 }]),
    );
  const http = createPluginHttp({ open: guard(true), private: guard(false) });
  t.teardown(() => http.close());
  const services = new PluginServices();
  services.fetch = fetchServiceOver(http);
  const seen = server.seen.length;
  const host = { host: `rebinds.example.com:${server.port}`, timeout_ms: 500 };
  const running = await startPluginHost({
    services,
    files: {
      'gets.ts': `export async function handler({ params }) {
        const said = [];
        for (let i = 0; i < 4; i++) said.push(await fetch(params.url).then(() => 'reached', (error) => error.message));
        return said;
      }\n`,
    },
    entries: [{ id: 'gets', permissions: { relayers: {}, hosts: [host], env: [], kv: false } }],
  });
  t.teardown(() => running.close());
  const { body } = await running.call('gets', { url: `http://rebinds.example.com:${server.port}/fine` });
  t.equal(body.data.length, 4);
  for (const said of body.data) t.not(said, 'reached');
  t.equal(server.seen.length, seen, 'this machine was never asked');
});

t.test('threat 74: the children are started without what would void their restrictions', async (t) => {
  // Threat: a thread or process that a child starts is not bound by the permission model.
  const children = await sandboxChildren();
  t.ok(children.length > 0);
  for (const { command } of children) {
    t.match(command, '--permission');
    t.notMatch(command, /--allow-(worker|child-process|net|fs-write|wasi|inspector)/);
  }
});
