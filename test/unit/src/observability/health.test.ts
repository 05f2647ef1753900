import t from 'tap';
import { createHealth } from '../../../../src/observability/health.ts';

function clockAt(start: number) {
  const clock = { time: start, now: () => clock.time, elapsed: () => clock.time };
  return clock;
}

t.test('the worst part decides, and only an unhealthy one makes it unready', async (t) => {
  const parts = {
    a: () => ({ status: 'healthy' as const }),
    b: () => ({ status: 'degraded' as const, error: 'slow' }),
  };
  t.match(await createHealth(parts, clockAt(0)).check(), {
    ready: true,
    status: 'degraded',
    reason: undefined,
    components: { a: { status: 'healthy' }, b: { status: 'degraded', error: 'slow' } },
    timestamp: '1970-01-01T00:00:00.000Z',
  });
  const ill = {
    ...parts,
    c: async () => ({ status: 'unhealthy' as const }),
    d: () => Promise.reject(new Error('disk full')),
  };
  t.match(await createHealth(ill, clockAt(0)).check(), {
    ready: false,
    status: 'unhealthy',
    reason: 'c is unhealthy; disk full',
  });
  t.match(await createHealth({}, clockAt(0)).check(), { ready: true, status: 'healthy' });
});

t.test('a part that throws or never answers is unhealthy', async (t) => {
  const parts = {
    throws: () => {
      throw new Error('broken');
    },
    hangs: () => new Promise<never>(() => undefined),
  };
  const report = await createHealth(parts, clockAt(0), 20).check();
  t.match(report.components, {
    throws: { status: 'unhealthy', error: 'broken' },
    hangs: { status: 'unhealthy', error: 'no answer within 20 ms' },
  });
});

t.test('those who ask at once share one look', async (t) => {
  let looks = 0;
  const clock = clockAt(0);
  const health = createHealth({ a: () => ({ status: 'healthy', looks: (looks += 1) }) }, clock);
  await Promise.all([health.check(), health.check(), health.check()]);
  clock.time = 999;
  await health.check();
  t.equal(looks, 1);
  clock.time = 1000;
  await health.check();
  t.equal(looks, 2);
});

t.test('a part that does not answer is not asked again meanwhile', async (t) => {
  // A hung disk holds a thread of few for each question.
  let asked = 0;
  const clock = clockAt(0);
  const disk = Promise.withResolvers<{ status: 'healthy' }>();
  const hung = () => {
    asked += 1;
    return disk.promise;
  };
  const health = createHealth({ disk: hung, other: () => ({ status: 'healthy' }) }, clock, 20);
  for (clock.time = 0; clock.time < 10_000; clock.time += 1000) {
    t.match((await health.check()).components, { disk: { status: 'unhealthy' }, other: { status: 'healthy' } });
  }
  t.equal(asked, 1);
  disk.resolve({ status: 'healthy' });
  await disk.promise;
  t.match(await health.check(), { ready: true });
  clock.time += 1000;
  await health.check();
  t.equal(asked, 2, 'and is asked again when it has answered');
});
