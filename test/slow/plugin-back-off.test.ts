/**
 * Threat: a caller makes a plugin kill its process again and again, so that nobody else gets an answer, or the service
 * is busy with starting processes. Repeated deaths are refused, and others are served.
 */
import t, { type Test } from 'tap';
import { type RunningHost, startPluginHost } from '../support/plugin-host.ts';

const files = {
  'falls.ts': `export async function handler({ params }) {
    if (params.kill === undefined) return 'served';
    let s = 'ab'; while (s.length < 2 ** 28) s += s; return s.split('').length;
  }`,
};

async function start(t: Test): Promise<RunningHost> {
  const running = await startPluginHost({
    files,
    // Wide limits, because the machine may have other work.
    entries: [{ id: 'falls', limits: { slice_ms: 5000, cpu_ms: 10_000 } }],
  });
  t.teardown(running.close);
  return running;
}

const deaths = ({ metrics }: RunningHost) =>
  metrics.of('plugin_process_ends').filter((line) => line.startsWith('falls ')).length;

t.test('who repeats one call that kills is refused, while all others are served', { timeout: 55_000 }, async (t) => {
  const running = await start(t);
  const { call, host } = running;
  t.match(await call('falls'), { status: 200 });
  let refused = 0;
  for (let time = 0; time < 12; time++) {
    const hostile = await call('falls', { kill: true });
    if (hostile.body.data.code === 'SERVICE_UNAVAILABLE') {
      refused += 1;
      t.match(hostile.body.error, /backed off for \d+ s.*a call like this one killed it/);
      t.ok((hostile.retryAfter ?? 0) >= 1);
    }
    t.match(await call('falls', { time }), { status: 200, body: { data: 'served' } }, 'an honest caller');
    t.match(await call('falls', { time }, { keyId: 'key-2' }), { status: 200 });
    t.match(host.status().plugins, [{ id: 'falls', state: 'serving' }], 'the plugin is not backed off');
  }
  t.ok(refused >= 6, `${refused} of 12 were refused`);
  t.ok(deaths(running) <= 6, `${deaths(running)} processes died`);
});

t.test('an end is known before it is answered: the same call at once is one of its kind', async (t) => {
  const running = await start(t);
  const { call, host } = running;
  t.match(await call('falls'), { status: 200 });
  const codes: string[] = [];
  for (let time = 0; time < 4; time++) codes.push((await call('falls', { kill: true })).body.data.code);
  t.notSame(codes[0], 'SERVICE_UNAVAILABLE', 'the first one killed');
  t.ok(codes.includes('SERVICE_UNAVAILABLE'), codes.join(' '));
  t.match(host.status().plugins, [{ id: 'falls', state: 'serving' }], 'the plugin is not backed off');
  t.match(await call('falls'), { status: 200 }, 'an honest caller');
});

t.test(
  'who finds another way to kill each time keeps others out for seconds at most',
  { timeout: 150_000 },
  async (t) => {
    const running = await start(t);
    const { call } = running;
    t.match(await call('falls'), { status: 200 });
    let isOver = false;
    let kills = 0;
    const attack = (async () => {
      for (; !isOver; kills++) {
        const { body } = await call('falls', { kill: kills });
        // A short pause, so that refused calls do not become a busy loop.
        if (body.data.code === 'SERVICE_UNAVAILABLE') await new Promise((resolve) => setTimeout(resolve, 100));
      }
    })();
    const end = performance.now() + 6_000;
    let served = 0;
    let longestMs = 0;
    let lastAt = performance.now();
    for (;;) {
      const { status } = await call('falls', {});
      const now = performance.now();
      if (status === 200) {
        served += 1;
        longestMs = Math.max(longestMs, now - lastAt);
        lastAt = now;
      }
      if (status === 200 && served >= 3 && now > end) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    isOver = true;
    await attack;
    t.ok(served >= 3, `${served} honest calls were served during ${kills} attacks`);
    t.ok(longestMs < 30_000, `the longest wait was ${Math.round(longestMs)} ms`);
  },
);

t.test('many calls of one API key that kill in ever new ways keep nobody else out', { timeout: 150_000 }, async (t) => {
  const running = await start(t);
  const { call, host } = running;
  t.match(await call('falls'), { status: 200 });
  let isOver = false;
  let kills = 0;
  let refused = 0;
  const attack = Array.from({ length: 20 }, async () => {
    while (!isOver) {
      kills += 1;
      const { body } = await call('falls', { kill: kills });
      if (body.data.code !== 'SERVICE_UNAVAILABLE') continue;
      if (/with the same API key/.test(body.error)) refused += 1;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
  let served = 0;
  let asked = 0;
  let isBackedOff = false;
  const end = performance.now() + 120_000;
  while ((refused < 60 || asked < 20) && performance.now() < end) {
    asked += 1;
    const { status } = await call('falls', {}, { keyId: 'key-2' });
    if (status === 200) served += 1;
    isBackedOff ||= host.status().plugins.some(({ state }) => state === 'backing-off');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  isOver = true;
  await Promise.all(attack);
  t.ok(refused >= 60, `${refused} hostile calls were refused`);
  t.notOk(isBackedOff, 'the plugin is not backed off');
  t.ok(served >= asked / 2, `${served} of ${asked} honest calls were served`);
});
