/** Threat: messages for slots that are gone, children that outlive their thread, and one that takes others along. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import t from 'tap';
import { probeLauncher } from '../../../../sandbox/driver/launch.ts';
import { Slots } from '../../../../sandbox/driver/slots.ts';
import { type DriverMessage, PROTOCOL_VERSION } from '../../../../sandbox/protocol.ts';
import { nativeAddon } from '../../../../src/plugin-host/child-program.ts';
import { contextText, guestRuntime, plugin, runs, sandboxProgram } from '../../../support/sandbox.ts';

t.test('slots are opened, fed and closed by their numbers', async (t) => {
  const data = {
    protocol: PROTOCOL_VERSION,
    runtime: await guestRuntime(),
    program: await sandboxProgram(),
    addon: nativeAddon(),
  };
  const messages: DriverMessage[] = [];
  const waiting: (() => void)[] = [];
  const slots = new Slots(data, await probeLauncher(process.platform, nativeAddon()), (message) => {
    messages.push(message);
    for (const wake of waiting.splice(0)) wake();
  });
  const message = async (type: DriverMessage['type'], slot: number): Promise<DriverMessage> => {
    for (;;) {
      const found = messages.find((one) => one.type === type && one.slot === slot);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };

  slots.receive({ type: 'open', slot: 4 });
  slots.receive({ type: 'open', slot: 5 });
  t.throws(() => slots.receive({ type: 'open', slot: 4 }), /open already/);
  slots.receive({ type: 'load', slot: 4, version: plugin("return context.kv.get('x');") });
  await message('loaded', 4);

  const task = { slot: 4, call: 11, version: 'v1', context: contextText({}), timeout_ms: 5000 };
  const report = slots.run(task);
  t.match(await message('request', 4), { call: 11, message: { id: 1, method: 'kv.get' } });
  slots.receive({ type: 'reply', slot: 4, call: 11, message: { id: 1, reply: { ok: true, value: '"kept"' } } });
  t.match(await report, { outcome: { kind: 'returned', json: '"kept"' } });

  const canceled = slots.run({ ...task, call: 12 });
  slots.receive({ type: 'cancel', slot: 4, call: 12 });
  t.match(await canceled, { outcome: { code: 'CANCELED' } });

  for (const late of ['reply', 'cancel', 'close', 'load'] as const) {
    slots.receive({
      type: late,
      slot: 99,
      call: 1,
      reason: '',
      version: plugin(''),
      message: { id: 1, reply: { ok: true, value: null } },
    });
  }
  t.match(await slots.run({ ...task, slot: 99 }), { outcome: { code: 'SANDBOX_LOST' }, lost: true });

  await message('ready', 5);
  slots.close('the thread ends');
  slots.close('the thread ends');
  const pids = messages.flatMap((one) => (one.type === 'spawned' ? one.pids : []));
  await Promise.all([message('closed', 4), message('closed', 5)]);
  t.notOk(pids.some(runs));
});

t.test('a child that cannot even be tried ends alone, and leaves nothing open', async (t) => {
  const data = { protocol: PROTOCOL_VERSION, runtime: '', program: '', addon: '' };
  const messages: DriverMessage[] = [];
  const { confinement } = await probeLauncher(process.platform, nativeAddon());
  // No program has such a name, so that spawn throws as it does when there is no descriptor left.
  const slots = new Slots(data, { confinement, prefix: ['\0'] }, (message) => messages.push(message));
  const open = () => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);
  const before = open();
  for (let slot = 1; slot <= 20; slot++) slots.receive({ type: 'open', slot });
  t.ok(open() < before + 20);
  t.match(messages[19], { type: 'closed', slot: 20, cause: 'start', detail: /null bytes/ });
  t.equal(messages.length, 20);
});

t.test('without a file descriptor left a child ends alone as well, and its thread goes on', async (t) => {
  const at = (file: string) => JSON.stringify(import.meta.resolve(`../../../../sandbox/driver/${file}`));
  const script = `
    import { closeSync, openSync } from 'node:fs';
    import { setTimeout } from 'node:timers/promises';
    import { probeLauncher } from ${at('launch.ts')};
    import { Slots } from ${at('slots.ts')};
    const slots = new Slots({ runtime: '', program: '', addon: '' }, await probeLauncher(process.platform, ${JSON.stringify(nativeAddon())}), (message) => said.push(message));
    const said = [];
    const taken = [];
    try { for (;;) taken.push(openSync('/')); } catch {}
    // One for a journal, and one to read the options of the child with.
    for (const fd of taken.splice(-2)) closeSync(fd);
    slots.receive({ type: 'open', slot: 7 });
    taken.forEach((fd) => closeSync(fd));
    await setTimeout(50);
    console.log(JSON.stringify(said));`;
  const few = ['-c', 'ulimit -n 100; exec "$0" --input-type=module -e "$1"', process.execPath, script];
  const { stdout, stderr } = spawnSync('sh', few, { encoding: 'utf8' });
  const detail = 'there is no file descriptor left for it';
  const closed = { type: 'closed', slot: 7, cause: 'start', detail, culprit: 0, stderr: '' };
  t.equal(stdout.trim(), JSON.stringify([closed]), stderr);
});
