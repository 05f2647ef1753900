/** Threat: a plugin's source crashes, fills or blocks the one process that builds all plugins. */
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { descendantsOf, survivors } from '../../../../../test/support/processes.ts';
import type { BuildJob } from '../../../../host/compiler/build-job.ts';
import { Bundler, type BundlerLimits, BundlerLost } from '../../../../host/compiler/bundler.ts';
import { PluginFolder } from '../../../support/plugin-folder.ts';

const modulesDir = resolve(import.meta.dirname, '../../../../guest/modules');
const MIB = 1_048_576;
const patient = { timeout: 120_000 };
/** Code that makes esbuild use a gigabyte of stack. */
const DEEP = `export const x = ${'['.repeat(1_200_000)}${']'.repeat(1_200_000)};`;
/** Code in which every statement is an error, and each error quotes the whole line. */
const WRONG = 'let a;'.repeat(7000);

function open(t: Test, limits: Partial<BundlerLimits> = {}) {
  const folder = new PluginFolder();
  const bundler = new Bundler({ timeoutMs: 60_000, idleMs: 60_000, memoryBytes: 768 * MIB, ...limits });
  t.teardown(async () => {
    await bundler.close();
    folder.remove();
  });
  let files = 0;
  const job = (text: string): BuildJob => {
    const name = `${files++}.js`;
    folder.write(name, text);
    return { kind: 'plugin', root: folder.path, modulesDir, file: join(folder.path, name) };
  };
  const outputOf = async (text: string) => {
    const built = await bundler.build(job(text));
    return built.kind === 'built' ? built.code : built;
  };
  return { folder, bundler, job, outputOf };
}

/** Writes a package whose build never ends. */
function hangIn(folder: PluginFolder): void {
  folder.write('node_modules/hanging/index.js', '');
  folder.write('node_modules/hanging/package.json', '{"main":"./inner"}');
  folder.write('node_modules/hanging/inner/index.js', '');
  execFileSync('mkfifo', [join(folder.path, 'node_modules/hanging/inner/package.json')]);
}

const errorOf = (build: Promise<unknown>) =>
  build.then(
    () => undefined,
    (reason: unknown) => reason,
  );
const bundlers = async () =>
  (await descendantsOf(process.pid)).filter(({ command }) => /bundler-process|esbuild/.test(command));

t.test('a build that fails is told as it is, and the next one is done', { timeout: 60_000 }, async (t) => {
  const { bundler, job, outputOf } = open(t);
  t.match(await bundler.build(job('let = ;')), {
    kind: 'failed',
    problems: [{ text: /Expected|Unexpected/, place: { file: '0.js', line: 1 } }],
    total: 1,
  });
  t.match(await outputOf('a(1);'), 'a(1);');
});

t.test('code that is nested too deeply is named, and those beside it are done', { timeout: 120_000 }, async (t) => {
  const { bundler, folder, job, outputOf } = open(t);
  const read = new Map<string, string>();
  const killer = errorOf(bundler.build(job(DEEP), read));
  const beside = [outputOf('b(2);'), outputOf('c(3);')];
  t.match(await killer, { reason: /^(memory|ended)$/ }, 'the one that ended it');
  t.same([...read.keys()], [join(folder.path, '0.js')], 'what it was made of is known');
  const [second, third] = await Promise.all(beside);
  t.match(second, 'b(2);');
  t.match(third, 'c(3);');
  t.match(await outputOf('d(4);'), 'd(4);', 'a later one');
});

t.test('errors without end cost the server nothing, and their build ends at its memory', patient, async (t) => {
  if (process.platform !== 'linux') return void t.pass('this system does not tell');
  const { bundler, job } = open(t, { memoryBytes: 400 * MIB });
  const before = process.memoryUsage.rss();
  let most = before;
  const looking = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 10);
  const [wrong, beside] = await Promise.all([errorOf(bundler.build(job(WRONG))), bundler.build(job('b(2);'))]);
  clearInterval(looking);
  t.match(wrong, { reason: 'memory' });
  t.match(beside, { kind: 'built', code: /b\(2\);/ });
  t.ok(most - before < 100 * MIB, `${Math.round((most - before) / MIB)} MiB more in this process`);
});

t.test('a package in one long line is built, however many of its calls name no file', patient, async (t) => {
  const { bundler, job } = open(t, { memoryBytes: 400 * MIB });
  const built = await bundler.build(job(`${'require(n);'.repeat(50)}s="${'x'.repeat(4 * MIB)}";`));
  t.equal(built.kind, 'built');
});

t.test('builds that hang hold up none that is begun with them or later', { timeout: 120_000 }, async (t) => {
  const { bundler, folder, job, outputOf } = open(t, { timeoutMs: 4000 });
  hangIn(folder);
  let ended = 0;
  // So many that some still wait for their turn when the test ends, even on a slow machine.
  const hanging = Array.from({ length: 20 }, async () => {
    const error = await errorOf(bundler.build(job(`import 'hanging';`)));
    ended += 1;
    return error;
  });
  t.match(await outputOf('beside();'), 'beside();');
  const lost: unknown[] = [];
  for (const end = performance.now() + 60_000; ended === 0 && performance.now() < end; ) {
    const output = await outputOf('other();');
    if (typeof output !== 'string') lost.push(output);
    await sleep(250);
  }
  t.strictSame(lost, [], 'all others are built meanwhile');
  t.equal(ended, 1, 'those that hang are tried one after the other');
  t.match(await outputOf('n(14);'), 'n(14);');
  t.ok(ended < hanging.length, 'nobody waited until all of them had ended');
  await bundler.close();
  const reasons = await Promise.all(hanging);
  t.match(reasons[0], { reason: 'late' });
  t.match(reasons.at(-1), { reason: 'closed' });
});

t.test('a build that is outdated neither waits for its turn by itself nor is gone on with', patient, async (t) => {
  const { bundler, folder, job, outputOf } = open(t, { timeoutMs: 4000 });
  hangIn(folder);
  const hang = (signal?: AbortSignal) => errorOf(bundler.build(job(`import 'hanging';`), new Map(), signal));
  const outdated = new AbortController();
  const hanging = Array.from({ length: 4 }, () => hang(outdated.signal));
  t.match(await Promise.race(hanging), { reason: 'late' });
  outdated.abort();
  const lost = (await Promise.all(hanging)).map((error) => (error instanceof BundlerLost ? error.reason : error));
  t.equal(lost.filter((reason) => reason === 'outdated').length, 3, lost.join());
  t.match(await outputOf('o(15);'), 'o(15);');
  for (const error of await Promise.all([hang(), hang()])) {
    t.match(error, { reason: 'late' }, 'others have their turn');
  }
});

t.test('closing ends a build under way and those that wait, and leaves no process', patient, async (t) => {
  if (process.platform !== 'linux') return void t.pass('this system does not tell');
  const { bundler, folder, job, outputOf } = open(t);
  t.match(await outputOf('first();'), 'first();');
  hangIn(folder);
  const builds = [errorOf(bundler.build(job(`import 'hanging';`))), errorOf(bundler.build(job(`import 'hanging';`)))];
  const running = await bundlers();
  t.ok(running.length >= 1, 'a process builds');
  await Promise.all([bundler.close(), bundler.close()]);
  for (const error of await Promise.all(builds)) t.match(error, { reason: 'closed' });
  t.same(await survivors(running, 10_000), []);
  t.match(await outputOf('later();'), 'later();', 'a later build starts another one');
  await bundler.close();
  await bundler.close();
});

t.test('a process without a build ends after a while', patient, async (t) => {
  if (process.platform !== 'linux') return void t.pass('this system does not tell');
  const { outputOf } = open(t, { idleMs: 100 });
  t.same(await bundlers(), [], 'none before the first build');
  t.match(await outputOf('f(6);'), 'f(6);');
  t.same(await survivors(await bundlers(), 10_000), []);
  t.same(await bundlers(), []);
  t.match(await outputOf('g(7);'), 'g(7);');
});

t.test('a process that is ended from outside costs no build', patient, async (t) => {
  if (process.platform !== 'linux') return void t.pass('this system does not tell');
  const { bundler, job, outputOf } = open(t);
  await outputOf('h(8);');
  const builds = ['i(9);', 'j(10);'].map((text) => bundler.build(job(text)));
  for (const { pid } of await bundlers()) process.kill(pid, 'SIGKILL');
  for (const built of await Promise.all(builds)) t.match(built, { kind: 'built' });
});
