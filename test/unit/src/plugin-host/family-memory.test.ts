import { spawn } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { familyMemory } from '../../../../src/plugin-host/family-memory.ts';

/** A process that holds some memory and says so, and starts another one of its kind. */
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
