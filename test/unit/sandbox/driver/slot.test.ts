/** Threat: a slot whose child is not what it should be: late, broken, too large, or gone. */
import t from 'tap';
import { probeLauncher, start } from '../../../../sandbox/driver/launch.ts';
import { guestRuntime, plugin, runs, TestSlot } from '../../../support/sandbox.ts';

const bare = await probeLauncher('darwin', '');
const runtime = await guestRuntime();

t.test('opens, loads, runs, closes', async (t) => {
  const slot = await TestSlot.open(runtime);
  const { pids, confinement } = await slot.message('spawned');
  t.ok(pids.length > 0 && pids.every(runs));
  t.equal(confinement.permission, true);
  t.match(await slot.call(), { outcome: { code: 'SANDBOX_LOST' }, lost: true }, 'nothing is loaded yet');
  t.match(await slot.load(plugin('return context.params;')), { version: 'v1', failure: null });
  t.match(await slot.call({ a: 1 }), { outcome: { kind: 'returned', json: '{"a":1}' } });
  t.match(await slot.close(), { cause: 'closed', culprit: 0 });
  t.notOk(pids.some(runs));
  t.equal(slot.messages.filter(({ type }) => type === 'closed').length, 1);
});

t.test('a runtime that is broken ends the slot at the first load', async (t) => {
  const slot = new TestSlot('this is no program', () => start(['/bin/true']), bare);
  t.match(await slot.closed(), { cause: 'start', culprit: 0 });
});

t.test('a process that dies before it was ready says why', async (t) => {
  const dying = [process.execPath, '-e', "process.stderr.write('no reason'); process.exit(3)"];
  const slot = new TestSlot(runtime, () => start(dying), bare);
  t.match(await slot.closed(), { cause: 'start', detail: /exit code 3/, stderr: 'no reason' });
  slot.slot.load(plugin(''));
  t.match(await slot.call(), { lost: true });
});

t.test('a kill from outside blames no call', async (t) => {
  const slot = await TestSlot.open(runtime);
  const busy = "await context.kv.get('begun').catch(() => {}); for (;;) await null;";
  await slot.load(plugin(busy, { limits: { slice_ms: 10_000, cpu_ms: 10_000 } }));
  const call = slot.call();
  await slot.request(1);
  slot.slot.reply(slot.lastCall, { id: 1, reply: { ok: true, value: null } });
  const pid = (await slot.pids()).at(-1) ?? 0;
  process.kill(pid, 'SIGKILL');
  t.match(await call, { outcome: { code: 'SANDBOX_LOST' }, lost: true });
  t.match(await slot.closed(), { cause: 'died', culprit: 0, detail: /SIGKILL/ });
});

t.test('a crash inside the guest blames the call that was there', async (t) => {
  const slot = await TestSlot.open(runtime);
  await slot.load(
    plugin(
      `if (context.params.wait) { await new Promise(() => {}); }
      console.log('last words'); let s = 'ab'; while (s.length < 2 ** 28) s += s; return s.split('').length;`,
      // On a busy machine it takes its time to fall.
      { limits: { slice_ms: 20_000, cpu_ms: 20_000 } },
    ),
  );
  const innocent = slot.call({ wait: true });
  const culprit = slot.call();
  const number = slot.lastCall;
  t.match(await culprit, { outcome: { code: 'MEMORY_LIMIT' }, lost: false, logs: [{ message: 'last words' }] });
  t.match(await innocent, { outcome: { code: 'SANDBOX_LOST' }, lost: true });
  t.match(await slot.closed(), { culprit: number });
});
