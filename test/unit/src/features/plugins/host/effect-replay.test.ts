import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import type { KeyedEffect } from '../../../../../../src/domain/idempotency.ts';
import { EffectReplay } from '../../../../../../src/features/plugins/host/effect-replay.ts';

/** A run that repeats an earlier one with these effects, and whether each effect it asks for is recorded or new. */
function after(earlier: readonly string[], silenceMs = 5) {
  const first = new EffectReplay({ claim: { id: 'c', token: 1 }, isFirst: true });
  const names = earlier.map((payload) => first.next(payload));
  const run = new EffectReplay({ claim: { id: 'c', token: 2 }, isFirst: false, silenceMs });
  let reads = 0;
  const recorded = async (claimId: string) => {
    reads += 1;
    return claimId === 'c' ? names : [];
  };
  const judged: string[] = [];
  /** As in the gateway, the call counts as under way until its effect is answered. */
  const ask = (payload: string) => {
    const effect = run.next(payload);
    const met = run
      .meet(effect, `method ${payload}`, recorded)
      .then((isRecorded) => judged.push(`${payload} ${isRecorded ? 'recorded' : 'new'}`));
    return run.track(met, true);
  };
  return { run, ask, judged, reads: () => reads };
}

/** Waits until every promise that waits for nothing outside has settled. */
const settle = async () => {
  for (let turns = 0; turns < 5; turns += 1) await turn();
};

t.test('effects are named by what they are, equal ones by how many came before', async (t) => {
  const run = new EffectReplay({ claim: { id: 'c', token: 3 }, isFirst: true });
  const named = ['a', 'b', 'a'].map((payload) => run.next(payload));
  t.strictSame(named, [
    { claim: { id: 'c', token: 3 }, payloadHash: 'a', occurrence: 0, isStep: true },
    { claim: { id: 'c', token: 3 }, payloadHash: 'b', occurrence: 0, isStep: true },
    { claim: { id: 'c', token: 3 }, payloadHash: 'a', occurrence: 1, isStep: true },
  ] satisfies KeyedEffect[]);
});

t.test('in a first run everything is new, and nothing is read', async (t) => {
  const run = new EffectReplay({ claim: { id: 'c', token: 1 }, isFirst: true });
  const never = () => Promise.reject(new Error('read'));
  t.equal(await run.meet(run.next('a'), 'm', never), false);
});

t.test('what is recorded is met in any order, and what comes after all of it is new', async (t) => {
  const { ask, judged, reads } = after(['a', 'b', 'a', 'c']);
  await Promise.all(['c', 'a', 'b', 'a'].map(ask));
  t.strictSame(judged.toSorted(), ['a recorded', 'a recorded', 'b recorded', 'c recorded']);
  await Promise.all(['a', 'd'].map(ask));
  t.strictSame(judged.slice(4), ['a new', 'd new']);
  t.equal(reads(), 1);
});

t.test('what is not recorded waits until all that is recorded is met', async (t) => {
  const { ask, judged, run } = after(['a', 'b'], 1);
  // Something else that the plugin waits for, such as a read.
  const reading = Promise.withResolvers<void>();
  const read = run.track(reading.promise, false);
  const news = ['new', 'newer'].map(ask);
  await ask('b');
  await new Promise((resolve) => setTimeout(resolve, 20));
  t.strictSame(judged, ['b recorded'], 'as long as something is under way, more may come');
  await ask('a');
  reading.resolve();
  await Promise.all([read, ...news]);
  t.strictSame(judged, ['b recorded', 'a recorded', 'new new', 'newer new']);
});

t.test('a silence is over when the plugin asks for anything', async (t) => {
  const { ask, judged, run } = after(['a'], 1);
  const waiting = ask('new');
  // Only microtasks run until the silence has begun, so its timer cannot end before the read starts.
  for (let turns = 0; turns < 50; turns += 1) await Promise.resolve();
  const reading = Promise.withResolvers<void>();
  const read = run.track(reading.promise, false);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await ask('a');
  reading.resolve();
  await Promise.all([read, waiting]);
  t.strictSame(judged, ['a recorded', 'new new']);
});

t.test('a run that has fallen silent does something else than the one before', async (t) => {
  const { ask, judged } = after(['a', 'b', 'c']);
  await ask('a');
  const [one, other] = await Promise.allSettled(['x', 'y'].map(ask));
  t.match(one, { reason: { code: 'EFFECT_MISMATCH', message: /asked for method x with .* not for 2 of the effects/ } });
  t.match(other, { reason: { code: 'EFFECT_MISMATCH', message: /method y/ } });
  t.strictSame(judged, ['a recorded']);
});

t.test('with its end nobody waits any more', async (t) => {
  const { run, ask } = after(['a'], 60_000);
  const waiting = ask('x');
  await settle();
  const late = ask('y');
  run.end();
  run.end();
  const over = { message: 'The plugin call is over' };
  await t.rejects(waiting, over);
  await t.rejects(late, over);
  await t.rejects(ask('z'), over);
  t.equal(await run.settled(60_000), true);
});

t.test('a run has settled when its effects have, whatever they come to, or has not in time', async (t) => {
  const run = new EffectReplay({ claim: { id: 'c', token: 1 }, isFirst: true });
  t.equal(await run.settled(60_000), true);
  const [effect, failing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const calls = [
    run.track(effect.promise, true),
    run.track(failing.promise, true),
    run.track(new Promise(() => {}), false),
  ];
  t.equal(await run.settled(1), false);
  const settled = run.settled(60_000);
  effect.resolve();
  failing.reject(new Error('no'));
  t.equal(await settled, true);
  await t.rejects(calls[1] ?? Promise.resolve(), { message: 'no' });
});
