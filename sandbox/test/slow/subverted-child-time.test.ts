/**
 * Threat: an attacker controls a child process. It holds up its calls, the reading thread or the processor: with half
 * frames, a closed or unread channel, silence, or lies about its time. The clock and the system's figures of the
 * process must end each of these.
 */
import t from 'tap';
import { HostileSandboxes, hostileScript, inside } from '../support/hostile-sandbox.ts';

const hostile = await HostileSandboxes.create();

t.test('half a frame, or one that comes drop by drop, does not hold a call', async (t) => {
  const bytes = 'Buffer.from([0, 0, 16, 5, UP.LOG, 0, 0, 0, call])';
  const trickle = `await new Promise(() => setInterval(() => raw(Buffer.alloc(1)), 100));`;
  const halves = [`raw(${bytes});`, `raw(${bytes}.subarray(0, 3));`, `raw(${bytes}); ${trickle}`].map(async (body) => {
    const sandbox = await hostile.open(t);
    const report = await sandbox.call(hostileScript(`${inside('')} ${body} return 'silent';`), { timeoutMs: 60_000 });
    t.match(report.outcome, { kind: 'ended', code: 'SANDBOX_LOST' });
    t.match(await sandbox.closed(), { cause: 'overdue', detail: /no sign of life/ });
  });
  await Promise.all(halves);
});

t.test('a child that closes its channel does not live on', async (t) => {
  const sandbox = await hostile.open(t);
  const closes = `${inside('')} (await import('node:fs')).closeSync(3); setInterval(() => {}, 1000); return 'silent';`;
  const report = await sandbox.call(hostileScript(closes), { timeoutMs: 60_000 });
  t.match(report.outcome, { kind: 'ended', code: 'SANDBOX_LOST' });
  t.match(await sandbox.closed(), { culprit: 1 });
});

t.test('a child that is stopped is found out by the next call', async (t) => {
  const sandbox = await hostile.open(t);
  process.kill((await sandbox.pids()).at(-1) ?? 0, 'SIGSTOP');
  const report = await sandbox.call(hostileScript(''), { timeoutMs: 60_000 });
  t.match(report, { outcome: { code: 'SANDBOX_LOST' }, lost: true });
  t.match(await sandbox.closed(), { cause: 'overdue' });
});

t.test('a child that reads no answers does not fill the thread with them', async (t) => {
  const sandbox = await hostile.open(t);
  const deaf = `${inside(`for (let id = 1; id <= 200; id += 1)
      channel.send(UP.REQUEST, call, JSON.stringify({ id, method: 'kv.get', params: {} }))`)}
    const pause = new Int32Array(new SharedArrayBuffer(4));
    for (;;) { say(UP.ISOLATES, 0, '1'); Atomics.wait(pause, 0, 0, 50); }`;
  const lost = sandbox.call(hostileScript(deaf), { timeoutMs: 60_000 });
  await sandbox.request(200);
  const value = 'x'.repeat(1_000_000);
  for (let id = 1; id <= 200; id += 1) sandbox.supervisor.reply(1, { id, reply: { ok: true, value } });
  t.match((await lost).outcome, { kind: 'ended', code: 'SANDBOX_LOST' });
  t.match(await sandbox.closed(), { cause: 'protocol', detail: 'it reads no answers' });
});

t.test('a call that is over is let go of in the end, or its process with it', async (t) => {
  const sandbox = await hostile.open(t);
  const speaks = `const say1 = (id) => channel.send(UP.REQUEST, call, JSON.stringify({ id, method: 'kv.get', params: {} }));
    channel.enter(call); say1(1); channel.send(UP.LEAVE, call, ''); channel.flush();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    channel.enter(call); for (let id = 2; ; id += 1) say1(id);`;
  const call = sandbox.call(hostileScript(speaks), { timeoutMs: 60_000 });
  await sandbox.request(1);
  sandbox.supervisor.cancel(1);
  t.match((await call).outcome, { code: 'CANCELED' });
  t.match(await sandbox.closed(), { cause: 'protocol', detail: /does not stop speaking/ });
  t.equal(sandbox.messages.filter(({ type }) => type === 'request').length, 1, 'nobody hears it');
});
