import type { Test } from 'tap';
import type { IdempotencyClaim, KeyedEffect } from '../../../src/domain/idempotency.ts';
import type { KeyClaimant, KeyClaimResult, Store } from '../../../src/store/store.ts';
import { attemptOf, transactionOf } from '../store.ts';

const REQUEST = { scope: 'caller', key: 'key', fingerprint: 'print' };
const A_MINUTE = 60_000;

const claim = (store: Store, given: Partial<KeyClaimant> = {}, request = REQUEST): Promise<KeyClaimResult> =>
  store.write((writer) =>
    writer.claimKey(request, { id: crypto.randomUUID(), owner: 'one', forMs: A_MINUTE, isAlone: false, ...given }),
  );

async function claimed(store: Store, given: Partial<KeyClaimant> = {}, request = REQUEST): Promise<IdempotencyClaim> {
  const state = await claim(store, given, request);
  if (state.kind !== 'claimed') throw new Error(`not claimed: ${state.kind}`);
  return state.claim;
}

const effectOf = (of: IdempotencyClaim, occurrence = 0, payloadHash = 'payload'): KeyedEffect => ({
  claim: of,
  payloadHash,
  occurrence,
  isStep: true,
});
const always = { onlyAfterEffects: false };

/** Tests of repeated requests for every store. */
export function idempotencyContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('a key runs once, and its repeats get the answer', async (t) => {
    const store = await open(t);
    const first = await claimed(store);
    t.equal(first.token, 1);
    t.strictSame(await claim(store), { kind: 'running' });
    t.strictSame(await claim(store, { owner: 'two' }), { kind: 'running' });
    const answer = { status: 201, body: '{"text":"ä"}' };
    t.equal(await store.write((writer) => writer.keepAnswer(first, answer, always)), true);
    t.strictSame(await claim(store), { kind: 'answered', answer });
    t.strictSame(await claim(store, { owner: 'two', isAlone: true }), { kind: 'answered', answer });
    t.equal(await store.write((writer) => writer.keepAnswer(first, { status: 500, body: '' }, always)), false);
    await store.write((writer) => writer.leaveKey(first));
    t.strictSame(await claim(store), { kind: 'answered', answer }, 'an answer stands');
  });

  t.test('an answer that is too large, or that no database takes, is known by its status', async (t) => {
    const store = await open(t);
    for (const [key, body] of Object.entries({ large: null, odd: 'a\0b' })) {
      const one = await claimed(store, {}, { ...REQUEST, key });
      await store.write((writer) => writer.keepAnswer(one, { status: 200, body }, always));
      const kept = { kind: 'answered', answer: { status: 200, body: null } };
      t.strictSame(await claim(store, {}, { ...REQUEST, key }), kept);
    }
  });

  t.test('another request under the key is told so; another scope or key is another request', async (t) => {
    const store = await open(t);
    await claimed(store);
    t.strictSame(await claim(store, {}, { ...REQUEST, fingerprint: 'other' }), { kind: 'other-request' });
    t.equal((await claim(store, {}, { ...REQUEST, scope: 'other', fingerprint: 'other' })).kind, 'claimed');
    t.equal((await claim(store, {}, { ...REQUEST, key: 'KEY', fingerprint: 'other' })).kind, 'claimed');
  });

  t.test('a run that was not renewed is followed by another, under the same claim', async (t) => {
    const store = await open(t);
    const lost = await claimed(store, { forMs: 0 });
    const taken = await claimed(store, { owner: 'two' });
    t.strictSame(taken, { id: lost.id, token: 2 });
    t.equal(await store.write((writer) => writer.keepAnswer(lost, { status: 200, body: '' }, always)), false);
    await store.write((writer) => writer.leaveKey(lost));
    t.strictSame(await claim(store), { kind: 'running' }, 'the late one changes nothing');

    await store.write((writer) => writer.renewClaims([lost], 0));
    t.strictSame(await claim(store), { kind: 'running' }, 'nor does its renewal');
    await store.write((writer) => writer.renewClaims([taken], 0));
    t.equal((await claimed(store)).token, 3);
  });

  t.test('who has the store alone does not wait for the one before', async (t) => {
    const store = await open(t);
    await claimed(store, { owner: 'before' });
    t.strictSame(await claim(store, { owner: 'before', isAlone: true }), { kind: 'running' });
    t.equal((await claimed(store, { owner: 'now', isAlone: true })).token, 2);
  });

  t.test('a run that is left without an effect is forgotten; with one it is run again', async (t) => {
    const store = await open(t);
    const idle = await claimed(store);
    await store.write((writer) => writer.leaveKey(idle));
    const next = await claimed(store, {}, { ...REQUEST, fingerprint: 'other' });
    t.not(next.id, idle.id);

    await store.write((writer) => writer.insertEffect(effectOf(next), { outcome: 1 }));
    await store.write((writer) => writer.leaveKey(next));
    const again = await claimed(store, {}, { ...REQUEST, fingerprint: 'other' });
    t.strictSame(again, { id: next.id, token: 2 });
    await t.rejects(
      store.write((writer) => writer.insertEffect(effectOf(idle), { outcome: 1 })),
      { code: 'IDEMPOTENCY_RUNNING' },
    );
  });

  t.test('with refusals only, and with what ends with the run, the key is forgotten as well', async (t) => {
    const store = await open(t);
    const refused = await claimed(store);
    await store.write(async (writer) => {
      await writer.insertEffect(effectOf(refused, 0), { failure: { message: 'no' } });
      await writer.insertEffect(effectOf(refused, 1), { outcome: 'held', leavesNothing: true });
    });
    const keep = () =>
      store.write((writer) => writer.keepAnswer(refused, { status: 422, body: '' }, { onlyAfterEffects: true }));
    t.equal(await keep(), false);
    await store.write((writer) => writer.leaveKey(refused));
    t.not((await claimed(store)).id, refused.id);
    t.strictSame(await store.read.effectNames(refused.id), []);
  });

  t.test('a run that was taken over has no effect any more, and is refused none', async (t) => {
    const store = await open(t);
    const stale = await claimed(store, { forMs: 0 });
    await store.write((writer) => writer.insertEffect(effectOf(stale, 0), {}));
    const taken = await claimed(store, { owner: 'two' });
    t.equal(taken.id, stale.id);
    for (const note of [{ outcome: 1 }, { failure: { message: 'no' } }, {}]) {
      await t.rejects(
        store.write((writer) => writer.insertEffect(effectOf(stale, 1), note)),
        { code: 'IDEMPOTENCY_RUNNING', status: 409, retryAfterSeconds: 1 },
      );
    }
    t.strictSame(await store.read.effectNames(stale.id), [{ payloadHash: 'payload', occurrence: 0 }]);
    await store.write((writer) => writer.settleEffect(effectOf(stale, 0), { outcome: 'what came of it' }));
    t.match(await store.read.effect(effectOf(taken, 0)), { outcome: 'what came of it' }, 'what it had begun is told');
  });

  t.test(
    'an effect and a further run, at the same time: the further run finds it, or it has not happened',
    async (t) => {
      const store = await open(t);
      for (let round = 0; round < 20; round += 1) {
        const request = { ...REQUEST, key: `key ${round}` };
        const one = await claimed(store, { forMs: 0 }, request);
        // The first record of a claim takes another code path than later ones.
        if (round % 2 === 1) await store.write((writer) => writer.insertEffect(effectOf(one, 9), { outcome: 9 }));
        const noting = store.write((writer) =>
          writer.insertEffect(effectOf(one), round % 4 < 2 ? { outcome: round } : { failure: { message: 'no' } }),
        );
        const found = claimed(store, { owner: 'two' }, request).then(({ id }) => store.read.effectNames(id));
        const [noted, names] = await Promise.allSettled([noting, found]);
        const isFound = names.status === 'fulfilled' && names.value.some(({ occurrence }) => occurrence === 0);
        t.equal(isFound, noted.status === 'fulfilled', noted.status);
      }
    },
  );

  t.test('an answer can be kept on condition that there was an effect', async (t) => {
    const store = await open(t);
    const one = await claimed(store);
    const keep = () =>
      store.write((writer) => writer.keepAnswer(one, { status: 422, body: '' }, { onlyAfterEffects: true }));
    t.equal(await keep(), false);
    await store.write((writer) => writer.insertEffect(effectOf(one), { outcome: null }));
    t.equal(await keep(), true);
  });

  t.test('an effect is noted once under its payload and occurrence, with what came of it', async (t) => {
    const store = await open(t);
    const one = await claimed(store);
    const [first, second, refused] = [effectOf(one), effectOf(one, 1), effectOf(one, 0, 'other')];
    t.equal(await store.read.effect(first), undefined);
    await store.write((writer) => writer.insertEffect(first, { outcome: { a: [null] }, transactionId: 'tx' }));
    t.strictSame(await store.read.effect(first), { transactionId: 'tx', outcome: { a: [null] } });
    t.equal(await store.read.effect(refused), undefined);
    await t.rejects(
      store.write((writer) => writer.insertEffect(first, { outcome: 2 })),
      { name: 'DuplicateRecord' },
    );

    await store.write((writer) => writer.insertEffect(second, {}));
    t.strictSame(await store.read.effect(second), { transactionId: null });
    await store.write((writer) => writer.settleEffect(second, { outcome: null }));
    t.strictSame(await store.read.effect(second), { transactionId: null, outcome: null });

    const failure = { message: 'lone \ud800, NUL \0' };
    await store.write((writer) => writer.insertEffect(refused, { failure }));
    t.strictSame(await store.read.effect(refused), { transactionId: null, failure });
    t.same(
      (await store.read.effectNames(one.id))
        .map(({ payloadHash, occurrence }) => `${payloadHash} ${occurrence}`)
        .sort(),
      ['other 0', 'payload 0', 'payload 1'],
    );
  });

  t.test('what was begun and did not happen is forgotten, and nothing else is', async (t) => {
    const store = await open(t);
    const one = await claimed(store);
    const effects = [0, 1, 2].map((occurrence) => effectOf(one, occurrence));
    const [begun, done, refused] = effects as [KeyedEffect, KeyedEffect, KeyedEffect];
    await store.write(async (writer) => {
      await writer.insertEffect(begun, {});
      await writer.insertEffect(done, { outcome: null });
      await writer.insertEffect(refused, { failure: { message: 'no' } });
      for (const effect of effects) await writer.forgetEffect(effect);
    });
    t.same(
      (await store.read.effectNames(one.id)).map(({ occurrence }) => occurrence).sort((a, b) => a - b),
      [1, 2],
    );
  });

  t.test('large answers have a quota for each scope, and the oldest give way', async (t) => {
    const store = await open(t);
    const large = 'x'.repeat(5000);
    const quotaBytes = 12_000;
    const ask = (key: string, scope = 'caller') => claim(store, {}, { ...REQUEST, scope, key });
    const answered = async (key: string, body: string, scope = 'caller') => {
      const one = await claimed(store, {}, { ...REQUEST, scope, key });
      const keep = { onlyAfterEffects: false, quotaBytes };
      await store.write((writer) => writer.keepAnswer(one, { status: 200, body }, keep));
    };
    const told = (body: string | null) => ({ kind: 'answered', answer: { status: 200, body } });
    for (const key of ['a', 'b']) await answered(key, large);
    await answered('small', 'ok');
    await answered('elsewhere', large, 'other');
    t.strictSame(await ask('a'), told(large));
    await answered('c', large);
    t.strictSame([await ask('a'), await ask('b')], [told(null), told(null)], 'its repeat is told the status');
    t.strictSame([await ask('c'), await ask('small')], [told(large), told('ok')]);
    t.strictSame(await ask('elsewhere', 'other'), told(large));
    await answered('too much', 'x'.repeat(12_001));
    t.strictSame(await ask('too much'), told(null));

    const later = (await store.now()) + A_MINUTE;
    await store.write((writer) => writer.pruneKeys(later, 100));
    for (const key of ['d', 'e']) await answered(key, large);
    t.strictSame([await ask('d'), await ask('e')], [told(large), told(large)], 'what is pruned makes room');
  });

  t.test(
    'outcomes count until their request is answered; one without room is not known to a further run',
    async (t) => {
      const store = await open(t);
      const quotaBytes = 12_000;
      const outcome = 'x'.repeat(5000);
      const one = await claimed(store);
      await store.write(async (writer) => {
        await writer.insertEffect(effectOf(one, 0), { outcome, quotaBytes });
        await writer.insertEffect(effectOf(one, 0, 'made'), { outcome: null, transactionId: 'tx' });
        await writer.insertEffect(effectOf(one, 1), {});
        await writer.settleEffect(effectOf(one, 1), { outcome, quotaBytes });
        await writer.insertEffect(effectOf(one, 2), { outcome, quotaBytes });
      });
      const known = async (occurrence: number) => (await store.read.effect(effectOf(one, occurrence)))?.outcome;
      t.strictSame([await known(0), await known(1), await known(2)], [outcome, outcome, undefined]);
      t.ok(await store.read.effect(effectOf(one, 2)), 'it is known that it was done');

      const keep = { onlyAfterEffects: false, quotaBytes };
      await store.write((writer) => writer.keepAnswer(one, { status: 200, body: outcome }, keep));
      t.strictSame(await claim(store), { kind: 'answered', answer: { status: 200, body: outcome } });
      t.strictSame(
        await store.read.effectNames(one.id),
        [{ payloadHash: 'made', occurrence: 0 }],
        'what it made is named',
      );
      const two = await claimed(store, {}, { ...REQUEST, key: 'two' });
      await store.write((writer) => writer.insertEffect(effectOf(two), { outcome, quotaBytes }));
      t.equal((await store.read.effect(effectOf(two)))?.outcome, outcome);
    },
  );

  t.test('of many that ask at once one runs', async (t) => {
    const store = await open(t);
    const states = await Promise.all(Array.from({ length: 20 }, (_, n) => claim(store, { owner: `owner ${n}` })));
    t.equal(states.filter(({ kind }) => kind === 'claimed').length, 1);
    t.equal(states.filter(({ kind }) => kind === 'running').length, 19);
  });

  t.test('an effect and the end of its run, at the same time, never leave an effect without its key', async (t) => {
    const store = await open(t);
    for (let round = 0; round < 20; round += 1) {
      const request = { ...REQUEST, key: `key ${round}` };
      const one = await claimed(store, {}, request);
      const [noted] = await Promise.allSettled([
        store.write((writer) => writer.insertEffect(effectOf(one), { outcome: round })),
        store.write((writer) => writer.leaveKey(one)),
      ]);
      const next = await claimed(store, {}, request);
      t.equal(next.id === one.id, noted.status === 'fulfilled', noted.status);
    }
  });

  t.test('effects of one request at the same time are all noted', async (t) => {
    const store = await open(t);
    const one = await claimed(store);
    await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        store.write((writer) => writer.insertEffect(effectOf(one, n), { outcome: n })),
      ),
    );
    t.strictSame((await store.read.effect(effectOf(one, 39)))?.outcome, 39);
  });

  t.test('old keys go in batches with their effects; what runs or made an open transaction stays', async (t) => {
    const store = await open(t);
    const keys = ['a', 'b', 'c', 'running', 'open'];
    const claims = new Map<string, IdempotencyClaim>();
    for (const key of keys) claims.set(key, await claimed(store, {}, { ...REQUEST, key }));
    const of = (key: string) => claims.get(key) ?? { id: '', token: 0 };
    await store.write(async (writer) => {
      const [open, ended] = [transactionOf(), transactionOf()];
      for (const one of [open, ended]) await writer.insertTransaction(one);
      await writer.updateTransaction(ended.id, 'pending', { status: 'failed' });
      await writer.insertEffect(effectOf(of('open')), { transactionId: open.id, outcome: null });
      await writer.insertEffect(effectOf(of('a')), { transactionId: ended.id, outcome: null });
      await writer.insertEffect(effectOf(of('b')), { transactionId: 'pruned', outcome: null });
      for (const key of ['a', 'b', 'open']) await writer.keepAnswer(of(key), { status: 200, body: '' }, always);
      await writer.renewClaims([of('c')], 0);
    });
    const now = await store.now();
    t.equal(await store.write((writer) => writer.pruneKeys(now - A_MINUTE, 10)), 0, 'what is young stays');
    const prune = () => store.write((writer) => writer.pruneKeys(now + A_MINUTE, 2));
    t.strictSame([await prune(), await prune(), await prune()], [2, 1, 0]);
    t.equal(await store.read.effect(effectOf(of('a'))), undefined);
    t.equal((await claim(store, {}, { ...REQUEST, key: 'open' })).kind, 'answered');
    t.equal((await claim(store, {}, { ...REQUEST, key: 'running' })).kind, 'running');
    t.equal((await claim(store, {}, { ...REQUEST, key: 'a' })).kind, 'claimed');
  });

  t.test('a transaction is pruned after the key that names it, answered or not, with its attempts', async (t) => {
    const store = await open(t);
    const PAGE = { page: 1, perPage: 10 };
    const [answered, left] = [await claimed(store), await claimed(store, {}, { ...REQUEST, key: 'left' })];
    const ended = [transactionOf({ id: 'answered' }), transactionOf({ id: 'left' }), transactionOf({ id: 'unnamed' })];
    const canceling = await claimed(store, {}, { ...REQUEST, key: 'canceling' });
    await store.write(async (writer) => {
      for (const one of ended) {
        await writer.insertTransaction(one);
        await writer.insertAttempt(attemptOf(one, { sequence: 1n }));
      }
      for (const occurrence of [0, 1]) {
        await writer.insertEffect(effectOf(canceling, occurrence), { transactionId: 'left', outcome: 1 });
      }
      await writer.insertEffect(effectOf(answered), { transactionId: 'answered', outcome: null });
      await writer.insertEffect(effectOf(left), { transactionId: 'left', outcome: null });
      for (const { id } of ended) await writer.updateTransaction(id, 'pending', { status: 'failed' });
      await writer.keepAnswer(answered, { status: 200, body: '' }, always);
      await writer.leaveKey(left);
    });
    const later = (await store.now()) + A_MINUTE;
    const prune = () => store.write((writer) => writer.pruneTransactions(later, 10));
    t.equal(await prune(), 1);
    t.equal((await store.read.attempts('answered')).length, 1);
    const ids = async () => (await store.read.transactions('relayer-1', PAGE)).items.map(({ id }) => id).sort();
    t.strictSame(await ids(), ['answered', 'left']);
    t.equal(await store.write((writer) => writer.pruneKeys(later, 10)), 2);
    t.equal(await prune(), 1);
    t.strictSame(await ids(), ['left'], 'another key names it as well');
    await store.write((writer) => writer.leaveKey(canceling));
    t.equal(await store.write((writer) => writer.pruneKeys(later, 10)), 1);
    t.equal(await prune(), 1);
    t.strictSame(await ids(), []);
    t.strictSame(await store.read.attempts('left'), []);
  });
}
