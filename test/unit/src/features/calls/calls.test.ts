/**
 * Threat: a client ends, repeats or feeds the call of another plugin, a retry pays a second time, or a record tells a
 * secret.
 */
import t, { type Test } from 'tap';
import type { Delivery, JournalEntry } from '../../../../../src/domain/idempotency.ts';
import type { Json } from '../../../../../src/domain/json/json.ts';
import { createCallsService } from '../../../../../src/features/calls/calls.ts';
import {
  type CallEnd,
  type CallRecord,
  MAX_EVENT_BYTES,
  MAX_EVENTS,
} from '../../../../../src/features/calls/record.ts';
import { pluginEntrySchema } from '../../../../../src/features/plugins/records/plugin.ts';
import { OPERATOR } from '../../../../support/caller.ts';
import { storeFor } from '../../../../support/store.ts';
import { callOf } from '../../../../support/store-contract/calls.ts';
import { TravelClock } from '../../../../support/travel-clock.ts';

const HOUR = 3_600_000;
const START = {
  seed: 'ab'.repeat(32),
  now: 7,
  version: 'v1',
  context: '{"params":1,"config":{"url":"https://in.config"}}',
};
const NOT_FOUND = { code: 'CALL_NOT_FOUND' };

const read = (request: number, value: Json = request): Delivery => ({
  ...{ request, method: 'kv.get', hash: `h${request}`, at: request },
  ...{ payload: { key: `k${request}` }, reply: { ok: true, value } },
});

/** Calls of the plugin `bridge`, and what was heard of them. */
async function setUp(t: Test) {
  const clock = new TravelClock();
  const store = await storeFor(t, clock);
  const calls = createCallsService(store);
  const told: string[] = [];
  calls.attach({
    wake: () => told.push('wake'),
    stopped: (id) => told.push(`stopped ${id}`),
    sent: (id) => told.push(`sent ${id}`),
  });
  const claimed = async (id: string): Promise<CallRecord> => {
    await store.write((writer) => writer.insertCall(callOf({ id, key: id })));
    const call = await store.write((writer) => writer.claimCall(id, { forMs: HOUR, version: null }));
    if (call === undefined) throw new Error('it is not due');
    return call;
  };
  /** A call that has ended, with its effects by the numbers of their requests; `null` was refused. */
  const ended = async (id: string, deliveries: Delivery[], effects: [number, 'done' | 'refused'][], state: CallEnd) => {
    const claim = await claimed(id);
    const journal: JournalEntry = { position: 0, page: { start: START, deliveries } };
    for (const [request, is] of effects) {
      const effect = { claim, payloadHash: `h${request}`, occurrence: request, isStep: true, journal };
      const note = is === 'done' ? { outcome: request } : { failure: { message: 'refused' } };
      await store.write((writer) => writer.insertEffect(effect, note));
    }
    const ending =
      state === 'returned'
        ? { returned: '{"x":1}' }
        : { error: { code: 'X', message: 'https://in.config', status: 418 } };
    const entry = effects.length === 0 && deliveries.length > 0 ? journal : undefined;
    await store.write((writer) => writer.endCall(claim, { state, ending, deaths: 2, entry }));
    return claim;
  };
  const heard = async (id: string) =>
    (await store.read.journal(id)).flatMap(({ page }) => page.deliveries.map(({ request }) => request));
  const effectsOf = async (id: string) =>
    (await store.read.effectNames(id)).map(({ occurrence }) => occurrence).toSorted((a, b) => a - b);
  const audited = async () =>
    (await store.read.auditRecords({ before: null, limit: 50 }, {})).items.map(({ action, after }) => [action, after]);
  return { clock, store, calls, told, claimed, ended, heard, effectsOf, audited };
}

t.test('a call is shown with all that its caller may know, and belongs to its plugin alone', async (t) => {
  const { store, calls, claimed, ended } = await setUp(t);
  const waiting = await claimed('waits');
  await store.write((writer) =>
    writer.suspendCall(waiting, {
      waitsFor: [
        { kind: 'event', name: 'go', until: 1 },
        { kind: 'transaction', id: 'tx', relayerId: 'r', isFinal: true, until: 2 },
        { kind: 'plugin', reason: 'disabled', until: 3 },
      ],
      ...{ inMs: HOUR, events: 0, deaths: 0 },
    }),
  );
  t.match(await calls.get('bridge', 'waits'), {
    ...{ id: 'waits', plugin_id: 'bridge', key: 'waits', state: 'waiting', tries: 1, version: 'v1', trigger: null },
    waits_for: [
      { kind: 'event', name: 'go', transaction_id: null },
      { kind: 'transaction', name: null, transaction_id: 'tx' },
      { kind: 'plugin', name: 'disabled', transaction_id: null },
    ],
    ...{ ended_at: null, answer: null, error: null },
  });
  await ended('well', [], [], 'returned');
  await ended('ill', [], [], 'threw');
  t.match(await calls.get('bridge', 'well'), { state: 'returned', answer: { x: 1 }, error: null });
  t.match(await calls.get('bridge', 'ill'), { state: 'threw', answer: null, error: { code: 'X', details: null } });
  const page = { page: 1, perPage: 10 };
  t.match(await calls.list('bridge', page, {}), { total: 3 });
  t.match(await calls.list('bridge', page, { state: 'threw' }), { total: 1, items: [{ id: 'ill' }] });
  t.match(await calls.list('other', page, {}), { total: 0 });
  const event = { name: 'go', value: 1 };
  for (const [plugin, id] of [['other', 'waits'] as const, ['bridge', 'nobody'] as const]) {
    await t.rejects(calls.get(plugin, id), NOT_FOUND);
    await t.rejects(calls.record(plugin, id), NOT_FOUND);
    await t.rejects(calls.cancel(plugin, id, OPERATOR), NOT_FOUND);
    await t.rejects(calls.retry(plugin, id, HOUR, OPERATOR), NOT_FOUND);
    await t.rejects(calls.send(plugin, id, event, OPERATOR), NOT_FOUND);
  }
  t.match(await calls.get('bridge', 'waits'), { state: 'waiting' });
});

t.test('a call is canceled once, and has no effect after that', async (t) => {
  const { store, calls, told, claimed, audited } = await setUp(t);
  const claim = await claimed('a');
  t.match(await calls.cancel('bridge', 'a', OPERATOR), { state: 'canceled', error: { code: 'CALL_CANCELED' } });
  await t.rejects(calls.cancel('bridge', 'a', OPERATOR), { code: 'INVALID_REQUEST', message: /has ended/ });
  const effect = { claim, payloadHash: 'h', occurrence: 1, isStep: true };
  await t.rejects(
    store.write((writer) => writer.insertEffect(effect, { outcome: 1 })),
    { code: 'IDEMPOTENCY_RUNNING' },
  );
  t.strictSame(told, ['stopped a']);
  t.strictSame(await audited(), [['cancel', { call: 'a' }]]);
});

t.test('an event is stored for a call that is open, as far as there is room', async (t) => {
  const { store, calls, told, claimed, ended, audited } = await setUp(t);
  await claimed('a');
  const send = (value: Json, id = 'a') => calls.send('bridge', id, { name: 'go', value }, OPERATOR);
  await send({ yes: true });
  await send('x'.repeat(MAX_EVENT_BYTES - 2));
  await t.rejects(send('x'.repeat(MAX_EVENT_BYTES - 1)), { code: 'INVALID_REQUEST', message: /at most 65536 bytes/ });
  t.strictSame((await store.read.callEvents('a')).length, 2);
  await store.write(async (writer) => {
    for (let n = 2; n < MAX_EVENTS; n += 1) await writer.insertCallEvent('a', { name: 'more', value: n });
  });
  await t.rejects(send(1), { code: 'INVALID_REQUEST', message: /at most 1000 events/ });
  await ended('over', [], [], 'returned');
  await t.rejects(send(1, 'over'), { code: 'INVALID_REQUEST', message: /has ended/ });
  t.strictSame(told, ['sent a', 'sent a']);
  t.equal((await audited()).length, 2);
});

t.test('a retry goes on from the last effect that happened', async (t) => {
  const { store, clock, calls, told, ended, claimed, heard, effectsOf, audited } = await setUp(t);
  const retry = (id: string) => calls.retry('bridge', id, HOUR, OPERATOR);
  const cases = [
    // What was read after the last effect is read again.
    { id: 'reads', deliveries: [1, 2, 3], effects: [[2, 'done']], kept: [1, 2], left: [2] },
    // A refusal after it is asked for again, one before it stays: what followed may depend on it.
    {
      id: 'refused',
      deliveries: [1, 2, 3],
      effects: [
        [1, 'refused'],
        [2, 'done'],
        [3, 'refused'],
      ],
      kept: [1, 2],
      left: [1, 2],
    },
    // An effect that happened, and of which the call did not hear, may depend on all that it heard.
    {
      id: 'unheard',
      deliveries: [1, 2],
      effects: [
        [1, 'done'],
        [3, 'done'],
      ],
      kept: [1, 2],
      left: [1, 3],
    },
    { id: 'none', deliveries: [1, 2], effects: [], kept: [], left: [] },
    { id: 'only refusals', deliveries: [1, 2], effects: [[1, 'refused']], kept: [], left: [] },
  ] as { id: string; deliveries: number[]; effects: [number, 'done' | 'refused'][]; kept: number[]; left: number[] }[];
  for (const { id, deliveries, effects, kept, left } of cases) {
    const { token } = await ended(
      id,
      deliveries.map((request) => read(request)),
      effects,
      'threw',
    );
    clock.shift += 1_000;
    t.match(await retry(id), { state: 'running', error: null, ended_at: null, tries: 1 });
    t.strictSame(await heard(id), kept, id);
    t.strictSame(await effectsOf(id), left, id);
    t.strictSame((await store.read.journal(id))[0]?.page.start, START, 'with its chance and its time');
    const call = await store.read.call(id);
    t.match(call, { deaths: 0, token: token + 1 }, 'its lost processes are forgiven');
    t.ok((call?.expiresAt ?? 0) > clock.now() + HOUR - 60_000 && (call?.expiresAt ?? 0) <= clock.now() + HOUR);
  }
  t.equal(told.length, cases.length);
  t.strictSame(new Set(told), new Set(['wake']));
  t.strictSame((await audited()).length, cases.length);

  await ended('expired', [], [], 'expired');
  await ended('canceled', [], [], 'canceled');
  t.match(await retry('expired'), { state: 'running' });
  t.match(await retry('canceled'), { state: 'running' });
  await ended('returned', [read(1), read(2)], [[1, 'done']], 'returned');
  await claimed('runs');
  for (const id of ['returned', 'runs']) {
    await t.rejects(retry(id), { code: 'INVALID_REQUEST', message: /threw, expired or was canceled/ });
  }
  t.strictSame(await heard('returned'), [1, 2], 'nothing of it is gone');
});

t.test('a record has all that was heard, without the secrets of the plugin', async (t) => {
  const { store, calls, claimed } = await setUp(t);
  const claim = await claimed('a');
  await t.rejects(calls.record('bridge', 'a'), { code: 'INVALID_REQUEST', message: /heard nothing/ });
  const { lifetime: _, ...limits } = pluginEntrySchema.parse({ id: 'bridge', path: 'b.ts' }).limits;
  const version = {
    ...{ pluginId: 'bridge', version: 'v1', code: '', filename: 'b.ts', isolation: 'plugin', limits },
    env: { KEY: 'sk_live_1' },
  };
  const pages: JournalEntry[] = [
    { position: 0, page: { start: START, deliveries: [read(1), read(2, 'sk_live_1')] } },
    { position: 1, page: { deliveries: [read(2, 'sk_live_1'), read(3, 'at https://in.config/x')] } },
  ];
  const store1 = (journal: JournalEntry | undefined, occurrence: number) =>
    store.write((writer) =>
      writer.insertEffect({ claim, payloadHash: 'h', occurrence, isStep: true, journal }, { outcome: 1 }),
    );
  for (const [index, page] of pages.entries()) await store1(page, index);
  await t.rejects(calls.record('bridge', 'a'), {
    code: 'INVALID_REQUEST',
    message: /version of the call is not stored/,
  });
  await store.write((writer) => writer.putBundle('v1', 'bridge', JSON.stringify(version)));
  t.match(await calls.record('bridge', 'a'), { outcome: null });
  const ending = { error: { code: 'X', message: 'no https://in.config', status: 418, details: '{"key":"sk_live_1"}' } };
  await store.write((writer) => writer.endCall(claim, { state: 'threw', ending, deaths: 0 }));
  const record = await calls.record('bridge', 'a');
  t.match(record, {
    ...{ format: 1, plugin: 'bridge', version: 'v1', seed: START.seed, now: 7 },
    context: { params: 1, config: { url: '<secret config.url>' } },
    deliveries: [
      { request: 1, answer: { value: 1 } },
      { request: 2, answer: { value: '<secret KEY>' } },
      { request: 3, answer: { value: 'at <secret config.url>/x' } },
    ],
    outcome: { error: { message: 'no <secret config.url>', details: { key: '<secret KEY>' } } },
  });
  t.equal((record['deliveries'] as unknown[]).length, 3, 'pages that overlap say the same once');
  t.notMatch(JSON.stringify(record), /sk_live_1|in\.config/);
});
