import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { systemClock } from '../../../../src/domain/clock.ts';
import {
  IdempotencyKeys,
  type IdempotencyTiming,
  type KeyedRun,
  type KeyedStart,
  MAX_KEPT_BODY,
} from '../../../../src/http/idempotency-keys.ts';
import { createLog } from '../../../../src/observability/log.ts';
import type { Store, StoreWriter } from '../../../../src/store/store.ts';
import { storeFor } from '../../../support/store.ts';

const REQUEST = { scope: 'caller', key: 'key', fingerprint: 'print' };
const there = () => false;
const OK = { status: 200, body: '{"ok":true}' };

function keysOf(t: Test, store: Store, timing: Partial<IdempotencyTiming> = {}) {
  const lines: string[] = [];
  const results: string[] = [];
  const keys = new IdempotencyKeys({
    store,
    clock: systemClock,
    log: createLog('debug', { write: (line) => void lines.push(line) }),
    newId: randomUUID,
    timing: { claimMs: 60_000, renewMs: 60_000, waitMs: 60_000, askMs: 2, ...timing },
    onBegun: (result) => void results.push(result),
  });
  t.teardown(() => keys.close());
  return { keys, lines, results };
}

/** The store as one of several instances sees it: another one may hold the claim. */
const shared = (store: Store): Store => ({ ...store, leases: { ...store.leases, lastsMs: 10_000 } });

function runOf(begun: KeyedStart): KeyedRun {
  if (begun.kind !== 'run') throw new Error('it was answered');
  return begun.run;
}

t.test('a repeat waits for the run that is under way, here or on another instance, and gets its answer', async (t) => {
  const store = shared(await storeFor(t));
  const [here, elsewhere] = [keysOf(t, store, { askMs: 60_000 }), keysOf(t, store)];
  const run = runOf(await here.keys.begin(REQUEST, there));
  const waiting = [here.keys.begin(REQUEST, there), elsewhere.keys.begin(REQUEST, there)];
  await here.keys.end(run, OK, 'always');
  for (const one of await Promise.all(waiting)) t.strictSame(one, { kind: 'answered', answer: OK });
  t.strictSame(await here.keys.begin(REQUEST, there), { kind: 'answered', answer: OK });
});

t.test('a wait has its end, and ends when its client leaves', async (t) => {
  const store = await storeFor(t);
  const { keys } = keysOf(t, store, { waitMs: 0 });
  runOf(await keys.begin(REQUEST, there));
  const refusal = { code: 'IDEMPOTENCY_RUNNING', status: 409, retryAfterSeconds: 1 };
  await t.rejects(keys.begin(REQUEST, there), refusal);
  const patient = keysOf(t, shared(store)).keys;
  let looks = 0;
  await t.rejects(
    patient.begin(REQUEST, () => ++looks > 2),
    refusal,
  );
  t.equal(looks, 3);
});

t.test('another request under the key is refused', async (t) => {
  const { keys } = keysOf(t, await storeFor(t));
  await keys.begin(REQUEST, there);
  await t.rejects(keys.begin({ ...REQUEST, fingerprint: 'other' }, there), { code: 'IDEMPOTENCY_MISMATCH' });
});

t.test('an answer that is too large is not kept, and a repeat is told so', async (t) => {
  const { keys } = keysOf(t, await storeFor(t));
  const body = JSON.stringify('ä'.repeat(MAX_KEPT_BODY / 2));
  await keys.end(runOf(await keys.begin(REQUEST, there)), { status: 201, body }, 'always');
  await t.rejects(keys.begin(REQUEST, there), {
    code: 'ANSWER_NOT_KEPT',
    status: 409,
    message:
      /was done, and answered with status 201\. That answer is not stored any more, and the request is not done again$/,
  });
  const other = { ...REQUEST, key: 'other' };
  await keys.end(runOf(await keys.begin(other, there)), { status: 200, body: null }, 'always');
  await t.rejects(
    keys.begin(other, there),
    { code: 'ANSWER_NOT_KEPT', message: /status 200/ },
    'nor one without a text',
  );
});

t.test('what is not kept leaves the key to the next, who has waited for it', async (t) => {
  const store = await storeFor(t);
  const { keys } = keysOf(t, store);
  const first = runOf(await keys.begin(REQUEST, there));
  const next = keys.begin(REQUEST, there);
  await keys.end(first, { status: 503, body: '' }, 'never');
  const second = runOf(await next);
  t.not(second.claim.id, first.claim.id, 'nothing was left of the first');

  const effect = { claim: second.claim, payloadHash: 'p', occurrence: 0, isStep: true };
  await store.write((writer) => writer.insertEffect(effect, { outcome: 1 }));
  await keys.end(second, { status: 503, body: '' }, 'never');
  const third = runOf(await keys.begin(REQUEST, there));
  t.strictSame(third.claim, { id: second.claim.id, token: 2 }, 'its effects are found under the same claim');
  await keys.end(third, { status: 422, body: '{}' }, 'after-effects');
  t.strictSame(await keys.begin(REQUEST, there), { kind: 'answered', answer: { status: 422, body: '{}' } });
});

t.test('a run that lasts is renewed', async (t) => {
  const inner = await storeFor(t);
  const renewed = Promise.withResolvers<void>();
  let renewals = 0;
  const store: Store = {
    ...shared(inner),
    write: async (body) => {
      const result = await inner.write(body);
      if (/renewClaims/.test(String(body)) && ++renewals === 3) renewed.resolve();
      return result;
    },
  };
  const { keys } = keysOf(t, store, { claimMs: 60_000, renewMs: 1 });
  const run = runOf(await keys.begin(REQUEST, there));
  await renewed.promise;
  await keys.end(run, OK, 'always');
  t.equal((await keys.begin(REQUEST, there)).kind, 'answered');
});

t.test('a run that another one has followed ends nothing of that one', async (t) => {
  let now = 0;
  const inner = await storeFor(t, { now: () => now, elapsed: () => performance.now() });
  let mayRenew = false;
  const renewed = Promise.withResolvers<void>();
  const store: Store = {
    ...shared(inner),
    write: async (body) => {
      const isRenewal = /renewClaims/.test(String(body));
      if (isRenewal && !mayRenew) throw new Error('the database does not answer');
      const result = await inner.write(body);
      if (isRenewal) renewed.resolve();
      return result;
    },
  };
  const { keys } = keysOf(t, store, { claimMs: 1000, renewMs: 1, waitMs: 0 });
  const stale = runOf(await keys.begin(REQUEST, there));
  now += 1000;
  const newer = runOf(await keys.begin(REQUEST, there));
  t.strictSame(newer.claim, { id: stale.claim.id, token: 2 });
  await keys.end(stale, OK, 'always');

  now += 999;
  mayRenew = true;
  await renewed.promise;
  now += 999;
  await t.rejects(keys.begin(REQUEST, there), { code: 'IDEMPOTENCY_RUNNING' }, 'it is renewed as before');
  await keys.end(newer, { status: 201, body: 'of the newer' }, 'always');
  t.match(await keys.begin(REQUEST, there), { answer: { status: 201, body: 'of the newer' } });
});

t.test('a run that has ended is renewed no more', async (t) => {
  const inner = await storeFor(t);
  const renewed: string[][] = [];
  const store: Store = {
    ...shared(inner),
    write: (body) =>
      inner.write((writer) => {
        const renewClaims: StoreWriter['renewClaims'] = async (claims) => {
          renewed.push(claims.map(({ id }) => id));
        };
        return body({ ...writer, renewClaims });
      }),
  };
  const { keys } = keysOf(t, store, { renewMs: 1 });
  const [ended, lasting] = [
    runOf(await keys.begin(REQUEST, there)),
    runOf(await keys.begin({ ...REQUEST, key: 'lasting' }, there)),
  ];
  while (renewed.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  await keys.end(ended, OK, 'always');
  // A renewal that began before the end may arrive after it.
  while (renewed.at(-1)?.includes(ended.claim.id)) await new Promise((resolve) => setTimeout(resolve, 1));
  t.strictSame(renewed.at(-1), [lasting.claim.id]);
  await keys.end(lasting, OK, 'never');
});

t.test('a killed instance is followed at once where nobody else is, else when its claim expires', async (t) => {
  const store = await storeFor(t);
  const killed = runOf(await keysOf(t, store).keys.begin(REQUEST, there));
  const next = runOf(await keysOf(t, store).keys.begin(REQUEST, there));
  t.strictSame(next.claim, { id: killed.claim.id, token: 2 });

  const request = { ...REQUEST, key: 'shared' };
  const gone = runOf(await keysOf(t, shared(store), { claimMs: 1 }).keys.begin(request, there));
  const other = runOf(await keysOf(t, shared(store)).keys.begin(request, there));
  t.strictSame(other.claim, { id: gone.claim.id, token: 2 });
});

t.test('a store that fails at the end keeps the answer from nobody, and the claim runs out', async (t) => {
  const inner = await storeFor(t);
  let isBroken = false;
  const store: Store = {
    ...inner,
    write: (body) => (isBroken ? Promise.reject(new Error('disk full')) : inner.write(body)),
  };
  const { keys, lines } = keysOf(t, store, { claimMs: 1, renewMs: 1 });
  const run = runOf(await keys.begin(REQUEST, there));
  isBroken = true;
  while (!/could not be renewed/.test(lines.join(''))) await new Promise((resolve) => setTimeout(resolve, 1));
  await keys.end(run, OK, 'always');
  t.match(lines.join(''), /could not be stored/);
  await t.rejects(keys.begin(REQUEST, there), { message: 'disk full' });
  isBroken = false;
  t.equal(runOf(await keys.begin(REQUEST, there)).claim.token, 2);
  keys.close();
  keys.close();
});

t.test('each request with a key is told of by what it met', async (t) => {
  const store = await storeFor(t);
  const { keys, results } = keysOf(t, store, { waitMs: 0 });
  const run = runOf(await keys.begin(REQUEST, there));
  await t.rejects(keys.begin(REQUEST, there), { code: 'IDEMPOTENCY_RUNNING' });
  await t.rejects(keys.begin({ ...REQUEST, fingerprint: 'other' }, there), { code: 'IDEMPOTENCY_MISMATCH' });
  await keys.end(run, OK, 'always');
  await keys.begin(REQUEST, there);
  t.strictSame(results, ['first', 'in-progress', 'mismatch', 'replayed']);
});
