import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import type { BuildJob } from '../../../../src/plugin-host/build-request.ts';
import { type BundlerHold, bundlerHolds } from '../../../../src/plugin-host/bundler-launch.ts';
import { BundlerLife } from '../../../../src/plugin-host/bundler-life.ts';
import { PluginFolder } from '../../../support/plugin-host.ts';

const modulesDir = resolve(import.meta.dirname, '../../../../sandbox/guest/modules');
const holdOf = (folder: string) => bundlerHolds(768 * 1_048_576, [folder])[0];

function open(t: Test, change: Partial<BundlerHold> = {}) {
  const folder = new PluginFolder({ 'a.ts': 'export const a = 1;', 'b.ts': `export { a } from './a.ts'; let = ;` });
  const life = new BundlerLife({ ...holdOf(folder.path), ...change });
  t.teardown(async () => {
    life.end('closed');
    await life.gone;
    folder.remove();
  });
  const job = (name: string): BuildJob => ({
    kind: 'plugin',
    root: folder.path,
    modulesDir,
    file: join(folder.path, name),
  });
  return { life, job, folder };
}

const errorOf = (build: Promise<unknown>) =>
  build.then(
    () => undefined,
    (reason: unknown) => reason,
  );

t.test('builds side by side, and tells what each is made of', { timeout: 60_000 }, async (t) => {
  const { life, job, folder } = open(t);
  const reads = [new Map<string, string>(), new Map<string, string>()] as const;
  const [a, b] = await Promise.all([
    life.perform(job('a.ts'), reads[0], 50_000),
    life.perform(job('b.ts'), reads[1], 50_000),
  ]);
  t.match(a, { kind: 'built', code: /var a = 1/, map: /"a\.ts"/ });
  t.match(b, { kind: 'failed', problems: [{ place: { file: 'b.ts', line: 1 } }] });
  t.same([...reads[0].keys()], [join(folder.path, 'a.ts')]);
  t.ok(reads[1].has(join(folder.path, 'b.ts')));
  t.equal(life.reason, undefined);
});

t.test('ends at once, twice and late, and says why to each build', { timeout: 60_000 }, async (t) => {
  const { life, job } = open(t);
  const builds = [life.perform(job('a.ts'), new Map(), 50_000), life.perform(job('b.ts'), new Map(), 50_000)];
  life.end('late', 1);
  life.end('closed');
  const [first, second] = await Promise.allSettled(builds);
  t.match(first, { reason: { reason: 'beside', wasAlone: false } }, 'another one was late');
  t.match(second, { reason: { reason: 'late', wasAlone: false } });
  await life.gone;
  life.end('closed');
  t.equal(life.reason, 'late');
});

t.test('what does not come to speak says so', { timeout: 60_000 }, async (t) => {
  for (const prefix of [['/nowhere/at/all'], [process.execPath, '-e', '0', '--']]) {
    const { life, job } = open(t, { prefix });
    t.match(await errorOf(life.perform(job('a.ts'), new Map(), 50_000)), { reason: 'unstarted', wasAlone: true });
    await life.gone;
  }
});

t.test('a process that says what it may not is ended', { timeout: 60_000 }, async (t) => {
  const said = (message: object) => {
    const text = JSON.stringify(message);
    return `const head = Buffer.alloc(8); head.writeUInt32BE(${text.length}); require('node:fs').writeSync(3, Buffer.concat([head, Buffer.from(${JSON.stringify(text)})])); setInterval(() => {}, 1000);`;
  };
  for (const message of [
    { kind: 'other' },
    { kind: 'built', build: 0, code: 1, map: null },
    { kind: 'read', build: 0, files: [['x'.repeat(5000), '']] },
  ]) {
    const { life, job } = open(t, { prefix: [process.execPath, '-e', said(message), '--'] });
    const error = await errorOf(life.perform(job('a.ts'), new Map(), 50_000));
    t.match(error, { reason: 'ended' }, JSON.stringify(message).slice(0, 60));
    await life.gone;
  }
});
