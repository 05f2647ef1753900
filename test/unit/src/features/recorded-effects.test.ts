import t, { type Test } from 'tap';
import type { KeyedEffect } from '../../../../src/domain/idempotency.ts';
import {
  answerOnce,
  beginEffect,
  createRecordedEffects,
  earlierEffect,
  settleEffect,
  writeEffectOnce,
} from '../../../../src/features/recorded-effects.ts';
import { keyedEffect } from '../../../support/keyed-effect.ts';
import { storeFor } from '../../../support/store.ts';

async function setUp(t: Test) {
  const store = await storeFor(t);
  const effect = await keyedEffect(store);
  const count = async (by: number) => Number((await store.read.kvGet('p', 'count')) ?? by);
  const write = (given: KeyedEffect | undefined = effect) =>
    writeEffectOnce(store, given, async (writer) => {
      const outcome = Number((await writer.kvGet('p', 'count')) ?? 0) + 1;
      await writer.kvSet('p', 'count', String(outcome));
      return { outcome, more: 'not stored' };
    });
  return { store, effect, count, write };
}

t.test('a write under one name happens once, however often it is asked for, also at the same time', async (t) => {
  const { store, effect, count, write } = await setUp(t);
  const written = await Promise.all(Array.from({ length: 10 }, () => write()));
  t.equal(written.filter(({ isRepeat }) => isRepeat).length, 9);
  t.strictSame(new Set(written.map(({ made }) => made.outcome)), new Set([1]));
  t.equal(await count(0), 1);
  t.match(await earlierEffect(store.read, effect), { outcome: 1, transactionId: null });
});

t.test('without a name it happens each time, and nothing is noted', async (t) => {
  const { store, count } = await setUp(t);
  const write = () =>
    writeEffectOnce(store, undefined, async (writer) => ({ outcome: await writer.kvDelete('p', 'x') }));
  t.strictSame(await write(), { isRepeat: false, made: { outcome: false } });
  t.strictSame(await write(), { isRepeat: false, made: { outcome: false } });
  t.equal(await earlierEffect(store.read, undefined), undefined);
  t.equal(await count(0), 0);
});

t.test('a write that fails has not happened', async (t) => {
  const { store, effect, write } = await setUp(t);
  const failing = writeEffectOnce(store, effect, async (writer) => {
    await writer.kvSet('p', 'count', '7');
    throw new Error('no');
  });
  await t.rejects(failing, { message: 'no' });
  t.strictSame(await write(), { isRepeat: false, made: { outcome: 1, more: 'not stored' } });
});

t.test('the first answer is the only one, also of two that were made at the same time', async (t) => {
  const { store, effect } = await setUp(t);
  let made = 0;
  let noted = 0;
  const note = async () => {
    noted += 1;
  };
  const act = async () => {
    made += 1;
    return { signature: `s${made}`, v: 27n, none: undefined };
  };
  const [one, other] = await Promise.all([answerOnce(store, effect, act, note), answerOnce(store, effect, act, note)]);
  t.strictSame(one, { signature: one['signature'], v: 27 });
  t.strictSame(other, one);
  t.strictSame(await answerOnce(store, effect, act, note), one);
  t.equal(made, 2);
  t.strictSame(await answerOnce(store, undefined, act, note), { signature: 's3', v: 27n, none: undefined });
  t.equal(noted, 2, 'once for each answer that somebody got');
});

t.test('what takes no part in a commit is begun once, and settled', async (t) => {
  const { store, effect } = await setUp(t);
  await beginEffect(store, effect);
  t.strictSame(await earlierEffect(store.read, effect), { transactionId: null });
  await t.rejects(beginEffect(store, effect), { code: 'EFFECT_UNKNOWN' });
  await settleEffect(store, effect, 'done');
  t.strictSame(await earlierEffect(store.read, effect), { transactionId: null, outcome: 'done' });
});

t.test('what cannot be settled is unknown to a plugin; a request hears why', async (t) => {
  const { effect } = await setUp(t);
  const full = { write: () => Promise.reject(new Error('disk full')) };
  await t.rejects(settleEffect(full, effect, 1), { code: 'EFFECT_UNKNOWN', cause: { message: 'disk full' } });
  await t.rejects(settleEffect(full, { ...effect, isStep: false }, 1), { message: 'disk full' });
});

t.test('a refusal is noted of what has not happened, and then it cannot happen any more', async (t) => {
  const { store, effect, count, write } = await setUp(t);
  const effects = createRecordedEffects(store);
  const failure = { message: 'no', code: 'C', status: 403, details: { rule: 'r', at: null } };
  t.equal(await effects.failure(effect), undefined);
  t.equal(await effects.refuse(effect, failure), true);
  t.strictSame(await effects.failure(effect), failure);
  t.equal(await effects.refuse(effect, failure), false, 'it is told once');
  await t.rejects(write(), { code: 'EFFECT_UNKNOWN' });
  t.equal(await count(0), 0);

  const [begun, done] = [1, 2].map((occurrence) => ({ ...effect, occurrence })) as [KeyedEffect, KeyedEffect];
  await beginEffect(store, begun);
  t.equal(await effects.failure(begun), undefined);
  t.equal(await effects.refuse(begun, { message: 'broken' }), true);
  t.strictSame(await effects.failure(begun), { message: 'broken' });
  await write(done);
  t.equal(await effects.refuse(done, failure), false);
  t.match(await earlierEffect(store.read, done), { outcome: 1 });
  t.equal((await effects.recorded(effect.claim.id)).length, 3);
});
