import type { Test } from 'tap';
import type { Claim, Effect } from '../../../src/domain/idempotency.ts';
import type { Claimant, KeyState, Store } from '../../../src/store/store.ts';
import { transactionOf } from '../store.ts';

const REQUEST = { scope: 'caller', key: 'key', fingerprint: 'print' };
const A_MINUTE = 60_000;

const claim = (store: Store, given: Partial<Claimant> = {}, request = REQUEST): Promise<KeyState> =>
  store.write((writer) =>
    writer.claimKey(request, { id: crypto.randomUUID(), owner: 'one', forMs: A_MINUTE, isAlone: false, ...given }),
  );

async function claimed(store: Store, given: Partial<Claimant> = {}, request = REQUEST): Promise<Claim> {
  const state = await claim(store, given, request);
  if (state.kind !== 'claimed') throw new Error(`not claimed: ${state.kind}`);
  return state.claim;
}

const effectOf = ({ id }: Claim, ordinal = 0, payloadHash = 'payload'): Effect => ({
  claimId: id,
  ordinal,
  payloadHash,
});
const always = { onlyAfterEffects: false };

/** What every store remembers of requests that are repeated. */
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
      /given up/,
    );
  });

  t.test('an answer can be kept on condition that there was an effect', async (t) => {
    const store = await open(t);
    const one = await claimed(store);
    const keep = () =>
      store.write((writer) => writer.keepAnswer(one, { status: 422, body: '' }, { onlyAfterEffects: true }));
    t.equal(await keep(), false);
    await store.write((writer) => writer.insertEffect(effectOf(one), { outcome: null }));
    t.equal(await keep(), true);
  });

  t.test('an effect is noted once, with what came of it', async (t) => {
    const store = await open(t);
    const one = await claimed(store);
    const [first, second] = [effectOf(one), effectOf(one, 1)];
    t.equal(await store.read.effect(first), undefined);
    await store.write((writer) => writer.insertEffect(first, { outcome: { a: [null] }, transactionId: 'tx' }));
    t.strictSame(await store.read.effect({ ...first, payloadHash: 'other' }), {
      payloadHash: 'payload',
      transactionId: 'tx',
      outcome: { a: [null] },
    });
    await t.rejects(
      store.write((writer) => writer.insertEffect(first, { outcome: 2 })),
      { name: 'DuplicateRecord' },
    );

    await store.write((writer) => writer.insertEffect(second, {}));
    t.strictSame(await store.read.effect(second), { payloadHash: 'payload', transactionId: null });
    await store.write((writer) => writer.settleEffect(second, null));
    t.strictSame(await store.read.effect(second), { payloadHash: 'payload', transactionId: null, outcome: null });
  });

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
    const claims = new Map<string, Claim>();
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
}
