/** Threat: a starter that outlives who it works for, or that begins where it cannot do its work. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { READ_PROGRAM } from '../../../../../sandbox/driver/child/launch.ts';
import type { FromStarter, ToStarter } from '../../../../../sandbox/driver/starter/messages.ts';
import { starterProgram } from '../../../../../sandbox/driver/starter/program.ts';
import { descendantsOf, survivors } from '../../../../support/processes.ts';

const SPIN = ['/bin/sh', '-c', 'while :; do :; done'];
const GONE_WITHIN_MS = 5000;

if (process.platform !== 'linux') t.bailout('only Linux has a starter');

/** The program as the only text that Node is given, in the service of this process. */
function run(t: Test, line: readonly string[], service = process.pid): ChildProcess {
  const child = spawn(process.execPath, ['--input-type=commonjs', '--no-strip-types', '--eval', READ_PROGRAM], {
    env: {},
    stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  child.stdin?.on('error', () => undefined).end(starterProgram({ line, program: '', service }));
  return child;
}

async function said(starter: ChildProcess): Promise<FromStarter> {
  const [message] = (await once(starter, 'message')) as [FromStarter];
  return message;
}

function tell(starter: ChildProcess, message: ToStarter): void {
  starter.send(message);
}

t.test('it says when it is ready, who it started, and how that ended', async (t) => {
  const starter = run(t, ['/bin/sh', '-c', 'echo words >&2; exit 7']);
  t.same(await said(starter), { type: 'ready' });
  tell(starter, { type: 'kill', child: 5 });
  tell(starter, { type: 'start', child: 5 });
  t.match(await said(starter), { type: 'started', child: 5, pid: Number });
  const messages = [await said(starter), await said(starter), await said(starter)];
  t.same(messages, [
    { type: 'channel', child: 5 },
    { type: 'exited', child: 5, code: 7, signal: null },
    { type: 'closed', child: 5, stderr: 'words\n' },
  ]);
});

t.test('when nobody is there to tell it anything it ends, with its children', async (t) => {
  const starter = run(t, SPIN);
  await said(starter);
  tell(starter, { type: 'start', child: 1 });
  tell(starter, { type: 'start', child: 2 });
  for (let heard = 0; heard < 4; heard += 1) await said(starter);
  const watched = await descendantsOf(starter.pid ?? 0);
  t.equal(watched.length, 2);
  const exited = once(starter, 'exit');
  starter.disconnect();
  t.same(await exited, [0, null]);
  t.same(await survivors(watched, GONE_WITHIN_MS), []);
});

t.test('where it may not see what the service has open it does not begin', async (t) => {
  // No process has this number: see proc_sys_kernel(5), pid_max.
  const starter = run(t, SPIN, 2 ** 22 + 1);
  const [code] = (await once(starter, 'exit')) as [number];
  t.not(code, 0);
});
