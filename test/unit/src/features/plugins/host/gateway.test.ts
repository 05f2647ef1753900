/**
 * Threat: a plugin asks for something it was not granted, in the name of a call that is over or of another plugin, or
 * with an invalid payload. Or it learns internals from error texts.
 */
import t from 'tap';
import type { Json } from '../../../../../../sandbox/contract.ts';
import { systemClock } from '../../../../../../src/domain/clock.ts';
import { AppError, StoreUnavailable } from '../../../../../../src/domain/errors.ts';
import type { Delivery } from '../../../../../../src/domain/idempotency.ts';
import { CallInbox } from '../../../../../../src/features/plugins/host/call-inbox.ts';
import {
  CallJournal,
  EffectsWithoutJournal,
  type RunJournal,
} from '../../../../../../src/features/plugins/host/call-journal.ts';
import { RunningCalls } from '../../../../../../src/features/plugins/host/call-record.ts';
import { bindCapabilities } from '../../../../../../src/features/plugins/host/capabilities/all-capabilities.ts';
import { readPluginGrants } from '../../../../../../src/features/plugins/host/capabilities/grants.ts';
import {
  assertSize,
  CapabilityGateway,
  TooLarge,
  toGuestValue,
} from '../../../../../../src/features/plugins/host/gateway.ts';
import { pluginEntrySchema } from '../../../../../../src/features/plugins/records/plugin.ts';
import { createLog } from '../../../../../../src/observability/log.ts';
import { FakeEffects } from '../../../../../support/keyed-effect.ts';
import { PluginServices } from '../../../../../support/plugin-services.ts';
import { KEEPING } from '../../../../../support/principal.ts';
import { RecordedMetrics } from '../../../../../support/recorded-metrics.ts';

function setUp(
  permissions?: object,
  maxCalls = 100,
  keyed?: { journal: RunJournal; effects: FakeEffects; inbox?: CallInbox },
) {
  const services = new PluginServices(keyed?.effects);
  const metrics = new RecordedMetrics();
  const lines: string[] = [];
  const calls = new RunningCalls();
  const gateway = new CapabilityGateway({
    capabilities: bindCapabilities(services),
    calls,
    effects: services.effects,
    log: createLog('debug', { write: (line) => lines.push(line) }),
    metrics,
    clock: systemClock,
    uuid: () => 'uuid-1',
    relayerIds: async () => ['known', 'local-1', 'local-2'],
  });
  const entry = pluginEntrySchema.parse({ id: 'p', path: 'p.ts', ...(permissions && { permissions }) });
  const plugin = { id: 'p', grants: readPluginGrants(entry), maxCalls, ...KEEPING };
  const record = calls.begin({
    child: 1,
    plugin,
    requestId: 'req-1',
    callerKeyId: 'k',
    fingerprint: () => '',
    journal: keyed?.journal,
    inbox: keyed?.inbox,
  });
  const times: (number | undefined)[] = [];
  let id = 0;
  const ask = async (method: string, params: unknown, child = 1) => {
    id += 1;
    const { at, ...reply } = await gateway.answer(child, record.call, { id, method, params: params as Json });
    times.push(at);
    return reply;
  };
  return { services, metrics, lines, calls, record, times, ask };
}

const refusal = (message: string) => ({ ok: false, error: { message } });
const send = { relayerId: 'known', request: { to: '0x1' } };

t.test('a granted call reaches the service, is counted, traced, and is an effect', async (t) => {
  const { services, metrics, record, ask } = setUp();
  t.strictSame(await ask('relayer.getRelayer', { relayerId: 'known' }), {
    ok: true,
    value: { id: 'known', paused: false },
  });
  t.equal(record.hadEffect, false);
  t.match(await ask('relayer.sendTransaction', send), { ok: true, value: { nonce: 7, value: (2n ** 70n).toString() } });
  t.equal(record.hadEffect, true);
  t.same(services.sent, [{ relayerId: 'known', body: { to: '0x1' } }]);
  t.match(record.traces.entries(0), [
    { method: 'getRelayer', relayerId: 'known', requestId: 'uuid-1', payload: {}, outcome: 'ok' },
    { method: 'sendTransaction', payload: { to: '0x1' }, outcome: 'ok' },
  ]);
  t.same(metrics.of('plugin_capability_calls'), ['p relayer.getRelayer ok', 'p relayer.sendTransaction ok']);
});

t.test('without a grant nothing happens, and the error names the line to add', async (t) => {
  const { services, metrics, record, ask, lines } = setUp({ relayers: { known: ['read'] } });
  t.match(await ask('relayer.sendTransaction', send), {
    ok: false,
    error: { message: /has no grant to send through relayer known: add "known": \["read", "send"\]/ },
  });
  t.match(await ask('kv.get', { key: 'a' }), { ok: false, error: { message: /add "kv": true/ } });
  t.same(services.sent, []);
  t.equal(record.hadEffect, false);
  t.strictSame(record.traces.entries(0), [
    {
      method: 'sendTransaction',
      relayerId: 'known',
      requestId: 'uuid-1',
      payload: send.request,
      durationMs: 0,
      outcome: 'refused',
    },
  ]);
  t.same(metrics.of('plugin_capability_calls'), ['p relayer.sendTransaction refused', 'p kv.get refused']);
  t.match(lines.join(), 'has no grant');
});

t.test('after its end, or from another child, a call can do nothing', async (t) => {
  const { services, calls, record, ask } = setUp();
  t.same(await ask('relayer.sendTransaction', send, 2), refusal('The plugin call is over'));
  calls.end(record);
  t.same(await ask('relayer.sendTransaction', send), refusal('The plugin call is over'));
  t.same(services.sent, []);
});

t.test('unknown methods, bad payloads, oversized payloads and too many calls are refused', async (t) => {
  const { services, metrics, record, ask } = setUp(undefined, 6);
  t.same(await ask('relayer.destroy', {}), refusal('There is no capability "relayer.destroy"'));
  t.match(await ask('constructor', {}), { ok: false });
  t.same(
    await ask('relayer.getTransaction', { relayerId: 'known' }),
    refusal('Invalid payload: transactionId: missing: expected a string'),
  );
  t.match(await ask('kv.get', null), { ok: false, error: { message: /^Invalid payload: expected an object/ } });
  t.match(
    record.traces.entries(0),
    [{ method: 'getTransaction', relayerId: 'known', payload: null, outcome: 'error' }],
    'a relayer call with a bad payload is traced too',
  );
  const large = { relayerId: 'known', request: 'x'.repeat(1_048_577) };
  t.same(await ask('relayer.sendTransaction', large), refusal('Invalid payload: larger than 1048576 bytes'));
  t.match(await ask('kv.exists', { key: 'a' }), { ok: true });
  t.same(await ask('kv.exists', { key: 'a' }), refusal('A call of this plugin may make 6 capability calls'));
  t.same(services.sent, []);
  t.equal(metrics.of('plugin_capability_calls')[0], 'p unknown refused', 'no text of the guest becomes a label');
});

t.test('errors have the texts that plugins know', async (t) => {
  const { ask } = setUp();
  const message = async (method: string, params: object) => {
    const reply = await ask(method, params);
    return reply.ok ? 'ok' : reply.error.message;
  };
  t.equal(
    await message('relayer.getRelayer', { relayerId: 'x' }),
    'Relayer error: Not Found: Relayer with ID x not found',
  );
  t.equal(
    await message('relayer.sendTransaction', { ...send, relayerId: 'paused' }),
    'Relayer error: Relayer is paused',
  );
  t.equal(await message('kv.get', { key: 'a b' }), 'invalid key');
  t.same(await ask('relayer.waitTransaction', { relayerId: 'known', transactionId: 'tx-1', timeout: 0 }), {
    ok: false,
    error: { message: 'Transaction tx-1 timed out after 0ms', status: 504 },
  });
});

t.test('an unexpected fault is logged with its ids, and the plugin learns nothing of it', async (t) => {
  const { ask, record, lines } = setUp();
  t.same(await ask('relayer.getRelayer', { relayerId: 'faulty' }), refusal('Relayer error: Internal Server Error'));
  const line = lines.map((text) => JSON.parse(text)).find(({ err }) => err !== undefined);
  t.match(line, { pluginId: 'p', requestId: 'req-1', relayerRequestId: 'uuid-1', err: { message: /swordfish/ } });
  t.match(record.traces.entries(0), [{ outcome: 'error' }]);
});

t.test('an answer that is too large to cross is refused', async (t) => {
  const { services, ask } = setUp();
  services.store.set('p/large', 'x'.repeat(1_048_577));
  t.same(await ask('kv.get', { key: 'large' }), refusal('The answer is larger than 1048576 bytes'));
});

t.test('a wait ends with its plugin call', async (t) => {
  const { services, calls, record, ask, lines } = setUp();
  services.waited = undefined;
  const waiting = ask('relayer.waitTransaction', { relayerId: 'known', transactionId: 'tx-1' });
  calls.end(record);
  t.same(await waiting, refusal('The plugin call is over'));
  t.equal(services.aborted, 1);
  t.same(lines, [], 'which is no fault');
});

const START = { seed: '0'.repeat(64), now: 1, version: 'v1', context: '{}' };

/** A run of a call with an idempotency key. Token 1 is the first run, a higher one a repeat. */
const keyed = (effects = new FakeEffects(), token = 1, deliveries: readonly Delivery[] = []) => ({
  effects,
  journal: new CallJournal({
    claim: { id: 'claim', token },
    start: START,
    deliveries,
    recorded: effects.names,
    maxBytes: 10_000,
  }),
});

t.test(
  'each effect of a call with an idempotency key has a name, whatever comes between; nothing else has',
  async (t) => {
    const { services, ask } = setUp(undefined, 100, keyed());
    await ask('relayer.sendTransaction', { relayerId: 'known', request: { a: 1, b: 2 } });
    await ask('relayer.getRelayer', { relayerId: 'known' });
    await ask('kv.set', { key: 'a', value: '1' });
    await ask('relayer.sendTransaction', { relayerId: 'known', request: { b: 2, a: 1 } });
    await ask('relayer.sendTransaction', { relayerId: 'known', request: { b: 2, a: 2 } });
    const hash = services.named[0]?.payloadHash;
    t.match(services.named, [
      { claim: { id: 'claim', token: 1 }, payloadHash: /^[0-9a-f]{64}$/, occurrence: 1, isStep: true },
      { payloadHash: hash, occurrence: 4 },
      { occurrence: 5 },
    ]);
    t.not(services.named[2]?.payloadHash, hash);

    t.match(
      services.named[2]?.journal,
      { position: 0, page: { start: START, deliveries: [1, 2, 3, 4].map((request) => ({ request })) } },
      'with all that was heard before it',
    );

    const plain = setUp();
    await plain.ask('relayer.sendTransaction', send);
    t.strictSame(plain.services.named, [undefined]);
  },
);

t.test(
  'a refusal is stored before its plugin hears of it, and a further run is refused with the same words',
  async (t) => {
    const effects = new FakeEffects();
    const budget = { rule: 'value_per_hour', asked: '6', limit: '10', remaining: '4', free_from: 'no time' };
    const refusals = [
      ['relayer.sendTransaction', { ...send, relayerId: 'paused' }],
      ['relayer.sendTransaction', { ...send, relayerId: 'not granted' }],
      ['relayer.sendTransaction', send],
      ['relayer.sendTransaction', send],
      ['relayer.signTransaction', send],
      ['kv.set', { key: 'a b', value: '1' }],
      ['kv.set', { key: 'a', value: '1' }],
    ] as const;
    const first = setUp({ relayers: { known: ['send'], paused: ['send'] } }, 100, keyed(effects));
    first.services.refusal = new AppError('BUDGET_SPENT', { plugin: 'p', relayer: 'known', unit: 'wei', ...budget });
    const told: unknown[] = [];
    for (const [method, params] of refusals) {
      let isStored = false;
      effects.beforeRefusal = async () => {
        await new Promise((resolve) => setImmediate(resolve));
        isStored = true;
      };
      told.push(await first.ask(method, params));
      t.ok(isStored, method);
    }
    t.match(told[2], { error: { code: 'BUDGET_SPENT', status: 403, details: budget } });
    t.equal(new Set(told.map((reply) => JSON.stringify(reply))).size, 5);

    const again = setUp(undefined, 100, keyed(effects, 2));
    const heard: unknown[] = [];
    for (const [method, params] of refusals) heard.push(await again.ask(method, params));
    t.strictSame(heard, told, 'now that nobody would refuse them');
    t.equal(again.record.traces.entries(0).length, 5);
    t.same([...first.services.sent, ...again.services.sent], []);
    t.match(await again.ask('relayer.sendTransaction', send), { ok: true }, 'a further one is new');
  },
);

t.test('a long refusal is stored and told in part', async (t) => {
  const effects = new FakeEffects();
  const { services, ask } = setUp(undefined, 100, keyed(effects));
  services.refusal = new AppError('INVALID_REQUEST', { reason: 'x'.repeat(10_000) });
  const told = await ask('relayer.sendTransaction', send);
  t.ok(JSON.stringify(told).length < 5000);
  t.strictSame(await setUp(undefined, 100, keyed(effects, 2)).ask('relayer.sendTransaction', send), told);
});

t.test('what has happened is not refused afterwards, also where the grant is gone', async (t) => {
  const effects = new FakeEffects();
  const first = setUp(undefined, 100, keyed(effects));
  await first.ask('relayer.sendTransaction', send);
  for (const effect of first.services.named) if (effect !== undefined) effects.happened(effect);
  const again = setUp({ relayers: { known: ['read'] } }, 100, keyed(effects, 2));
  t.match(await again.ask('relayer.sendTransaction', send), { ok: true });
  t.match(await again.ask('relayer.sendTransaction', send), { error: { message: /has no grant to send/ } });
});

t.test('a further run hears what the first one heard, in its order, and goes on from there', async (t) => {
  const effects = new FakeEffects();
  const first = keyed(effects);
  const before = setUp(undefined, 100, first);
  before.services.store.set('p/a', '1');
  const asked = [
    ['kv.get', { key: 'a' }],
    ['relayer.sendTransaction', send],
    ['nothing.such', {}],
    ['kv.get', { key: 'a b' }],
    ['kv.lock', { key: 'l', ttlSec: 5 }],
  ] as const;
  const told: unknown[] = [];
  for (const [method, params] of asked) told.push(await before.ask(method, params));
  const { heard } = first.journal;

  const again = setUp({ relayers: {}, kv: true }, 100, keyed(effects, 2, heard));
  again.services.store.set('p/a', '2');
  const order: number[] = [];
  const answers = asked.map(async ([method, params], index) => {
    const answer = await again.ask(method, params);
    order.push(index);
    return answer;
  });
  const next = again.ask('kv.get', { key: 'a' });
  t.strictSame(await Promise.all(answers), told, 'although the value has changed, and nothing is granted any more');
  t.strictSame(order, [0, 1, 2, 3, 4]);
  t.strictSame(again.times.slice(0, 5), before.times, 'at the same time');
  t.match(await next, { ok: true, value: '2' });
  t.same(again.services.sent, []);
  t.equal(again.record.hadEffect, true);
  t.strictSame(again.record.locks.all.length, 1, 'the lock is taken again');
  t.match(again.record.traces.entries(0), [{ method: 'sendTransaction', outcome: 'ok' }]);
});

t.test('a run that goes another way than the one before is ended, whatever its plugin makes of it', async (t) => {
  const effects = new FakeEffects();
  const first = keyed(effects);
  const before = setUp(undefined, 100, first);
  await before.ask('kv.get', { key: 'a' });
  await before.ask('kv.set', { key: 'b', value: '1' });
  for (const other of [
    ['kv.get', { key: 'c' }],
    ['kv.exists', { key: 'a' }],
    ['relayer.sendTransaction', send],
  ] as const) {
    const { services, record, ask } = setUp(undefined, 100, keyed(effects, 2, first.journal.heard));
    let ends = 0;
    record.onFailure = () => {
      ends += 1;
    };
    t.match(await ask(other[0], other[1]), { ok: false });
    t.match(record.failure, { code: 'EFFECT_MISMATCH', message: /its call 1 is .*, and was kv.get {"key":"a"}/ });
    t.ok(ends > 0);
    t.same(services.sent, []);
    t.same([...services.store], []);
  }
  effects.happened({ claim: { id: 'claim', token: 1 }, payloadHash: 'x', occurrence: 1, isStep: true });
  const { services, record, ask } = setUp(undefined, 100, keyed(effects, 2));
  await ask('relayer.sendTransaction', send);
  t.match(record.failure, { code: 'EFFECT_MISMATCH' }, 'the effect happened, and its answer was not heard');
  t.same(services.sent, []);
});

t.test('a wait that a further run takes up ends when it would have', async (t) => {
  const untilOf = ({ record }: ReturnType<typeof setUp>) => [...record.open].map(({ wait }) => wait?.on.until);
  const began = Date.now() - 60_000;
  const asked = { request: 0, method: '', payload: null, hash: '' };
  const first = keyed();
  const before = setUp(undefined, 100, first);
  const reads = [before.ask('kv.get', { key: 'a' }), before.ask('kv.get', { key: 'b' })];
  await Promise.all(reads);
  void before.ask('call.sleep', { ms: 3_600_000 });
  await new Promise((resolve) => setImmediate(resolve));
  t.match(first.journal.unstored()?.page.waits, [[3, Number]], 'since when is stored with what was heard');
  // The first answer came a minute before the second one, and the wait began with the first.
  const heard = first.journal.heard.map((one, place) => ({ ...one, at: began + place * 60_000 }));
  const waits = [[3, began]] as const;
  const options = { claim: { id: 'claim', token: 2 }, start: START, deliveries: heard, waits, maxBytes: 10_000 };
  for (const journal of [new CallJournal(options), new CallJournal(options).again([])]) {
    const again = setUp(undefined, 100, { journal, effects: first.effects });
    await Promise.all([again.ask('kv.get', { key: 'a' }), again.ask('kv.get', { key: 'b' })]);
    void again.ask('call.sleep', { ms: 3_600_000 });
    await new Promise((resolve) => setImmediate(resolve));
    t.strictSame(untilOf(again), [began + 3_600_000]);
    again.calls.end(again.record);
  }
  before.calls.end(before.record);

  const last = keyed(undefined, 2, heard.slice(0, 1));
  const short = setUp(undefined, 100, last);
  await short.ask('kv.get', { key: 'a' });
  void short.ask('call.sleep', { ms: 3_600_000 });
  await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(untilOf(short), [began + 3_600_000], 'a wait of which nothing was stored');
  t.match(await short.ask('call.sleep', { ms: 60_000 }), { ok: true }, 'its time has come meanwhile');
  t.strictSame(
    last.journal.unstored()?.page.waits?.map(([request]) => request),
    [2],
    'what was answered waits no longer',
  );
  last.journal.hear({ ...asked, request: 2 }, { ok: true, value: null }, 0);
  t.equal(last.journal.unstored()?.page.waits, undefined);
  short.calls.end(short.record);
});

t.test('an event is heard once, in whatever run', async (t) => {
  const events = [
    { name: 'go', value: 1 },
    { name: 'other', value: 'x' },
    { name: 'go', value: 2 },
  ];
  const inbox = () => new CallInbox(events, async () => events);
  const first = keyed();
  const before = setUp(undefined, 100, { ...first, inbox: inbox() });
  t.match(await before.ask('call.waitFor', { name: 'go' }), { ok: true, value: 1 });
  const again = setUp(undefined, 100, { ...keyed(undefined, 2, first.journal.heard), inbox: inbox() });
  t.match(await again.ask('call.waitFor', { name: 'go' }), { ok: true, value: 1 });
  t.match(await again.ask('call.waitFor', { name: 'go' }), { ok: true, value: 2 });
  t.match(await again.ask('call.waitFor', { name: 'go', timeout: 0 }), { ok: false, error: { status: 504 } });
  t.match(await setUp().ask('call.waitFor', { name: 'go' }), { ok: false, error: { message: /only a durable call/ } });
});

t.test('a run that heard too much has no further effect', async (t) => {
  const { services, record, ask } = setUp(undefined, 100, keyed());
  services.store.set('p/large', 'x'.repeat(20_000));
  t.match(await ask('kv.get', { key: 'large' }), { ok: true });
  t.match(await ask('kv.get', { key: 'large' }), { ok: true }, 'a call that only reads ends as it would');
  await ask('relayer.sendTransaction', send);
  t.match(record.failure, { code: 'JOURNAL_FULL' });
  t.same(services.sent, []);
});

t.test('a durable call does not hear that the database is away, and runs again', async (t) => {
  const away = new StoreUnavailable('The database does not answer');
  const answers = async (error: AppError, inbox?: CallInbox) => {
    const effects = new FakeEffects();
    const run = setUp(undefined, 100, { ...keyed(effects), ...(inbox !== undefined && { inbox }) });
    run.services.refusal = error;
    const answer = await run.ask('relayer.sendTransaction', send);
    return { ...run, answer, refused: effects.names.length };
  };
  const inbox = new CallInbox([], async () => []);
  const durable = await answers(away, inbox);
  t.equal(durable.record.failure, away);
  t.equal(durable.refused, 0, 'and the effect is not refused for ever');
  const keyedOne = await answers(away);
  t.equal(keyedOne.record.failure, undefined, 'whoever repeats a call with a key hears it');
  t.same(keyedOne.answer, refusal('Relayer error: The database does not answer'));
  const market = new AppError('UNAVAILABLE', { reason: 'The market gave no price: gone' });
  const untraded = await answers(market, inbox);
  t.equal(untraded.record.failure, undefined, 'what it can handle, it hears');
  t.same(untraded.answer, refusal('Relayer error: The market gave no price: gone'));
});

t.test('a call that was half done before there were journals has the effects of its earlier run', async (t) => {
  const effects = new FakeEffects();
  const first = setUp(undefined, 100, keyed(effects));
  await first.ask('relayer.sendTransaction', send);
  await first.ask('kv.set', { key: 'a', value: '1' });
  const claim = { id: 'claim', token: 2 };
  for (const effect of first.services.named) if (effect !== undefined) effects.happened({ ...effect, occurrence: 0 });
  const journal = new EffectsWithoutJournal(claim, effects.names);
  const { services, record, ask } = setUp(undefined, 100, { journal, effects });
  const later = ask('relayer.sendTransaction', { ...send, request: { to: '0x2' } });
  await new Promise((resolve) => setImmediate(resolve));
  t.same(services.sent, [], 'what is new waits for what was');
  t.match(await ask('kv.exists', { key: 'a' }), { ok: true });
  t.match(await ask('relayer.sendTransaction', send), { ok: true });
  t.match(await later, { ok: true });
  t.match(services.named, [{ occurrence: 0 }, { occurrence: 0 }]);
  t.equal(record.failure, undefined);
});

t.test('where it cannot be stored what came of an effect, the call ends', async (t) => {
  const unstored = { code: 'UNAVAILABLE', status: 503, message: /repeat it with the same Idempotency-Key/ };
  const effects = new FakeEffects();
  const { record, ask } = setUp(undefined, 100, keyed(effects));
  effects.beforeRefusal = () => Promise.reject(new Error('disk full'));
  t.same(await ask('relayer.sendTransaction', { ...send, relayerId: 'paused' }), refusal('The plugin call is over'));
  t.match(record.failure, unstored);

  const doubtful = setUp(undefined, 100, keyed());
  doubtful.services.beforeSend = async () => {
    const [effect] = doubtful.services.named;
    if (effect !== undefined) doubtful.services.effects.happened(effect);
    throw new Error('the connection died during the commit');
  };
  await doubtful.ask('relayer.sendTransaction', send);
  t.match(doubtful.record.failure, unstored, 'it happened, so that nobody may hear that it did not');
});

t.test('a run that another one has followed ends', async (t) => {
  const { services, record, ask } = setUp(undefined, 100, keyed());
  services.refusal = new AppError('IDEMPOTENCY_RUNNING', {});
  await ask('relayer.sendTransaction', send);
  t.match(record.failure, { code: 'IDEMPOTENCY_RUNNING' });
});

t.test('an answer that is too large to cross is no refusal: it was done', async (t) => {
  const effects = new FakeEffects();
  const { services, record, ask } = setUp(undefined, 100, keyed(effects));
  services.view = { data: 'x'.repeat(1_048_577) };
  t.same(await ask('relayer.sendTransaction', send), refusal('The answer is larger than 1048576 bytes'));
  t.equal(record.failure, undefined);
  t.same(await effects.recorded(), []);
});

t.test('limits go with what is sent, and a refusal tells its figures', async (t) => {
  const limited = { methods: ['send', 'rpc'], value_per_hour: 10 };
  const { services, metrics, lines, ask } = setUp({ relayers: { known: limited } });
  await ask('relayer.sendTransaction', send);
  t.match(services.spenders, [{ pluginId: 'p', caveats: { valuePerHour: 10n } }]);

  const figures = {
    rule: 'value_per_hour',
    asked: '6',
    limit: '10',
    remaining: '4',
    free_from: '2026-01-01T00:00:00.000Z',
  };
  services.refusal = new AppError('BUDGET_SPENT', { plugin: 'p', relayer: 'known', unit: 'wei', ...figures });
  for (let time = 0; time < 2; time += 1) {
    t.strictSame(await ask('relayer.sendTransaction', send), {
      ok: false,
      error: {
        message: `Relayer error: ${services.refusal.message}`,
        code: 'BUDGET_SPENT',
        status: 403,
        details: figures,
      },
    });
  }
  const breach = { rule: 'recipients', asked: '0x1', limit: '0x2' };
  services.refusal = new AppError('GRANT_EXCEEDED', { plugin: 'p', relayer: 'known', ...breach });
  t.match(await ask('relayer.sendTransaction', send), {
    error: { code: 'GRANT_EXCEEDED', status: 403, details: breach },
  });

  const act = { relayerId: 'known', request: { method: 'eth_sendRawTransaction', params: ['0x'] } };
  t.match(await ask('relayer.rpc', act), { error: { message: /may not ask a node to act/ } });
  t.same(metrics.of('plugin_capability_calls', 'answer'), ['ok', 'refused', 'refused', 'refused', 'refused']);
  t.equal(
    lines.filter((line) => line.includes('"level":"warn"') || line.includes('"warn"')).length,
    1,
    'the first is told aloud',
  );
});

t.test('what a plugin calls a relayer writes nothing into the log but its own name', async (t) => {
  const { lines, ask } = setUp({ relayers: { known: ['read'] } });
  const relayerId = `x\r\n{"level":60}\u001b[2J\u202e\u2028${'y'.repeat(200)}`;
  t.match(await ask('relayer.getRelayer', { relayerId }), { ok: false });
  const said = lines.map((line) => (JSON.parse(line) as { msg: string }).msg).join('');
  t.match(said, /x\\r/);
  t.notMatch(said, /[\p{Cc}\p{Cf}\u2028]/u);
  t.ok(said.length < 1000, `${said.length} characters`);
});

t.test('a misspelt relayer is named with the near one, of those that the plugin may use', async (t) => {
  const said = async (permissions: object | undefined, relayerId: string) => {
    const { ask } = setUp(permissions);
    const reply = await ask('relayer.getRelayer', { relayerId });
    return reply.ok ? 'ok' : reply.error.message;
  };
  const notFound = (id: string) => `Relayer error: Not Found: Relayer with ID ${id} not found`;
  t.equal(await said(undefined, 'lokal-1'), `${notFound('lokal-1')}. Did you mean "local-1"?`);
  t.equal(await said(undefined, 'nobody'), notFound('nobody'));
  const granted = { relayers: { known: ['read'] }, kv: true };
  t.match(
    await said(granted, 'knwon'),
    /^Plugin p has no grant to read relayer knwon \(Did you mean "known"\?\): add /,
  );
  t.match(await said(granted, 'lokal-1'), /^Plugin p has no grant to read relayer lokal-1: add /, 'no other plugin’s');
  const absent = { relayers: { 'local-3': ['read'] }, kv: true };
  t.equal(await said(absent, 'local-3'), notFound('local-3'), 'only what it may use');
});

t.test('integers beyond 2^53 become decimal strings, smaller ones numbers', async (t) => {
  t.same(toGuestValue({ nonce: 7n, value: 2n ** 70n, list: [-1n, 2n ** 53n] }, 1000), {
    nonce: 7,
    value: '1180591620717411303424',
    list: [-1, '9007199254740992'],
  });
});

t.test('absent fields go, an absent value is null', async (t) => {
  t.strictSame(toGuestValue({ a: undefined, b: null }, 1000), { b: null });
  t.equal(toGuestValue(undefined, 1000), null);
  t.equal(toGuestValue('text', 1000), 'text');
  t.equal(toGuestValue(false, 1000), false);
});

t.test('a key named __proto__ stays a key', async (t) => {
  const value = toGuestValue(JSON.parse('{"__proto__":{"polluted":true}}'), 1000);
  t.equal(JSON.stringify(value), '{"__proto__":{"polluted":true}}');
  t.equal(Object.getPrototypeOf(value), Object.prototype);
});

t.test('what is too large is refused, either way', async (t) => {
  const large = 'é'.repeat(600);
  t.throws(() => toGuestValue({ large }, 1000), TooLarge);
  t.throws(() => toGuestValue({ [large]: 1 }, 1000), new TooLarge(1000));
  t.throws(() => assertSize([large], 1000), TooLarge);
  t.throws(() => assertSize({ [large]: true }, 1000), TooLarge);
  t.throws(
    () =>
      assertSize(
        Array.from({ length: 200 }, () => 1),
        1000,
      ),
    TooLarge,
  );
  t.doesNotThrow(() => assertSize({ a: ['x', 1, null, { b: false }] }, 1000));
});
