/**
 * Threat: an attacker controls a plugin's process, and floods the thread that it shares with other processes. The
 * process is ended, other plugins keep serving, and the main loop stays free.
 */
import t from 'tap';
import { hostileScript } from '../../sandbox/test/support/hostile-sandbox.ts';
import { besideHostile } from '../support/beside-hostile.ts';
import { meterThread } from '../support/thread-time.ts';

const start = await besideHostile(t);

t.test('a process that floods its channel holds up neither the thread nor the main loop', async (t) => {
  const floods: Record<string, string> = {
    'marks of entering': 'for (;;) { channel.send(UP.ENTER, call, ""); channel.send(UP.LEAVE, call, ""); }',
    'capability calls': `channel.enter(call); for (let id = 1; ; id++)
      channel.send(UP.REQUEST, call, JSON.stringify({ id, method: 'kv.get', params: { key: 'x'.repeat(100000) } }));`,
  };
  for (const [what, flood] of Object.entries(floods)) {
    const { call, close } = await start(t);
    await call('honest');
    const turns = meterTurns();
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
    const busyMs = turns.end();
    // If the thread reads too slowly, the call may run out of time before the process has sent too much.
    t.match((await flooding).body.data.code, /^(SANDBOX_LOST|CPU_LIMIT|CALL_LIMIT)$/, what);
    t.ok(busyMs < 500, `${what}: the loop was free, at most busy for ${busyMs} ms`);
    await close();
  }
});

/** Measures the main loop: the longest work, in ms of this thread's processor time, that delayed a timer. */
function meterTurns(): { end(): number } {
  let spent = meterThread();
  let longest = 0;
  const look = () => {
    longest = Math.max(longest, spent());
    spent = meterThread();
  };
  const timer = setInterval(look, 5);
  return {
    end() {
      clearInterval(timer);
      look();
      return longest;
    },
  };
}
