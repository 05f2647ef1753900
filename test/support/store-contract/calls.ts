import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import type { Delivery, IdempotencyClaim, KeyedEffect } from '../../../src/domain/idempotency.ts';
import type { CallRecord, NewCall } from '../../../src/features/calls/record.ts';
import type { Store } from '../../../src/store/store.ts';
import { transactionOf } from '../store.ts';

const A_MINUTE = 60_000;

/** A call as it is accepted. The caller gives only the fields that matter. */
export function callOf(given: Partial<NewCall> = {}): NewCall {
  return {
    id: crypto.randomUUID(),
    pluginId: 'bridge',
    keyId: 'caller',
    key: 'key',
    fingerprint: 'print',
    version: 'v1',
    request: { method: 'POST', route: '', params: { a: 'ä\0' }, headers: {}, query: {}, requestId: 'r' },
    trigger: null,
    lifetimeMs: A_MINUTE,
    ...given,
  };
}

const insert = (store: Store, call: NewCall) => store.write((writer) => writer.insertCall(call));

const claim = (store: Store, id: string, forMs = A_MINUTE, version: string | null = 'v2') =>
  store.write((writer) => writer.claimCall(id, { forMs, version }));

async function claimed(store: Store, given: Partial<NewCall> = {}, forMs = A_MINUTE): Promise<CallRecord> {
  const call = callOf(given);
  await insert(store, call);
  const record = await claim(store, call.id, forMs);
  if (record === undefined) throw new Error('the call is not due');
  return record;
}

const deliveryOf = (request: number): Delivery => ({
  request,
  method: 'kv.get',
  hash: `hash ${request}`,
  at: request,
  reply: { ok: true, value: `secret ${request}` },
});

const START = { seed: '0'.repeat(64), now: 1, version: 'v1', context: '{}' };

const effectOf = (by: IdempotencyClaim, journal?: KeyedEffect['journal'], occurrence = 0): KeyedEffect => ({
  claim: { id: by.id, token: by.token },
  payloadHash: 'payload',
  occurrence,
  isStep: true,
  journal,
});

const idsOf = (calls: readonly { id: string }[]) => calls.map(({ id }) => id);

/** Tests of durable calls for every store. */
export function callsContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('a call is accepted once for each key of its caller, in anybody’s commit', async (t) => {
    const store = await open(t);
    const call = callOf({ trigger: { name: 'morning', at: 7, depth: 1 }, version: null });
    t.equal(await insert(store, call), true);
    t.equal(await insert(store, { ...callOf(), id: 'other' }), false);
    t.equal(await insert(store, { ...callOf(), id: 'of another', keyId: 'another' }), true);
    const stored = await store.read.call(call.id);
    const { lifetimeMs: _, ...fields } = call;
    t.match(stored, { ...fields, state: 'running', waitsFor: [], tries: 0, endedAt: null, ending: null });
    t.equal((stored?.expiresAt ?? 0) - (stored?.createdAt ?? 0), A_MINUTE);
    t.equal((await store.read.callOfKey('caller', 'key'))?.id, call.id);
    // A request that takes the plugin for one that is not durable must not get the claim of the call's effects.
    const plain = { scope: 'caller', key: 'key', fingerprint: 'print' };
    for (const isAlone of [true, false]) {
      const asked = { id: 'plain', owner: 'one', forMs: A_MINUTE, isAlone };
      t.match(await store.write((writer) => writer.claimKey(plain, asked)), { kind: 'other-request' });
    }
    await t.rejects(
      store.write(async (writer) => {
        await writer.insertCall(callOf({ key: 'undone', id: 'undone' }));
        throw new Error('no');
      }),
    );
    t.equal(await store.read.call('undone'), undefined);
  });

  t.test('a due call is run by one at a time, and taken over when its claim is not renewed', async (t) => {
    const store = await open(t);
    const call = callOf({ version: null });
    await insert(store, call);
    const now = (await store.now()) + 1;
    t.strictSame(await store.read.dueCalls(now, ['other']), [{ id: call.id, pluginId: 'bridge' }]);
    t.strictSame(await store.read.dueCalls(now, ['other', 'bridge']), []);
    const first = await claim(store, call.id, 200);
    t.match(first, { token: 1, tries: 1, version: 'v2', state: 'running' });
    t.equal(await claim(store, call.id), undefined, 'it is not due while it runs');
    t.strictSame(await store.read.dueCalls(await store.now(), []), []);
    if (first === undefined) return;
    t.strictSame(await store.write((writer) => writer.renewCalls([first], 300)), [call.id]);
    await delay(320);
    const second = await claim(store, call.id, A_MINUTE, 'v3');
    t.match(second, { token: 2, tries: 2, version: 'v2' });
    t.strictSame(await store.write((writer) => writer.renewCalls([first], A_MINUTE)), [], 'the first run has lost it');
    const end = { state: 'returned', ending: { returned: '1' }, deaths: 0 } as const;
    t.equal(await store.write((writer) => writer.endCall(first, end)), false);
    await t.rejects(
      store.write((writer) => writer.insertEffect(effectOf(first), { outcome: 1 })),
      { code: 'IDEMPOTENCY_RUNNING' },
    );
    t.equal(await store.write((writer) => writer.endCall({ id: call.id, token: 2 }, end)), true);
    t.match(await store.read.call(call.id), { state: 'returned', ending: { returned: '1' }, nextAt: null });
    await t.rejects(store.write((writer) => writer.insertEffect(effectOf({ id: call.id, token: 1 }), { outcome: 1 })));
    t.equal(await claim(store, call.id), undefined, 'an ended call is never due');
  });

  t.test('at a start, what ran before is due at once where no other instance runs', async (t) => {
    const store = await open(t);
    const { id } = await claimed(store);
    await store.write((writer) => writer.resumeCalls());
    t.strictSame(idsOf(await store.read.dueCalls((await store.now()) + 1, [])), [id]);
  });

  t.test('a call that waits is due by time, by an event, or when it is woken', async (t) => {
    const store = await open(t);
    const waitsFor = [{ kind: 'event' as const, name: 'go', until: 7 }];
    const suspend = (by: IdempotencyClaim, inMs: number, events = 0) =>
      store.write((writer) => writer.suspendCall(by, { waitsFor, inMs, events, deaths: 1 }));
    const due = async () => idsOf(await store.read.dueCalls((await store.now()) + 1, []));

    const first = await claimed(store);
    t.equal(await suspend(first, A_MINUTE), true);
    t.match(await store.read.call(first.id), { state: 'waiting', waitsFor, deaths: 1 });
    t.strictSame(await due(), []);
    const send = (id: string) => store.write((writer) => writer.insertCallEvent(id, { name: 'go', value: { x: 'ü' } }));
    t.equal(await send(first.id), 'stored');
    t.strictSame(await due(), [first.id]);
    t.strictSame(await store.read.callEvents(first.id), [{ name: 'go', value: { x: 'ü' } }]);
    const again = await claim(store, first.id);
    if (again === undefined) throw new Error('not due');
    t.match(again, { state: 'running', waitsFor: [], tries: 2 });
    t.equal(await send(first.id), 'stored');
    t.equal(await suspend(again, A_MINUTE, 1), true);
    t.strictSame(await due(), [first.id], 'the event came during the run, which did not hear of it');

    const timed = await claimed(store, { key: 'timed' });
    await suspend(timed, A_MINUTE);
    const next = await store.read.nextCallAt((await store.now()) + 1);
    t.ok(next !== null && next > (await store.now()) + A_MINUTE - 5_000);
    await store.write((writer) => writer.wakeCall(timed.id));
    t.ok((await due()).includes(timed.id));
    await store.write((writer) => writer.postponeCall(timed.id, A_MINUTE));
    t.notOk((await due()).includes(timed.id));
    t.equal(await suspend(timed, 0), false, 'it runs no longer');
    t.equal(await send('nobody'), 'ended');
    t.strictSame(await store.read.openCalls(), { waiting: 2 });
  });

  t.test('the journal goes with an effect and with the end, and is sealed', async (t) => {
    const store = await open(t);
    const call = await claimed(store);
    const one = { position: 0, page: { start: START, deliveries: [deliveryOf(1)] } };
    const longer = { position: 0, page: { start: START, deliveries: [deliveryOf(1), deliveryOf(2)] } };
    await store.write((writer) => writer.insertEffect(effectOf(call, one), { outcome: 1 }));
    await store.write((writer) => writer.insertEffect(effectOf(call, longer, 1), { failure: { message: 'no' } }));
    await t.rejects(store.write((writer) => writer.insertEffect(effectOf(call, one), { outcome: 1 })));
    t.strictSame(await store.read.journal(call.id), [longer], 'what is not committed is not written');
    const rest = { position: 2, page: { deliveries: [deliveryOf(3)] } };
    const end = { state: 'threw', ending: { error: { code: 'X', message: 'x', status: 500 } }, deaths: 0 } as const;
    await store.write((writer) => writer.endCall(call, { ...end, entry: rest }));
    t.strictSame(await store.read.journal(call.id), [longer, rest]);

    t.equal(
      await store.write((writer) =>
        writer.retryCall(call.id, {
          lifetimeMs: A_MINUTE,
          keepUpTo: one.page,
          forget: [
            { payloadHash: 'payload', occurrence: 0 },
            { payloadHash: 'payload', occurrence: 1 },
          ],
        }),
      ),
      true,
    );
    t.strictSame(await store.read.journal(call.id), [one]);
    t.strictSame(
      await store.read.effectNames(call.id),
      [{ payloadHash: 'payload', occurrence: 0 }],
      'only refusals are forgotten',
    );
    t.match(await claim(store, call.id), { token: 3, tries: 2, ending: null, endedAt: null });
  });

  t.test('a call that is stopped has no effect any more', async (t) => {
    const store = await open(t);
    const call = await claimed(store);
    t.equal(await store.write((writer) => writer.stopCall(call.id, 'canceled', null)), true);
    t.equal(await store.write((writer) => writer.stopCall(call.id, 'canceled', null)), false);
    await t.rejects(store.write((writer) => writer.insertEffect(effectOf(call), { outcome: 1 })));
    t.match(await store.read.call(call.id), { state: 'canceled', ending: null, nextAt: null });
  });

  t.test('an ended call goes with its events, journal, effects and key; its version after it', async (t) => {
    const store = await open(t);
    const far = (await store.now()) + A_MINUTE;
    const prune = () =>
      store.write(async (writer) => ({
        keys: await writer.pruneKeys(far, 10),
        calls: await writer.pruneCalls(far, 10),
        bundles: await writer.pruneBundles(far, 10),
      }));
    await store.write((writer) => writer.putBundle('v1', 'bridge', '{"code":""}'));
    await store.write((writer) => writer.putBundle('v1', 'bridge', 'never changes'));
    t.equal(await store.read.bundle('v1'), '{"code":""}');
    await store.write((writer) => writer.insertTransaction(transactionOf({ id: 't1' })));
    const call = await claimed(store);
    await store.write((writer) => writer.insertCallEvent(call.id, { name: 'go', value: 1 }));
    const page = { position: 0, page: { start: START, deliveries: [] } };
    await store.write((writer) => writer.insertEffect(effectOf(call, page), { transactionId: 't1', outcome: 1 }));
    t.strictSame(await prune(), { keys: 0, calls: 0, bundles: 0 });
    await store.write((writer) => writer.endCall(call, { state: 'returned', ending: { returned: '1' }, deaths: 0 }));
    t.strictSame(await prune(), { keys: 0, calls: 1, bundles: 1 });
    t.equal(await store.read.bundle('v1'), undefined);
    t.equal((await store.read.journal(call.id)).length, 1);
    t.strictSame(await prune(), { keys: 0, calls: 0, bundles: 0 }, 'its transaction is open');
  });

  t.test('the calls of a plugin are listed, newest first', async (t) => {
    const store = await open(t);
    for (const key of ['1', '2', '3']) {
      await insert(store, callOf({ key, id: key }));
      await delay(2);
    }
    await insert(store, callOf({ key: 'other', pluginId: 'other' }));
    await claim(store, '2');
    await store.write((writer) => writer.stopCall('2', 'canceled', null));
    const page = { page: 1, perPage: 2 };
    const listed = await store.read.calls('bridge', page, {});
    t.strictSame([idsOf(listed.items), listed.total], [['3', '2'], 3]);
    t.strictSame(idsOf((await store.read.calls('bridge', page, { state: 'canceled' })).items), ['2']);
  });
}
