/**
 * Threat: a child keeps running after the server was killed, on a system that does not end it. Or the clean-up kills
 * another process that has the same number now.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createOrphanProcesses, killProcess, systemStartTime } from '../../../host/orphans.ts';

const sleeper = () => spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });

t.test('what an earlier server noted and left running is killed by the next', async (t) => {
  const dataDir = t.testdir();
  const child = sleeper();
  const pid = child.pid ?? 0;
  t.teardown(() => child.kill('SIGKILL'));
  await createOrphanProcesses(dataDir, systemStartTime, killProcess).note([pid, 2 ** 30]);
  const ended = once(child, 'exit');
  const next = createOrphanProcesses(dataDir, systemStartTime, killProcess);
  t.same(await next.sweep(), [pid]);
  t.same(await ended, [null, 'SIGKILL']);
  t.same(await next.sweep(), [], 'once');
});

t.test('a process that started at another time, or was forgotten, is left alone', async (t) => {
  const dataDir = t.testdir();
  const killed: number[] = [];
  const orphans = createOrphanProcesses(dataDir, systemStartTime, (pid) => killed.push(pid));
  await orphans.note([process.pid]);
  t.ok(existsSync(join(dataDir, 'children', String(process.pid))));
  orphans.forget([process.pid, 4711]);
  t.same(await orphans.sweep(), []);

  mkdirSync(join(dataDir, 'children'), { recursive: true });
  writeFileSync(join(dataDir, 'children', String(process.pid)), 'long ago');
  writeFileSync(join(dataDir, 'children', '1'), (await systemStartTime(1)) ?? '');
  writeFileSync(join(dataDir, 'children', 'README'), '');
  t.same(await orphans.sweep(), []);
  t.same(killed, []);
});

t.test('without a folder there is nothing to sweep', async (t) => {
  t.same(await createOrphanProcesses('/nowhere/at/all', systemStartTime, killProcess).sweep(), []);
  t.equal(await systemStartTime(2 ** 30), undefined);
  t.ok(await systemStartTime(process.pid));
  t.doesNotThrow(() => killProcess(2 ** 30));
});
