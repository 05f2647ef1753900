/** Threat: a child that reaches who started it, or keeps it from its work; a starter that dies, or hangs, with children. */
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { Child, type Gone } from '../../../../../sandbox/driver/child/child.ts';
import type { Launcher } from '../../../../../sandbox/driver/child/launch.ts';
import { Starter } from '../../../../../sandbox/driver/starter/starter.ts';
import { encodeFrame } from '../../../../../sandbox/frames.ts';
import { FIXED_LIMITS } from '../../../../../sandbox/protocol.ts';
import { eventually } from '../../../../support/plugin-host.ts';
import { descendantsOf, survivors } from '../../../../support/processes.ts';
import { scriptedLauncher } from '../../../../support/scripted-launcher.ts';

/** Echoes what it is sent. */
const ECHO = 'exec cat <&3 >&3';
/** Neither reads nor ends. */
const SPIN = 'while :; do :; done';
const GONE_WITHIN_MS = 5000;

if (process.platform !== 'linux') t.bailout('only Linux has a starter');

/** A starter whose children run this script, and the process that it is. */
async function begin(t: Test, children: string | Launcher, answerMs?: number) {
  const launcher = typeof children === 'string' ? scriptedLauncher(children) : children;
  const before = new Set((await starters()).map(({ pid }) => pid));
  const starter = new Starter(launcher, 'no program', answerMs);
  await eventually(
    () => starter.state,
    (state) => state === 'ready',
  );
  const [found] = (await starters()).filter(({ pid }) => !before.has(pid));
  if (found === undefined) throw new Error('there is no starter among the processes');
  t.teardown(() => killed(found.pid));
  return { starter, launcher, process: found, pid: found.pid };
}

async function starters() {
  return (await descendantsOf(process.pid)).filter(({ command }) => command.includes('isolayer-starter'));
}

function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function open(starter: Starter, launcher: Launcher, journalFd?: number) {
  const gone = Promise.withResolvers<Gone>();
  const said = Promise.withResolvers<Buffer>();
  const errors: Error[] = [];
  const child = new Child(starter.start(journalFd), launcher, {
    onBytes: said.resolve,
    onError: (error) => errors.push(error),
    onGone: gone.resolve,
  });
  return { child, errors, said: said.promise, gone: gone.promise };
}

async function pidOf(child: Child): Promise<number> {
  return (
    (await eventually(
      () => child.startedPid,
      (pid) => pid !== undefined,
    )) ?? 0
  );
}

/** What this process has open, by descriptor, but for what came from who started the tests. */
function openFiles(pid: number): Record<string, string> {
  const fds = readdirSync(`/proc/${pid}/fd`);
  const links = fds.filter((fd) => Number(fd) < 100).map((fd) => [fd, linkOf(`/proc/${pid}/fd/${fd}`)]);
  return Object.fromEntries(links);
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return 'closed just now';
  }
}

t.test('a child is the starter’s, has a session of its own, speaks on its channel, and ends by a kill', async (t) => {
  const { starter, launcher, pid } = await begin(t, ECHO);
  const { child, said, gone, errors } = open(starter, launcher);
  child.send(3, 9, 'text');
  t.same(await said, encodeFrame(3, 9, 'text'), 'what was sent before it had started reaches it');
  const started = await pidOf(child);
  // proc_pid_stat(5): parent, group and session follow the state.
  const [, parent, group, session] = readFileSync(`/proc/${started}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  t.same([parent, group, session].map(Number), [pid, started, started]);
  child.kill();
  child.kill();
  t.same(await gone, { code: null, signal: 'SIGKILL', stderr: '' });
  t.throws(() => process.kill(started, 0), { code: 'ESRCH' }, 'it has been collected');
  t.same(errors, []);
});

t.test('a child has its own descriptors only, and the starter keeps none that it could be heard on', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'isolayer-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const journalFd = openSync(path.join(folder, 'journal'), 'w+');
  const { starter, launcher, pid } = await begin(t, ECHO);
  const children = [1, 2, 3].map(() => open(starter, launcher, journalFd));
  for (const { child, said } of children) {
    child.send(1, 1, '');
    await said;
  }
  const pids = await Promise.all(children.map(({ child }) => pidOf(child)));
  const sockets = (of: number) => Object.values(openFiles(of)).filter((file) => file.startsWith('socket:'));
  for (const one of pids) {
    const { 4: journal, ...files } = openFiles(one);
    t.equal(journal, path.join(folder, 'journal'));
    t.same(Object.keys(files), ['0', '1', '2', '3']);
    const others = [pid, process.pid, ...pids.filter((other) => other !== one)].flatMap(sockets);
    t.same(
      sockets(one).filter((file) => others.includes(file)),
      [],
    );
  }
  await eventually(
    () => sockets(pid).length,
    // Its own channel and standard input, and the standard error of each.
    (count) => count <= 2 + pids.length,
  );
  t.ok(sockets(pid).length <= 2 + pids.length);
  const channels = pids.map((one) => openFiles(one)[3]);
  t.same(
    channels.filter((channel) => sockets(pid).includes(channel ?? '')),
    [],
  );
  for (const { child } of children) child.kill();
  t.match(
    await Promise.all(children.map(({ gone }) => gone)),
    [1, 2, 3].map(() => ({ signal: 'SIGKILL' })),
  );
  closeSync(journalFd);
});

t.test('what a child says while this side is held up is not lost', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'isolayer-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const spoken = path.join(folder, 'spoken');
  const { starter, launcher } = await begin(t, `echo early >&3; mkdir ${spoken}; ${ECHO}`);
  const { child, said, gone } = open(starter, launcher);
  const end = performance.now() + GONE_WITHIN_MS;
  // Nobody takes the channel over meanwhile, and the starter has a moment in which it could read.
  while (!existsSync(spoken) && performance.now() < end);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  t.equal((await said).toString(), 'early\n');
  child.kill();
  await gone;
});

t.test('whatever a child does while it starts and ends, it is told, and the next one starts', async (t) => {
  const cases: readonly { script: string; kill?: boolean; gone: Partial<Gone> & object }[] = [
    { script: 'echo last words >&2; exit 3', gone: { code: 3, signal: null, stderr: 'last words\n' } },
    { script: 'kill -SEGV $$', gone: { code: null, signal: 'SIGSEGV' } },
    { script: 'exec 0<&- 1>&- 2>&- 3>&-; exec sleep 600', kill: true, gone: { signal: 'SIGKILL', stderr: '' } },
    { script: 'exec yes overflowing >&2', kill: true, gone: { signal: 'SIGKILL', stderr: /overflowing/ as never } },
    // One that holds its parent's standard error and channel for longer than anybody waits.
    { script: 'sleep 4 & exit 5', gone: { code: 5, signal: null } },
  ];
  for (const { script, kill, gone } of cases) {
    const { starter, launcher } = await begin(t, script);
    const one = open(starter, launcher);
    await pidOf(one.child);
    if (kill === true) one.child.kill();
    const end = await one.gone;
    t.match(end, gone, script);
    t.ok(end.stderr.length <= FIXED_LIMITS.stderr_bytes);
    const next = open(starter, launcher);
    next.child.kill();
    await next.gone;
    t.equal(starter.state, 'ready', script);
  }
});

t.test('a child that floods its standard error holds up neither starts nor kills', async (t) => {
  // The first floods, the others echo.
  const folder = mkdtempSync(path.join(tmpdir(), 'isolayer-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const { starter, launcher } = await begin(t, `mkdir ${folder}/first 2>&- && exec yes >&2; ${ECHO}`);
  const flood = open(starter, launcher);
  await eventually(
    () => readdirSync(folder).length,
    (count) => count === 1,
  );
  for (let round = 0; round < 3; round += 1) {
    const { child, said, gone } = open(starter, launcher);
    child.send(1, 1, '');
    await said;
    child.kill();
    t.match(await gone, { signal: 'SIGKILL' });
  }
  flood.child.kill();
  t.match(await flood.gone, { signal: 'SIGKILL' });
  t.same(flood.errors, []);
});

t.test('a kill before the start has been answered holds', async (t) => {
  const { starter, launcher, pid } = await begin(t, SPIN);
  process.kill(pid, 'SIGSTOP');
  const { child, gone } = open(starter, launcher);
  child.kill();
  process.kill(pid, 'SIGCONT');
  t.match(await gone, { code: null, signal: 'SIGKILL' });
  t.equal(starter.state, 'ready');
  t.same(await survivors(await descendantsOf(pid), GONE_WITHIN_MS), []);
});

t.test('what cannot be started is an error and an end', async (t) => {
  const { starter, launcher } = await begin(t, { ...scriptedLauncher(''), prefix: ['/nonexistent/program'] });
  const { errors, gone, child } = open(starter, launcher);
  t.same(await gone, { code: null, signal: null, stderr: '' });
  t.match(errors, [{ message: /ENOENT/ }]);
  t.same(child.pids, []);
  // The journal's descriptor is not there.
  t.match(await open(starter, launcher, 9999).gone, { code: null, signal: null });
});

t.test('a starter that is killed takes its children along', async (t) => {
  const { starter, launcher, pid } = await begin(t, SPIN);
  const children = [open(starter, launcher), open(starter, launcher)];
  await Promise.all(children.map(({ child }) => pidOf(child)));
  const watched = await descendantsOf(pid);
  t.equal(watched.length, 2);
  process.kill(pid, 'SIGKILL');
  for (const { gone } of children) t.match(await gone, { code: null, signal: 'SIGKILL' });
  t.equal(starter.state, 'gone');
  t.same(await survivors(watched, GONE_WITHIN_MS), []);
  for (const { child } of children) child.kill();
});

t.test('one that does not answer is killed, with its children', async (t) => {
  const { starter, launcher, process: watchedStarter, pid } = await begin(t, SPIN, 2000);
  const living = open(starter, launcher);
  await pidOf(living.child);
  const watched = [watchedStarter, ...(await descendantsOf(pid))];
  process.kill(pid, 'SIGSTOP');
  const wanted = open(starter, launcher);
  t.match(await Promise.all([wanted.gone, living.gone]), [{ signal: 'SIGKILL' }, { signal: 'SIGKILL' }]);
  t.equal(starter.state, 'gone');
  t.same(await survivors(watched, GONE_WITHIN_MS), []);
});

t.test('one that is closed ends after its last child', async (t) => {
  const { starter, launcher, process: watched } = await begin(t, ECHO);
  const { child, said, gone } = open(starter, launcher);
  starter.close();
  child.send(1, 1, '');
  await said;
  t.equal(starter.state, 'ready');
  child.kill();
  await gone;
  starter.close();
  t.same(await survivors([watched], GONE_WITHIN_MS), []);
  starter.close();
});

t.test('one that cannot begin is unfit', async (t) => {
  const starter = new Starter(scriptedLauncher(SPIN, ['/nonexistent/program']), '');
  await eventually(
    () => starter.state,
    (state) => state !== 'starting',
  );
  t.equal(starter.state, 'unfit');
});
