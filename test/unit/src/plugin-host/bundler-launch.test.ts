import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import t from 'tap';
import { bundlerHold, launchBundler } from '../../../../src/plugin-host/bundler-launch.ts';

const MEMORY_BYTES = 600 * 1_048_576;
const patient = { timeout: 60_000 };

t.test('elsewhere than on Linux nothing stands before node', async (t) => {
  t.same(bundlerHold(MEMORY_BYTES, 'darwin'), { prefix: [], memoryBytes: MEMORY_BYTES });
});

t.test('the process sees nothing of the environment, leads its own group and is limited', patient, async (t) => {
  if (process.platform !== 'linux') return void t.pass('this system does not tell');
  const hold = bundlerHold(MEMORY_BYTES);
  const child = launchBundler(hold);
  const pid = child.pid ?? 0;
  const channel = child.stdio[3];
  if (!(channel instanceof Socket)) throw new Error('no channel');
  t.teardown(() => channel.destroy());
  // It says that it is ready.
  await once(channel, 'data');
  t.equal(readFileSync(`/proc/${pid}/environ`, 'utf8'), '');
  t.match(readFileSync(`/proc/${pid}/cmdline`, 'utf8'), /--max-old-space-size=600\0.*bundler-process\.ts/);
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  t.equal(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2], String(pid), 'its group is its own');
  t.equal(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'), '1000\n', 'it goes before the service');
  if (hold.prefix.some((part) => part.endsWith('prlimit'))) {
    t.match(readFileSync(`/proc/${pid}/limits`, 'utf8'), /Max data size +1166016512 /);
    t.match(readFileSync(`/proc/${pid}/limits`, 'utf8'), /Max core file size +0 /);
  }
  const exited = once(child, 'exit');
  channel.end();
  t.same(await exited, [null, 'SIGKILL'], 'it ends with its channel');
});
