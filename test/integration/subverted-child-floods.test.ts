/**
 * Threat: a plugin's process that is no longer ours and floods the thread that it shares with the processes of others. It
 * ends, while other plugins serve on and the main loop stays free.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import t from 'tap';
import { besideHostile } from '../support/beside-hostile.ts';
import { hostileScript } from '../support/hostile-sandbox.ts';

const start = await besideHostile(t);

t.test('a process that floods its channel holds up neither the thread nor the main loop', async (t) => {
  const floods: Record<string, string> = {
    'marks of entering': 'for (;;) { channel.send(UP.ENTER, call, ""); channel.send(UP.LEAVE, call, ""); }',
    'numbers of isolates': 'for (;;) channel.send(UP.SHELF, 0, "1");',
    'capability calls': `channel.enter(call); for (let id = 1; ; id++)
      channel.send(UP.REQUEST, call, JSON.stringify({ id, method: 'kv.get', params: { key: 'x'.repeat(100000) } }));`,
    'half frames': `for (;;) raw(Buffer.from([0, 4, 0, 5, UP.LOG]));`,
  };
  for (const [what, flood] of Object.entries(floods)) {
    const { call, close } = await start(t);
    await call('honest');
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const flooding = call('hostile', hostileScript(flood));
    let over = false;
    void flooding.finally(() => {
      over = true;
    });
    let served = 0;
    do {
      t.match(await call('honest', { secret: what }), { status: 200 });
      served += 1;
    } while (!over && served < 10_000);
    delay.disable();
    // Held up by a thread that reads no faster, it may be overdue before it has said too much.
    t.match((await flooding).body.data.code, /^(SANDBOX_LOST|CPU_LIMIT|CALL_LIMIT)$/, what);
    t.ok(delay.percentile(99) < 500e6, `${what}: the loop was free, p99 ${Math.round(delay.percentile(99) / 1e6)} ms`);
    await close();
  }
});
