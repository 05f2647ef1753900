/** Threat: messages for children that are gone, children that outlive their thread, and one that takes others along. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import t from 'tap';
import { Children } from '../../../driver/children.ts';
import { probeLauncher } from '../../../driver/confinement.ts';
import { nativeAddon } from '../../../host/compiler/child-program.ts';
import { type DriverMessage, PROTOCOL_VERSION } from '../../../protocol.ts';
import { contextText, guestRuntime, plugin, runs, sandboxProgram } from '../../support/sandbox.ts';

t.test('children are opened, fed and closed by their numbers', async (t) => {
  const data = {
    protocol: PROTOCOL_VERSION,
    runtime: await guestRuntime(),
    program: await sandboxProgram(),
    addon: nativeAddon(),
  };
  const messages: DriverMessage[] = [];
  const waiting: (() => void)[] = [];
  const children = new Children(data, await probeLauncher(process.platform, nativeAddon()), (message) => {
    messages.push(message);
    for (const wake of waiting.splice(0)) wake();
  });
  const message = async (type: DriverMessage['type'], child: number): Promise<DriverMessage> => {
    for (;;) {
      const found = messages.find((one) => one.type === type && one.child === child);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };

  children.receive({ type: 'open', child: 4 });
  children.receive({ type: 'open', child: 5 });
  t.throws(() => children.receive({ type: 'open', child: 4 }), /open already/);
  children.receive({ type: 'load', child: 4, version: plugin("return context.kv.get('x');") });
  await message('loaded', 4);

  const task = { child: 4, call: 11, version: 'v1', context: contextText({}), timeout_ms: 5000 };
  const report = children.run(task);
  t.match(await message('request', 4), { call: 11, message: { id: 1, method: 'kv.get' } });
  children.receive({ type: 'reply', child: 4, call: 11, message: { id: 1, reply: { ok: true, value: '"kept"' } } });
  t.match(await report, { outcome: { kind: 'returned', json: '"kept"' } });

  const canceled = children.run({ ...task, call: 12 });
  children.receive({ type: 'cancel', child: 4, call: 12 });
  t.match(await canceled, { outcome: { code: 'CANCELED' } });

  for (const late of ['reply', 'cancel', 'close', 'load'] as const) {
    children.receive({
      type: late,
      child: 99,
      call: 1,
      reason: '',
      version: plugin(''),
      message: { id: 1, reply: { ok: true, value: null } },
    });
  }
  t.match(await children.run({ ...task, child: 99 }), { outcome: { code: 'SANDBOX_LOST' }, lost: true });

  await message('ready', 5);
  children.close('the thread ends');
  children.close('the thread ends');
  const pids = messages.flatMap((one) => (one.type === 'spawned' ? one.pids : []));
  await Promise.all([message('closed', 4), message('closed', 5)]);
  t.notOk(pids.some(runs));
});

t.test('a child that cannot even be tried ends alone, and leaves nothing open', async (t) => {
  const data = { protocol: PROTOCOL_VERSION, runtime: '', program: '', addon: '' };
  const messages: DriverMessage[] = [];
  const { confinement } = await probeLauncher(process.platform, nativeAddon());
  // No program has such a name, so that spawn throws as it does when there is no descriptor left.
  const children = new Children(data, { confinement, prefix: ['\0'] }, (message) => messages.push(message));
  t.teardown(() => children.close('the test is over'));
  const open = () => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);
  const before = open();
  for (let child = 1; child <= 20; child++) children.receive({ type: 'open', child });
  t.ok(open() < before + 20);
  t.match(messages[19], { type: 'closed', child: 20, cause: 'start', detail: /null bytes/ });
  t.equal(messages.length, 20);
});

t.test('without a file descriptor left a child ends alone as well, and its thread goes on', async (t) => {
  const at = (file: string) => JSON.stringify(import.meta.resolve(`../../../driver/${file}`));
  const script = `
    import { closeSync, openSync } from 'node:fs';
    import { setTimeout } from 'node:timers/promises';
    import { probeLauncher } from ${at('confinement.ts')};
    import { Children } from ${at('children.ts')};
    const children = new Children({ runtime: '', program: '', addon: '' }, await probeLauncher(process.platform, ${JSON.stringify(nativeAddon())}), (message) => said.push(message));
    const said = [];
    const taken = [];
    try { for (;;) taken.push(openSync('/')); } catch {}
    // One for a journal, and one to read the options of the child with.
    for (const fd of taken.splice(-2)) closeSync(fd);
    children.receive({ type: 'open', child: 7 });
    taken.forEach((fd) => closeSync(fd));
    await setTimeout(50);
    console.log(JSON.stringify(said));`;
  const few = ['-c', 'ulimit -n 100; exec "$0" --input-type=module -e "$1"', process.execPath, script];
  const { stdout, stderr } = spawnSync('sh', few, { encoding: 'utf8' });
  const detail = 'there is no file descriptor left for it';
  const closed = { type: 'closed', child: 7, cause: 'start', detail, culprit: 0, stderr: '' };
  t.equal(stdout.trim(), JSON.stringify([closed]), stderr);
});
