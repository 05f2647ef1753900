/** Threat: a child that lives on after its kill, that cannot be started, or that takes its thread along. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import t, { type Test } from 'tap';
import { eventually } from '../../../../test/support/eventually.ts';
import { FIXED_LIMITS } from '../../../contract.ts';
import { probeLauncher } from '../../../driver/confinement.ts';
import { start } from '../../../driver/launch.ts';
import { serviceNice } from '../../../driver/niceness.ts';
import { ChildProcesses } from '../../../driver/processes.ts';
import { ChildDoor } from '../../../host/child/child-link.ts';
import { nativeAddon } from '../../../host/compiler/child-program.ts';
import { type FromDriverMessage, UP } from '../../../protocol.ts';
import { runs } from '../../support/sandbox.ts';

const launcher = await probeLauncher('darwin', '');
const watch = { busy: true, most_bytes: 1e9, group_nice: 0, process_nice: 0 };

/** Child 1, which runs this command line. */
function started(t: Test, line: readonly string[], most_bytes = 1e9) {
  const messages: FromDriverMessage[] = [];
  const door = new ChildDoor();
  const channel = new Promise<Socket>((resolve) => door.expect(1, resolve));
  const processes = new ChildProcesses({
    ...{ launcher, service: serviceNice(), door: door.address },
    start: (channel) => start(line, { channel }),
    post: (message) => void messages.push(message),
  });
  t.teardown(() => {
    processes.close();
    door.close();
  });
  processes.receive({ type: 'open', child: 1, journal_fd: null, watch: { ...watch, most_bytes } });
  const message = async <T extends FromDriverMessage['type']>(type: T) =>
    (await eventually(
      () => messages.find((one) => one.type === type),
      (found) => found !== undefined,
    )) as Extract<FromDriverMessage, { type: T }>;
  return { processes, messages, message, channel };
}

const script = (text: string) => [process.execPath, '-e', text];

t.test('a child speaks with the host, is sampled, and a kill ends it', async (t) => {
  const echo = "const s = new (require('net').Socket)({ fd: 3 }); s.on('data', (d) => s.write(d));";
  const { processes, message, channel } = started(t, script(echo));
  const socket = await channel;
  socket.write('to the child');
  const [echoed] = await new Promise<Buffer[]>((resolve) => socket.once('data', (chunk: Buffer) => resolve([chunk])));
  t.equal(String(echoed), 'to the child');
  const { pids, rss_bytes, taken_ms } = await message('sample');
  t.ok(pids.length === 1 && pids.every(runs));
  if (process.platform === 'linux') t.ok(rss_bytes > 0 && taken_ms >= 0);
  for (let times = 0; times < 2; times += 1) processes.receive({ type: 'kill', child: 1 });
  t.match(await message('gone'), { child: 1, signal: 'SIGKILL' });
  t.notOk(pids.some(runs));
  for (const type of ['kill', 'sample'] as const) processes.receive({ type, child: 1 });
  processes.receive({ type: 'watch', child: 1, watch });
});

t.test('a child that takes too much memory is killed before the host is asked', async (t) => {
  if (process.platform !== 'linux') return void t.pass('this system does not tell');
  const { message, messages } = started(t, script('setInterval(() => {}, 1000)'), 1e6);
  t.match(await message('gone'), { signal: 'SIGKILL' });
  t.ok(
    messages.some((one) => one.type === 'sample' && one.rss_bytes > 1e6),
    'and the host hears why',
  );
});

t.test('a frame that is too large for the host is parsed, and a lie is told', async (t) => {
  const { processes, messages } = started(t, script('setInterval(() => {}, 1000)'));
  const parsed = (text: string) => {
    processes.receive({ type: 'parse', child: 1, kind: UP.LOG, payload: Buffer.from(text) });
    return messages.at(-1);
  };
  t.match(parsed('log é'), {
    type: 'parsed',
    frame: { kind: UP.LOG, entry: { level: 'log', message: 'é' }, bytes: 8 },
  });
  t.match(parsed('none '), { frame: { kind: 'violation' } });
});

t.test('the last words are kept, and only the last', async (t) => {
  const { message } = started(t, script("process.stderr.write('x'.repeat(100000)); process.stderr.write('the end')"));
  const { stderr, code } = await message('gone');
  t.equal(code, 0);
  t.equal(stderr.length, FIXED_LIMITS.stderr_bytes);
  t.ok(stderr.endsWith('the end'));
});

t.test('a child that is not wanted any more before it has a process is gone at once', async (t) => {
  const { processes, messages } = started(t, script(''));
  processes.receive({ type: 'kill', child: 1 });
  t.match(messages, [{ type: 'gone', code: null }]);
});

t.test('a command that does not exist is an error and an end', async (t) => {
  const { message } = started(t, ['/nonexistent/program']);
  t.match(await message('gone'), { code: null });
  t.match(await message('failed'), { detail: /ENOENT/ });
});

t.test('children that cannot even be tried end alone, and leave nothing open', async (t) => {
  // No program has such a name, so that spawn throws as it does when there is no descriptor left.
  const { processes, messages } = started(t, ['\0']);
  const open = () => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);
  const before = open();
  for (let child = 2; child <= 20; child++) processes.receive({ type: 'open', child, journal_fd: null, watch });
  await eventually(
    () => messages.length,
    (count) => count === 40,
  );
  await eventually(open, (count) => count < before + 20);
  t.match(messages[0], { type: 'failed', child: 1, detail: /null bytes/ });
  t.match(messages[1], { type: 'gone', child: 1 });
});

t.test('without a file descriptor left a child ends alone as well, and its thread goes on', async (t) => {
  const at = (file: string) => JSON.stringify(import.meta.resolve(`../../../${file}`));
  const text = `
    import { closeSync, openSync } from 'node:fs';
    import { setTimeout } from 'node:timers/promises';
    import { probeLauncher } from ${at('driver/confinement.ts')};
    import { launch } from ${at('driver/launch.ts')};
    import { serviceNice } from ${at('driver/niceness.ts')};
    import { ChildProcesses } from ${at('driver/processes.ts')};
    import { ChildDoor } from ${at('host/child/child-link.ts')};
    const launcher = await probeLauncher(process.platform, ${JSON.stringify(nativeAddon())});
    const door = new ChildDoor();
    const said = [];
    const start = (channel) => launch(launcher, '', { channel });
    const processes = new ChildProcesses({ launcher, service: serviceNice(), door: door.address, start, post: (message) => said.push(message) });
    const taken = [];
    try { for (;;) taken.push(openSync('/')); } catch {}
    processes.receive({ type: 'open', child: 7, journal_fd: null, watch: ${JSON.stringify(watch)} });
    await setTimeout(50);
    taken.forEach((fd) => closeSync(fd));
    console.log(JSON.stringify(said.map(({ type, child }) => [type, child])));
    door.close();`;
  const few = ['-c', 'ulimit -n 100; exec "$0" --input-type=module -e "$1"', process.execPath, text];
  const { stdout, stderr } = spawnSync('sh', few, { encoding: 'utf8' });
  t.equal(stdout.trim(), '[["failed",7],["gone",7]]', stderr);
});
