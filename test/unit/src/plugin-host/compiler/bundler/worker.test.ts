import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { encodeFrame } from '../../../../../../sandbox/frames.ts';
import { type BundlerHold, bundlerHolds } from '../../../../../../src/plugin-host/compiler/bundler/launch.ts';
import { BundlerWorker } from '../../../../../../src/plugin-host/compiler/bundler/worker.ts';
import {
  type BuildJob,
  REPORT,
  WORKER_PROTOCOL,
} from '../../../../../../src/plugin-host/compiler/bundler/worker-messages.ts';
import { PluginFolder } from '../../../../../support/plugin-host.ts';

const modulesDir = resolve(import.meta.dirname, '../../../../../../sandbox/guest/modules');
const holdOf = (folder: string) => bundlerHolds(768 * 1_048_576, [folder])[0];

function open(t: Test, change: Partial<BundlerHold> = {}) {
  const folder = new PluginFolder({ 'a.ts': 'export const a = 1;', 'b.ts': `export { a } from './a.ts'; let = ;` });
  const worker = new BundlerWorker({ ...holdOf(folder.path), ...change }, 60_000);
  t.teardown(async () => {
    worker.end('closed');
    await worker.gone;
    folder.remove();
  });
  const job = (name: string): BuildJob => ({
    kind: 'plugin',
    root: folder.path,
    modulesDir,
    file: join(folder.path, name),
  });
  return { worker, job, folder };
}

const problem = { text: 'x', place: { file: 'a.ts', line: 1, column: 1 } };

/** Writes a plugin with this name whose build hangs. */
function hang(folder: PluginFolder, name: string): void {
  folder.write(name, `import 'hanging-${name}';`);
  folder.write(`node_modules/hanging-${name}/index.js`, '');
  folder.write(`node_modules/hanging-${name}/package.json`, '{"main":"./inner"}');
  folder.write(`node_modules/hanging-${name}/inner/index.js`, '');
  execFileSync('mkfifo', [join(folder.path, `node_modules/hanging-${name}/inner/package.json`)]);
}

const errorOf = (build: Promise<unknown>) =>
  build.then(
    () => undefined,
    (reason: unknown) => reason,
  );

t.test('builds side by side, and tells what each is made of', { timeout: 60_000 }, async (t) => {
  const { worker, job, folder } = open(t);
  const reads = [new Map<string, string>(), new Map<string, string>()] as const;
  const [a, b] = await Promise.all([
    worker.perform(job('a.ts'), reads[0], 50_000),
    worker.perform(job('b.ts'), reads[1], 50_000),
  ]);
  t.match(a, { kind: 'built', code: /var a = 1/, map: /"a\.ts"/ });
  t.match(b, { kind: 'failed', problems: [{ place: { file: 'b.ts', line: 1 } }] });
  t.same([...reads[0].keys()], [join(folder.path, 'a.ts')]);
  t.ok(reads[1].has(join(folder.path, 'b.ts')));
  t.ok(worker.isReady);
  t.ok(worker.takesBuilds);
});

t.test('ends at once, twice and late, and says why to each build', { timeout: 60_000 }, async (t) => {
  const { worker, job } = open(t);
  const builds = [worker.perform(job('a.ts'), new Map(), 50_000), worker.perform(job('b.ts'), new Map(), 50_000)];
  worker.end('outdated');
  worker.end('closed');
  for (const build of builds) t.match(await errorOf(build), { reason: 'outdated' });
  await worker.gone;
  worker.end('closed');
  worker.retire();
  t.notOk(worker.takesBuilds);
});

t.test('a build that is late is left, and the worker ends after the others', { timeout: 60_000 }, async (t) => {
  const { worker, job, folder } = open(t);
  hang(folder, 'b.ts');
  t.match(await worker.perform(job('a.ts'), new Map(), 50_000), { kind: 'built' });
  const late = errorOf(worker.perform(job('b.ts'), new Map(), 300));
  hang(folder, 'c.ts');
  const other = errorOf(worker.perform(job('c.ts'), new Map(), 600));
  t.match(await late, { reason: 'late' });
  t.notOk(worker.takesBuilds);
  t.match(await other, { reason: 'late' }, 'it had its time');
  await worker.gone;
});

t.test('retired, it ends after what it is at', { timeout: 60_000 }, async (t) => {
  const { worker, job } = open(t);
  const build = worker.perform(job('a.ts'), new Map(), 50_000);
  worker.retire();
  t.notOk(worker.takesBuilds);
  t.match(await build, { kind: 'built' });
  await worker.gone;
});

t.test('what does not come to speak says so', { timeout: 60_000 }, async (t) => {
  for (const prefix of [['/nowhere/at/all'], [process.execPath, '-e', '0', '--']]) {
    const { worker, job } = open(t, { prefix });
    t.match(await errorOf(worker.perform(job('a.ts'), new Map(), 50_000)), { reason: 'unstarted' });
    await worker.gone;
  }
});

t.test('a process that says what it may not is ended', { timeout: 60_000 }, async (t) => {
  for (const [kind, number, text] of [
    [99, 0, ''],
    [REPORT.READY, WORKER_PROTOCOL + 1, ''],
    [REPORT.READ, 0, JSON.stringify(['x'.repeat(5000), ''])],
    [REPORT.READ, 0, 'no JSON'],
    [REPORT.OVERSIZED, 0, '-1'],
    [REPORT.FAILED, 0, JSON.stringify({ problems: Array.from({ length: 6 }, () => problem), total: 6 })],
    [REPORT.FAILED, 0, JSON.stringify({ problems: [{ ...problem, text: 'x'.repeat(501) }], total: 1 })],
    [REPORT.FAILED, 0, JSON.stringify({ problems: [{ ...problem, more: 1 }], total: 1 })],
  ] as const) {
    const said = encodeFrame(kind, number, text).toString('base64');
    const script = `require('node:fs').writeSync(3, Buffer.from('${said}', 'base64')); setInterval(() => {}, 1000);`;
    const { worker, job } = open(t, { prefix: [process.execPath, '-e', script, '--'] });
    t.match(
      await errorOf(worker.perform(job('a.ts'), new Map(), 50_000)),
      { reason: 'ended' },
      `${kind} ${text.slice(0, 60)}`,
    );
    await worker.gone;
  }
});
