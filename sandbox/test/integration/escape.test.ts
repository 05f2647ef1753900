/**
 * Threat: a guest has left its isolate through a bug in V8 or isolated-vm, and runs its own code in the child process
 * with all of Node. It must not reach a file, a socket, a process, a thread, a database or the server. What it writes
 * to its channel may end its process, but must not harm the thread that reads.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { probeLauncher } from '../../driver/confinement.ts';
import { type ChildLauncher, launch, nodeArguments, start } from '../../driver/launch.ts';
import { nativeAddon } from '../../host/compiler/child-program.ts';
import { hostileProgram } from '../support/hostile-sandbox.ts';
import { plugin, ROOT, runs, sandboxProgram, TestSandbox } from '../support/sandbox.ts';

/** The only native module that a child may load, before its first guest. */
function loadedAddon(): string {
  const require = createRequire(import.meta.url);
  const locate = createRequire(require.resolve('isolated-vm'))('node-gyp-build') as { path(folder: string): string };
  return locate.path(path.dirname(require.resolve('isolated-vm')));
}

const full = await probeLauncher(process.platform, nativeAddon());
const hostile = await hostileProgram();
/** Only Node's own restrictions, as on a system without others. */
const bare: ChildLauncher = { prefix: [], confinement: { ...full.confinement, namespaces: false } };

async function openHostile(t: Test, launcher: ChildLauncher): Promise<TestSandbox> {
  const sandbox = new TestSandbox('', (channel) => launch(launcher, hostile, { channel }), launcher);
  t.teardown(() => sandbox.close());
  await sandbox.message('ready');
  await sandbox.load(plugin('', { pluginId: 'hostile' }));
  return sandbox;
}

t.test('what the child process cannot do', async (t) => {
  const server = createServer((socket) => socket.end('reached'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as AddressInfo;
  const folder = await mkdtemp(path.join(os.tmpdir(), 'isolayer-secret-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const secret = path.join(folder, 'secret');
  await writeFile(secret, 'secret');
  const socketFile = path.join(folder, 'socket');
  const unixServer = createServer((socket) => socket.end('reached'));
  await new Promise<void>((resolve) => unixServer.listen(socketFile, resolve));
  t.teardown(() => new Promise((resolve) => unixServer.close(resolve)));
  const addon = loadedAddon();
  const serverPid = process.pid;

  const attempts: Record<string, string> = {
    'read a file beyond its list': `(await import('node:fs')).readFileSync(${JSON.stringify(secret)}, 'utf8')`,
    'read the environment of the server': `(await import('node:fs')).readFileSync('/proc/${serverPid}/environ', 'utf8')`,
    'read the sources of the service': `(await import('node:fs')).readFileSync(${JSON.stringify(path.join(ROOT, 'src/main.ts'))}, 'utf8')`,
    'list the root folder': `(await import('node:fs')).readdirSync('/')`,
    'write a file': `(await import('node:fs')).writeFileSync(${JSON.stringify(path.join(folder, 'written'))}, 'x')`,
    'read the folder of the service': `(await import('node:fs')).readdirSync(${JSON.stringify(ROOT)})`,
    'read the native module that it runs with': `(await import('node:fs')).readFileSync(${JSON.stringify(addon)})`,
    'read who it is': `(await import('node:fs')).readFileSync('/proc/self/status', 'utf8')`,
    'write a report': `process.report.writeReport(${JSON.stringify(path.join(folder, 'report'))})`,
    'connect by TCP': `await new Promise((resolve, reject) => import('node:net').then(({ connect }) =>
      connect(${port}, '127.0.0.1').on('data', resolve).on('error', reject), reject))`,
    'listen on TCP': `await new Promise((resolve, reject) => import('node:net').then(({ createServer }) => {
      const server = createServer().on('error', reject); server.listen(0, '127.0.0.1', resolve); }).catch(reject))`,
    'send by UDP': `await new Promise((resolve, reject) => import('node:dgram').then(({ createSocket }) => {
      const socket = createSocket('udp4').on('error', reject);
      socket.send('x', ${port}, '127.0.0.1', (error) => (error ? reject(error) : resolve('sent'))); }).catch(reject))`,
    'connect to a unix socket': `await new Promise((resolve, reject) => import('node:net').then(({ connect }) =>
      connect(${JSON.stringify(socketFile)}).on('data', resolve).on('error', reject), reject))`,
    'fetch a page': `await (await fetch('http://127.0.0.1:${port}/')).text()`,
    'look up a name': `await (await import('node:dns/promises')).resolve4('example.com')`,
    'start a process': `(await import('node:child_process')).execFileSync('/bin/echo', ['started'])`,
    'fork itself': `(await import('node:child_process')).fork(process.execPath)`,
    'replace itself': `process.execve('/bin/echo', ['echo'], {})`,
    'start a worker': `new (await import('node:worker_threads')).Worker('1', { eval: true })`,
    'start a worker free of the flags': `new (await import('node:worker_threads')).Worker('1', { eval: true, execArgv: [] })`,
    'open a database': `new (await import('node:sqlite')).DatabaseSync(${JSON.stringify(path.join(folder, 'db'))})`,
    'open a foreign library': `(await import('node:ffi')).dlopen('libc.so.6')`,
    'kill the server': `process.kill(${serverPid}, 'SIGTERM') ?? 'sent'`,
    'kill the server by the way below': `process._kill(${serverPid}, 15) ?? 'sent'`,
    'open the inspector of the server': `process._debugProcess(${serverPid}) ?? 'opened'`,
    'open its own inspector': `(await import('node:inspector')).open(0) ?? 'opened'`,
    'debug itself': `new (await import('node:inspector')).Session().connect() ?? 'connected'`,
    'let V8 write its log where it wants': `(await import('node:v8')).setFlagsFromString('--logfile=/x') ?? 'set'`,
    'let V8 write its heap': `(await import('node:v8')).writeHeapSnapshot(${JSON.stringify(path.join(folder, 'heap'))})`,
    'trace into a file': `(await import('node:trace_events')).createTracing({ categories: ['v8'] }).enable() ?? 'traces'`,
    'slow the server': `(await import('node:os')).setPriority(${serverPid}, 19) ?? 'slowed'`,
    'load a native module': `process.dlopen({ exports: {} }, ${JSON.stringify(addon)})`,
    'load a native module by require': `(await import('node:module')).createRequire('/')(${JSON.stringify(addon)})`,
    'take the module system of its program': `globalThis.require('node:module') ?? 'taken'`,
    'get a binding': `process.binding('spawn_sync') ?? 'got'`,
    'get the removed modules back': `process.getBuiltinModule('child_process') ?? 'got'`,
    'leave in order': `process.reallyExit(0)`,
    'drop its user': `process.setuid(65534) ?? 'dropped'`,
    'run WASI': `new (await import('node:wasi')).WASI({ version: 'preview1', preopens: { '/': '/' } }) && 'made'`,
  };
  for (const [name, launcher] of Object.entries({ 'with all restrictions': full, 'with those of Node alone': bare })) {
    t.test(name, async (t) => {
      const sandbox = await openHostile(t, launcher);
      for (const [what, expression] of Object.entries(attempts)) {
        const report = await sandbox.call({ script: `export const attempt = async () => ${expression};` });
        const said = report.logs[0]?.message ?? JSON.stringify(report.outcome);
        t.match(said, /^refused: /, `${what}: ${said}`);
      }
      t.ok(runs(process.pid));
    });
  }
});

t.test('a child without its restrictions refuses to run guests', async (t) => {
  const weaker: [string, (args: string[]) => string[]][] = [
    ['--permission', (args) => args.filter((arg) => !/^--(permission|allow-)/.test(arg))],
    ['allows net', (args) => ['--allow-net', ...args]],
    ['allows worker', (args) => ['--allow-worker', ...args]],
    ['--no-experimental-sqlite', (args) => args.filter((arg) => arg !== '--no-experimental-sqlite')],
  ];
  const program = await sandboxProgram();
  for (const [reason, weaken] of weaker) {
    const line = [process.execPath, ...weaken(nodeArguments())];
    const sandbox = new TestSandbox('', (channel) => start(line, { channel, input: program }), bare);
    const closed = await sandbox.message('closed');
    t.match(closed, { cause: 'start', stderr: /refuses to run guest code/ });
    t.ok(closed.stderr.includes(reason), closed.stderr);
  }
});

t.test('what a hostile child says on its channel costs only itself', async (t) => {
  // One example of each kind of lie. The tests of a subverted child have all of them.
  const raw = (bytes: string) => `({ channel }) => import('node:fs').then(({ writeSync }) => {
    const bytes = ${bytes}; for (let at = 0; at < bytes.length;) try { at += writeSync(3, bytes, at); } catch {} })`;
  const frame = (kind: number, call: number, text: string) =>
    `({ channel }) => { channel.send(${kind}, ${call}, ${JSON.stringify(text)}); channel.flush(); }`;
  const done = (outcome: string) =>
    `{"outcome":${outcome},"usage":{"cpu_ms":1,"calls":0,"heap_bytes":0},"dropped_logs":0,"isolates":1}`;
  const lies: Record<string, string> = {
    'a frame that announces 4 GB': raw('Buffer.from([255, 255, 255, 255, 6, 0, 0, 0, 1])'),
    noise: raw("Buffer.alloc(100_000, 'noise')"),
    'a capability call of a foreign call': frame(5, 77, '{"id":1,"method":"kv.get","params":{}}'),
    'an end with a code of its own': frame(7, 1, done('{"kind":"ended","code":"PAID","message":"x"}')),
  };
  for (const [name, attempt] of Object.entries(lies)) {
    const sandbox = await openHostile(t, full);
    const report = await sandbox.call({ script: `export const attempt = ${attempt};` }, { timeoutMs: 10_000 });
    t.match(report.outcome, { kind: 'ended', code: 'SANDBOX_LOST' }, name);
    t.match(await sandbox.closed(), { cause: 'protocol' }, name);
  }
});

t.test('a child that floods its channel neither fills nor holds up the thread', async (t) => {
  const sandbox = await openHostile(t, full);
  const flood = `({ channel }) => { channel.enter(1); for (;;) channel.send(6, 1, 'log x'); }`;
  const before = process.memoryUsage().rss;
  const report = await sandbox.call({ script: `export const attempt = ${flood};` });
  t.match(report.outcome, { kind: 'ended', code: 'SANDBOX_LOST' });
  t.match(await sandbox.closed(), { cause: 'protocol' });
  t.ok(process.memoryUsage().rss - before < 100e6, 'the memory stays');
});

t.test('a child that spins outside of the guest is found out', async (t) => {
  const sandbox = await openHostile(t, full);
  const report = await sandbox.call({ script: 'export const attempt = () => { for (;;); };' }, { timeoutMs: 8000 });
  t.match(report.outcome, { kind: 'ended' });
  t.match(await sandbox.closed(), { cause: 'overdue' });
});

t.test('the network of the machine is out of sight where the system allows', async (t) => {
  t.ok(full.confinement.permission);
  const sandbox = await openHostile(t, full);
  const { logs } = await sandbox.call({
    script: "export const attempt = async () => JSON.stringify((await import('node:os')).networkInterfaces());",
  });
  t.match(logs[0]?.message, /^succeeded: /);
  // An own network namespace has at most a loopback interface where nothing listens.
  if (full.confinement.namespaces) t.notMatch(logs[0]?.message, '"internal":false');
  const status = await readFile(`/proc/${(await sandbox.pids()).at(-1)}/status`, 'utf8');
  if (full.confinement.no_new_privs) t.match(status, /NoNewPrivs:\t1/);
  const limits = await readFile(`/proc/${(await sandbox.pids()).at(-1)}/limits`, 'utf8');
  if (full.confinement.core_dumps_off) t.match(limits, /Max core file size +0 +0/);
});
