/**
 * Threat: a plugin file does harm when it is compiled: it takes the compiler's memory, crashes it, or blocks it. The
 * server must not lose memory or time, and other plugins must still be built. If one of these fails, look at
 * `sandbox/host/compiler/bundler.ts`.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { descendantsOf, survivors } from '../support/processes.ts';
import { startService } from '../support/service.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const MIB = 1_048_576;
const good = (said: string) => `export async function handler() { return '${said}'; }\n`;

const workspace = await createWorkspace({
  pluginFiles: { 'honest.ts': good('honest') },
  env: { RATE_LIMIT_REQUESTS_PER_SECOND: '100000', RATE_LIMIT_BURST_SIZE: '100000' },
});
t.teardown(() => workspace.remove());
const service = await startService(workspace.env);
t.teardown(() => service.kill());

/** Makes a package that plugins may import, and returns the folder for its main file. */
async function packageFolder({ dir }: Workspace, name: string): Promise<string> {
  const folder = join(dir, 'plugins', 'node_modules', name);
  await mkdir(join(folder, 'inner'), { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"main":"./inner"}');
  return join(folder, 'inner');
}

async function residentBytes(pid: number, which: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(new RegExp(`^${which}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * 1024;
}

t.test('sources that take memory without end fail by themselves', { timeout: 300_000 }, async (t) => {
  const zero = join(await packageFolder(workspace, 'zero'), 'package.json');
  await writeFile(zero, '');
  // A sparse file, larger than all memory that the bundler may use.
  await truncate(zero, 8192 * MIB);
  const before = await residentBytes(service.pid, 'VmRSS');
  const hostile = {
    wrong: `export const handler = 1;${'let a;'.repeat(7000)}`,
    deep: `export const handler = ${'['.repeat(1_200_000)}${']'.repeat(1_200_000)};`,
    endless: "import zero from 'zero';\nexport const handler = () => zero;\n",
  };
  for (const [id, source] of Object.entries(hostile)) await workspace.writePlugin(`${id}.ts`, source);
  await workspace.writePlugin('beside.ts', good('beside'));

  const waiting = new Set(['beside', ...Object.keys(hostile)]);
  const end = performance.now() + 240_000;
  for (let calls = 0; waiting.size > 0 && performance.now() < end; calls += 1) {
    const honest = await service.call('honest');
    if (honest.status !== 200) t.fail(`call ${calls} of another plugin: ${JSON.stringify(honest.body)}`);
    for (const id of waiting) {
      const { status, body } = await service.call(id);
      // The plugin has not been found yet, or is still being compiled.
      if (status === 404 || (status === 503 && /being compiled/.test(body.error))) continue;
      waiting.delete(id);
      if (id === 'beside') t.match(body, { data: 'beside' });
      else {
        t.match(body, { data: { code: 'COMPILE_ERROR', details: { file: `plugins/${id}.ts` } } });
        t.match(body.error, /is compiled again when a file that it is made of changes/);
      }
    }
    await delay(100);
  }
  t.strictSame([...waiting], [], 'each is built, or has failed');
  const grown = ((await residentBytes(service.pid, 'VmHWM')) - before) / MIB;
  t.ok(grown < 200, `the server never had more than ${grown.toFixed(0)} MiB more`);

  await workspace.writePlugin('wrong.ts', good('mended'));
  let mended = await service.call('wrong');
  while (mended.status !== 200 && performance.now() < end) {
    await delay(100);
    mended = await service.call('wrong');
  }
  t.match(mended.body, { data: 'mended' });
  const { body } = await service.request('GET', '/api/v1/ready');
  t.match(body, { components: { plugins: { confinement: { permission: true } } } });
});

t.test('a build that hangs does not hold up the end', { timeout: 120_000 }, async (t) => {
  const pipe = join(await packageFolder(workspace, 'hanging'), 'package.json');
  execFileSync('mkfifo', [pipe]);
  await workspace.writePlugin('hangs.ts', "import x from 'hanging';\nexport const handler = () => x;\n");
  const writer = await openedForReading(pipe);
  t.teardown(() => closeSync(writer));
  const family = await descendantsOf(service.pid);
  const began = performance.now();
  t.equal(await service.stop(), 0);
  // The build itself would have been ended after half a minute.
  const took = (performance.now() - began) / 1000;
  t.ok(took < 20, `${took.toFixed(1)} s`);
  t.strictSame(await survivors(family, 10_000), []);
});

t.test('a build that hangs does not hold up the end of a start', { timeout: 120_000 }, async (t) => {
  const workspace = await createWorkspace({ pluginFiles: { 'honest.ts': good('honest') } });
  t.teardown(() => workspace.remove());
  const pipe = join(await packageFolder(workspace, 'hanging'), 'package.json');
  execFileSync('mkfifo', [pipe]);
  await workspace.writePlugin('hangs.ts', "import x from 'hanging';\nexport const handler = () => x;\n");
  const root = join(import.meta.dirname, '..', '..');
  const server = spawn(process.execPath, [join(root, 'src', 'main.ts')], { cwd: root, env: workspace.env });
  t.teardown(() => server.kill('SIGKILL'));
  let said = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (chunk) => (said += chunk));
  const closed = once(server, 'close');
  const writer = await openedForReading(pipe);
  t.teardown(() => closeSync(writer));
  const family = await descendantsOf(server.pid ?? 0);
  t.ok(family.length > 0, 'it is being built');
  server.kill('SIGTERM');
  t.strictSame(await closed, [0, null], said);
  t.match(said, /^SIGTERM: finishing/m);
  t.notMatch(said, 'still being compiled', 'nobody waited until the patience of a start was over');
  t.notMatch(said, '"msg":"ready"');
  t.strictSame(await survivors(family, 10_000), []);
});

/** Opens a pipe for writing once somebody reads from it. */
async function openedForReading(pipe: string): Promise<number> {
  const end = performance.now() + 60_000;
  for (;;) {
    try {
      return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if (performance.now() > end) throw error;
      await delay(20);
    }
  }
}
