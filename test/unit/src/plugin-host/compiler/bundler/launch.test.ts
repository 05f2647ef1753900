/** Threat: esbuild, or a fault in it, reads files beside the plugins during a build: keystores, `.env`. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import t from 'tap';
import { bundlerHolds, familyMemory, launchWorker } from '../../../../../../src/plugin-host/compiler/bundler/launch.ts';
import { readableFiles } from '../../../../../../src/plugin-host/compiler/readable-files.ts';
import { descendantsOf } from '../../../../../support/processes.ts';

const launchFile = import.meta.resolve('../../../../../../src/plugin-host/compiler/bundler/launch.ts');
const MEMORY_BYTES = 600 * 1_048_576;
const patient = { timeout: 60_000 };

t.test('elsewhere than on Linux only Node itself holds it', async (t) => {
  const [only, ...others] = bundlerHolds(MEMORY_BYTES, ['/plugins'], 'darwin');
  t.same(others, []);
  t.match(only, {
    confinement: { permission: true, files_hidden: false },
    prefix: [],
    roots: ['/plugins'],
    memoryBytes: MEMORY_BYTES,
  });
  t.same(only.enclose([]), []);
});

t.test('the last hold is the weakest', async (t) => {
  const holds = bundlerHolds(MEMORY_BYTES, ['/plugins'], 'linux');
  t.same(holds.at(-1)?.prefix, []);
  t.match(holds.at(-1)?.confinement, { files_hidden: false, memory_limited: false });
});

t.test('the process sees nothing of the environment, leads its own group and is limited', patient, async (t) => {
  if (process.platform !== 'linux') return void t.pass('this system does not tell');
  const [hold] = bundlerHolds(MEMORY_BYTES, []);
  const child = launchWorker(hold, readableFiles([]));
  const started = child.pid ?? 0;
  const channel = child.stdio[3];
  if (!(channel instanceof Socket)) throw new Error('no channel');
  t.teardown(() => channel.destroy());
  // The process reports that it is ready.
  await once(channel, 'data');
  const stat = readFileSync(`/proc/${started}/stat`, 'utf8');
  t.equal(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2], String(started), 'its group is its own');
  const pid =
    (await descendantsOf(started)).find(({ command }) => command.startsWith(process.execPath))?.pid ?? started;
  // The environment is empty, except for the PWD that bwrap sets.
  t.match(readFileSync(`/proc/${pid}/environ`, 'utf8'), /^(PWD=\/\0)?$/);
  t.match(
    readFileSync(`/proc/${pid}/cmdline`, 'utf8'),
    /\0--permission\0.*--max-old-space-size=600\0.*worker-main\.ts/,
  );
  const tools = [...hold.prefix, ...hold.enclose([]).slice(0, 1)];
  const has = (tool: string) => tools.some((part) => part.endsWith(`/${tool}`));
  t.equal(hold.confinement.oom_first, has('choom'));
  t.equal(hold.confinement.memory_limited, has('prlimit'));
  t.equal(hold.confinement.namespaces, has('bwrap'));
  if (has('choom')) t.equal(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'), '1000\n', 'it goes before the service');
  if (has('prlimit')) {
    t.match(readFileSync(`/proc/${pid}/limits`, 'utf8'), /Max data size +1166016512 /);
    t.match(readFileSync(`/proc/${pid}/limits`, 'utf8'), /Max core file size +0 /);
  }
  if (has('bwrap')) {
    for (const file of ['/etc/passwd', `${import.meta.dirname}/../../../../../../config/config.json`]) {
      accessSync(file);
      t.throws(() => accessSync(`/proc/${pid}/root${file}`), { code: 'ENOENT' }, file);
    }
  }
  const exited = once(child, 'exit');
  channel.end();
  t.same(await exited, [null, 'SIGKILL'], 'it ends with its channel');
});

t.test('without a file descriptor left it is not started, and the service goes on', async (t) => {
  const script = `
    import { closeSync, openSync } from 'node:fs';
    import { setTimeout } from 'node:timers/promises';
    import { bundlerHolds, launchWorker } from '${launchFile}';
    const hold = { ...bundlerHolds(${MEMORY_BYTES}, [])[0], filter: undefined, prefix: [], enclose: () => [] };
    const taken = [];
    try { for (;;) taken.push(openSync('/')); } catch {}
    let said = 'nothing';
    try { launchWorker(hold, []); } catch ({ message }) { said = message; }
    taken.forEach((fd) => closeSync(fd));
    await setTimeout(50);
    console.log(said);`;
  const few = ['-c', 'ulimit -n 100; exec "$0" --input-type=module -e "$1"', process.execPath, script];
  const { stdout, stderr } = spawnSync('sh', few, { encoding: 'utf8' });
  t.equal(stdout.trim(), 'there is no file descriptor left for it', stderr);
});

/** Code of a process that holds some memory and reports it. `next` runs before the report. */
const holding = (megabytes: number, next = '') =>
  `const held = Buffer.alloc(${megabytes} * 1048576, 1); ${next} console.log('holds'); setInterval(() => held, 1000);`;

t.test('what a process and its child hold is counted together', async (t) => {
  if (process.platform !== 'linux') return void t.equal(familyMemory(process.pid), 0, 'this system does not tell');
  const inner = holding(100);
  const start = `const { spawn } = require('node:child_process'); const inner = spawn(process.execPath, ['-e', ${JSON.stringify(inner)}], { stdio: ['ignore', 'pipe', 'ignore'] }); inner.stdout.once('data', () => {`;
  const outer = spawn(process.execPath, ['-e', `${start} ${holding(100)} });`], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  t.teardown(() => outer.pid !== undefined && process.kill(-outer.pid, 'SIGKILL'));
  await once(outer.stdout, 'data');
  const megabytes = familyMemory(outer.pid ?? 0) / 1_048_576;
  t.ok(megabytes > 200 && megabytes < 600, `${megabytes} MiB`);
  t.ok(familyMemory(outer.pid ?? 0, 1) / 1_048_576 < megabytes - 100, 'one generation is less');
});

t.test('a process that is gone has none', async (t) => {
  t.equal(familyMemory(2 ** 30), 0);
});
