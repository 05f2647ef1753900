/**
 * Threat: a call that was accepted is lost, is run by two instances at once, hears something else in its next run, or
 * never ends.
 */
import t, { type Test } from 'tap';
import { AppError } from '../../../../../../src/domain/errors.ts';
import type { Json } from '../../../../../../src/domain/json/json.ts';
import { createBundles } from '../../../../../../src/features/calls/bundles.ts';
import type { CallRecord, CallWait } from '../../../../../../src/features/calls/record.ts';
import { readPluginGrants } from '../../../../../../src/features/plugins/host/capabilities/grants.ts';
import type { CatalogPlugin } from '../../../../../../src/features/plugins/host/catalog/known-plugin.ts';
import { DurableCalls, type DurableTiming } from '../../../../../../src/features/plugins/host/durable-calls.ts';
import type { DurableEnd, DurableRun } from '../../../../../../src/features/plugins/host/durable-run.ts';
import type { PluginRequest } from '../../../../../../src/features/plugins/host/plugin-host.ts';
import { pluginEntrySchema } from '../../../../../../src/features/plugins/records/plugin.ts';
import { createLog } from '../../../../../../src/observability/log.ts';
import type { Store } from '../../../../../../src/store/store.ts';
import { eventually } from '../../../../../support/eventually.ts';
import { InstanceLeases } from '../../../../../support/instance-leases.ts';
import { KEEPING } from '../../../../../support/principal.ts';
import { RecordedMetrics } from '../../../../../support/recorded-metrics.ts';
import { relayerOf, storeFor, transactionOf } from '../../../../../support/store.ts';
import { TravelClock } from '../../../../../support/travel-clock.ts';

const HOUR = 3_600_000;
const TIMING: DurableTiming = {
  ...{ claimMs: 60_000, renewMs: 15, sweepMs: 15, sweepFloorMs: 2 },
  ...{ lookMs: 60_000, restMs: 5_000, lostRestMs: 16_000, removedMs: 600_000 },
};
const REQUEST: PluginRequest = {
  ...{ method: 'POST', route: '/r', params: { a: 1 }, query: {}, keyId: 'caller', requestId: 'req' },
  headers: { authorization: ['Bearer canary'], other: ['1'] },
};

type Script = (run: DurableRun) => Promise<DurableEnd> | DurableEnd;

const returned = (value: Json = 1): DurableEnd => ({
  ...{ kind: 'ended', state: 'returned', ending: { returned: JSON.stringify(value) } },
  answer: { status: 200, body: JSON.stringify(value) },
});
const waits = (...waitsFor: CallWait[]): DurableEnd => ({ kind: 'waits', waitsFor });
const lost = (isCulprit: boolean): DurableEnd => ({ kind: 'again', inMs: 1, reason: 'lost', lost: { isCulprit } });
const threw = (code: string): DurableEnd => ({
  ...{ kind: 'ended', state: 'threw', ending: { error: { code, message: code, status: 504 } } },
  answer: { status: 504, body: '{}' },
});
const failed = (code: 'UNAVAILABLE' | 'LOCK_HELD_ELSEWHERE' | 'IDEMPOTENCY_RUNNING'): DurableEnd => ({
  kind: 'failed',
  error: code === 'UNAVAILABLE' ? new AppError(code, { reason: 'x' }) : new AppError(code, { name: 'x' }),
});
/** Runs until it is told to stop. */
const untilStopped: Script = (run) =>
  new Promise((resolve) => run.signal.addEventListener('abort', () => resolve({ kind: 'gone' }), { once: true }));

function pluginOf(version = 'v1'): CatalogPlugin {
  const entry = pluginEntrySchema.parse({ id: 'p', path: 'p.ts', durable: true, config: { of: version } });
  const code = { pluginId: 'p', version, code: version, filename: 'p.ts', env: {}, isolation: 'plugin' } as const;
  const { lifetime: _, ...limits } = entry.limits;
  return {
    entry,
    caller: { id: 'p', grants: readPluginGrants(entry), maxCalls: 10, ...KEEPING },
    serving: {
      version: { ...code, limits },
      positions: { mapped: (text) => text },
      ...{ bytes: 1, inputs: new Set<string>(), since: 0 },
      reads: { environment: [], fetches: false, hosts: [] },
    },
    ...{ failure: undefined, isDisabled: false, isBuilt: Promise.resolve() },
  };
}

/** A store, and instances that run the calls in it. The test plays the guests. */
async function stage(t: Test, { isShared = false }: { isShared?: boolean } = {}) {
  const clock = new TravelClock();
  const alone = await storeFor(t, clock);
  const store: Store = isShared ? new InstanceLeases(60_000).storeFor(alone) : alone;
  const plugins = new Map<string, CatalogPlugin>([['p', pluginOf()]]);
  const listeners = new Map<string, Set<() => void>>();
  const lines: string[] = [];
  const metrics = new RecordedMetrics();
  let count = 0;
  const open = (script: Script, timing: Partial<DurableTiming> = {}) => {
    const runs: DurableRun[] = [];
    const here = { script, runs };
    const bundles = createBundles(store, clock.elapsed);
    const calls = new DurableCalls({
      ...{ store, bundles, clock, metrics, timing: { ...TIMING, ...timing } },
      log: createLog('debug', { write: (line) => lines.push(line) }),
      runner: {
        async runDurable(_, run) {
          runs.push(run);
          return await here.script(run);
        },
      },
      plugin: (id) => {
        if (id === 'unreadable') throw new Error('cannot be read');
        return plugins.get(id);
      },
      engine: {
        onChange(id, listener) {
          const all = listeners.get(id) ?? new Set();
          listeners.set(id, all.add(listener));
          return () => all.delete(listener);
        },
      },
      newId: () => `call-${++count}`,
      seed: () => String(++count).padStart(64, '0'),
    });
    calls.start();
    t.teardown(async () => {
      for (const { callId } of runs) calls.stopped(callId);
      await calls.close();
    });
    const call = async (request: Partial<PluginRequest> = {}, lifetimeMs = 24 * HOUR) => {
      const plugin = plugins.get('p');
      if (plugin?.serving === undefined) throw new Error('it does not serve');
      return await calls.call(plugin, plugin.serving.version, { ...REQUEST, ...request }, lifetimeMs);
    };
    return Object.assign(here, { calls, call });
  };
  const view = async (id: string) => {
    const call = await store.read.call(id);
    if (call === undefined) throw new Error(`no call ${id}`);
    return call;
  };
  const until = async (id: string, wanted: (call: CallRecord) => boolean) => {
    const call = await eventually(() => view(id), wanted);
    if (!wanted(call)) throw new Error(`${JSON.stringify(call)}\n${lines.slice(-5).join('')}`);
    return call;
  };
  const inState = (id: string, state: CallRecord['state']) => until(id, (call) => call.state === state);
  const changed = (id: string) => {
    for (const listener of listeners.get(id) ?? []) listener();
  };
  /** Inserts a call as a trigger does. */
  const fire = async (id: string, pluginId = 'p') => {
    const { route, params, query, requestId } = REQUEST;
    await store.write((writer) =>
      writer.insertCall({
        ...{ id, pluginId, keyId: 'trigger:p/t', key: id, fingerprint: '', version: null, lifetimeMs: HOUR },
        request: { method: 'POST', headers: {}, event: { is: 'event' }, route, params, query, requestId },
        trigger: { name: 't', at: 1_700_000_000_000, depth: 2 },
      }),
    );
  };
  return { store, clock, plugins, listeners, lines, metrics, open, view, until, inState, changed, fire };
}

const askedOf = (request: number, method = 'kv.get') => ({
  request,
  method,
  hash: `${method} ${request}`,
  payload: {},
});

/** Hears what an earlier run heard, or `value`. */
async function hears({ journal }: DurableRun, request: number, value: Json, now: number): Promise<unknown> {
  const earlier = await journal.meet(askedOf(request), false);
  return earlier ?? journal.hear(askedOf(request), { ok: true, value }, now);
}

/** Hears again what earlier runs heard, and one answer more. */
async function hearsMore(run: DurableRun): Promise<void> {
  for (let request = 1, left = run.journal.heard.length + 1; left > 0; request += 1, left -= 1)
    await hears(run, request, request, 0);
}

/** Has an effect, unless an earlier run had it. */
async function pays(store: Store, { journal }: DurableRun, request: number): Promise<void> {
  const asked = askedOf(request, 'kv.set');
  if ((await journal.meet(asked, true)) !== undefined) return;
  const { effect, isRecorded, stored } = journal.effect(asked);
  if (!isRecorded) await store.write((writer) => writer.insertEffect(effect, { outcome: true }));
  stored();
  journal.hear(asked, { ok: true, value: true }, 0);
}

const values = (store: Store, id: string) =>
  store.read.journal(id).then((entries) => entries.flatMap(({ page }) => page.deliveries.map(({ reply }) => reply)));

t.test('a call is stored, run once and answered, also to whoever repeats it', async (t) => {
  const { store, metrics, open, view } = await stage(t);
  const { calls, call, runs } = open(async (run) => {
    await hears(run, 1, 'heard', 0);
    return returned({ x: 1 });
  });
  const accepted = await call({ key: 'k', fingerprint: 'print' });
  t.strictSame(await calls.answerOf(accepted.id, 5_000), { answer: { status: 200, body: '{"x":1}' } });
  const ended = await view(accepted.id);
  t.match(ended, { state: 'returned', ending: { returned: '{"x":1}' }, tries: 1, deaths: 0, version: 'v1' });
  t.strictSame(await values(store, accepted.id), [{ ok: true, value: 'heard' }], 'its journal is kept');
  t.strictSame(ended.request.headers, { other: ['1'] }, 'and no credential');
  t.match(JSON.parse(runs[0]?.journal.start.context ?? ''), { params: { a: 1 }, config: { of: 'v1' }, route: '/r' });
  t.match(runs[0], { callId: accepted.id, requestId: 'req', keyId: 'caller', depth: undefined });

  const again = await call({ key: 'k', fingerprint: 'print' });
  t.match(await calls.answerOf(again.id, 5_000), { call: { id: accepted.id, state: 'returned' } });
  await t.rejects(call({ key: 'k', fingerprint: 'other' }), { code: 'IDEMPOTENCY_MISMATCH' });
  await t.rejects(calls.answerOf('nobody', 5_000), { code: 'CALL_NOT_FOUND' });
  t.equal(runs.length, 1);
  t.strictSame(metrics.of('plugin_calls_ended'), ['p returned']);
});

t.test('each call has its own chance; all its runs have that, its time and what it heard', async (t) => {
  const { store, clock, open, inState } = await stage(t);
  const heard: unknown[][] = [];
  const { call, runs } = open(async (run) => {
    const reads = [await hears(run, 1, `read in run ${heard.length}`, clock.now())];
    await pays(store, run, 2);
    reads.push(await hears(run, 3, 'the tail', clock.now()));
    heard.push(reads);
    if (heard.length === 1) return lost(false);
    return heard.length === 2 ? waits({ kind: 'time', until: clock.now() + HOUR }) : returned();
  });
  const one = await call();
  const waiting = await inState(one.id, 'waiting');
  t.match(waiting, { waitsFor: [{ kind: 'time' }], tries: 1, token: 1 });
  t.strictSame(
    await values(store, one.id),
    [
      { ok: true, value: 'read in run 0' },
      { ok: true, value: true },
      { ok: true, value: 'the tail' },
    ],
    'what it heard after its last effect is stored before it waits',
  );
  clock.shift += HOUR - 5_000;
  await new Promise((resolve) => setTimeout(resolve, 60));
  t.equal(runs.length, 2, 'it does not run before its time');
  clock.shift += 5_000;
  t.match(await inState(one.id, 'returned'), { tries: 2, token: 2 });
  t.equal(heard.length, 3);
  t.match(heard[1], [{ reply: { value: 'read in run 0' } }, { reply: { value: 'the tail' } }]);
  t.strictSame(heard[2], heard[1], 'at the same times as well');
  t.match(await store.read.effectNames(one.id), { length: 1 });
  const starts = runs.map(({ journal: { start } }) => start);
  t.strictSame(starts, [starts[0], starts[0], starts[0]]);
  const two = await call();
  await inState(two.id, 'returned');
  t.not(runs.at(-1)?.journal.start.seed, starts[0]?.seed);
});

t.test('a call is taken over when its claim is over, and its first run does nothing any more', async (t) => {
  const { store, clock, open, view, until, inState } = await stage(t, { isShared: true });
  const frozen = Promise.withResolvers<void>();
  const first = open(
    async (run) => {
      await pays(store, run, 1);
      await frozen.promise;
      await t.rejects(pays(store, run, 2), { code: 'IDEMPOTENCY_RUNNING' });
      return returned('of the first');
    },
    { renewMs: 1e6 },
  );
  const { id } = await first.call();
  await eventually(
    () => first.runs.length,
    (count) => count === 1,
  );
  const released = Promise.withResolvers<void>();
  const second = open(async (run) => {
    await pays(store, run, 1);
    await released.promise;
    return returned('of the second');
  });
  await new Promise((resolve) => setTimeout(resolve, 60));
  t.equal(second.runs.length, 0, 'nobody takes it while its claim lasts');
  clock.shift += TIMING.claimMs;
  await until(id, ({ token }) => token === 2);
  frozen.resolve();
  await first.calls.close();
  t.match(await view(id), { state: 'running', token: 2 }, 'the end of the first run does not count');
  released.resolve();
  t.match(await inState(id, 'returned'), { ending: { returned: '"of the second"' }, tries: 2 });
  t.match(await store.read.effectNames(id), { length: 1 });
});

t.test('a claim is renewed while the run lasts; a run that has lost it is stopped', async (t) => {
  const { store, clock, open, view, until } = await stage(t, { isShared: true });
  const first = open(untilStopped);
  const { id } = await first.call();
  const second = open(untilStopped);
  for (let step = 0; step < 4; step += 1) {
    const { nextAt } = await view(id);
    clock.shift += TIMING.claimMs / 2;
    await until(id, (call) => (call.nextAt ?? 0) > (nextAt ?? 0));
  }
  t.equal(second.runs.length, 0);
  const [run] = first.runs;
  t.equal(run?.signal.aborted, false);
  await store.write(async (writer) => {
    await writer.resumeCalls();
    await writer.claimCall(id, { forMs: HOUR, version: null });
  });
  await eventually(
    () => run?.signal.aborted,
    (aborted) => aborted === true,
  );
  t.equal(run?.signal.aborted, true);
  t.match(await view(id), { state: 'running', token: 2 });
});

t.test('a call that brings down its processes ends with the third; others are not its fault', async (t) => {
  const { store, clock, lines, open, view, until, inState } = await stage(t);
  const ends = [lost(true), waits({ kind: 'time', until: 0 }), lost(true), lost(true), returned()];
  const hostile = open(async (run) => {
    await hearsMore(run);
    return ends.shift() ?? returned();
  });
  const one = await hostile.call();
  t.match(await inState(one.id, 'threw'), {
    ...{ deaths: 3, tries: 2 },
    ending: { error: { code: 'SANDBOX_LOST', message: 'The call brought down 3 processes', status: 503 } },
  });
  t.equal(hostile.runs.length, 4);
  t.equal((await values(store, one.id)).length, 4, 'with all that it heard');

  let left = 7;
  hostile.runs.length = 0;
  hostile.script = async (run) => {
    await hearsMore(run);
    left -= 1;
    return left === 0 ? returned() : lost(false);
  };
  const two = await hostile.call();
  await inState(two.id, 'waiting');
  t.equal(hostile.runs.length, 3, 'after some runs it makes room');
  t.equal((await values(store, two.id)).length, 3);
  t.match(await view(two.id), { waitsFor: [], deaths: 0 });
  for (const wanted of [1, 0]) {
    clock.shift += TIMING.restMs;
    await eventually(
      () => left,
      (now) => now === wanted,
    );
    await until(two.id, ({ state }) => state !== 'running');
  }
  t.match(await inState(two.id, 'returned'), { deaths: 0, tries: 3 });
  t.match(lines.join(''), 'a durable call runs again');
});

t.test('a call whose process is lost again and again, by nobody’s fault, is run ever less often', async (t) => {
  const { clock, open, inState, until } = await stage(t);
  let heardMore = false;
  const busy: DurableEnd = { kind: 'again', inMs: 1, reason: 'busy' };
  const ends: DurableEnd[] = [];
  const here = open(async (run) => {
    if (heardMore) await hearsMore(run);
    return ends.shift() ?? lost(false);
  });
  const { id } = await here.call();
  const pauseAfter = async (runs: number) => {
    await eventually(
      () => here.runs.length,
      (count) => count === runs,
    );
    const { nextAt } = await inState(id, 'waiting');
    return Math.round(((nextAt ?? 0) - clock.now()) / 1000);
  };
  const again = async (runs: number) => {
    const { token } = await inState(id, 'waiting');
    clock.shift += 17_000;
    await until(id, (call) => call.token > token);
    return await pauseAfter(runs);
  };
  t.equal(await pauseAfter(3), 5, 'a few times soon');
  t.equal(await again(4), 10, 'then once in each pause');
  t.equal(await again(5), 16, 'but no longer than that');
  ends.push(busy, busy, busy);
  t.equal(await again(8), 5);
  t.equal(await again(9), 16, 'to find no place was no progress');
  heardMore = true;
  t.equal(await again(12), 5, 'it gets on');
  heardMore = false;
  t.equal(await again(15), 5);
  ends.push(waits({ kind: 'time', until: clock.now() + 100_000 }), returned());
  clock.shift += 17_000;
  await until(id, ({ waitsFor }) => waitsFor.length > 0);
  clock.shift += 100_000;
  t.match(await inState(id, 'returned'), { deaths: 0 });
});

t.test('what the service causes is no end, what the call causes is one', async (t) => {
  const { clock, lines, open, view, inState } = await stage(t);
  for (const code of ['UNAVAILABLE', 'LOCK_HELD_ELSEWHERE'] as const) {
    const ends = [failed(code), returned()];
    const here = open(() => ends.shift() ?? returned());
    const { id } = await here.call();
    t.match(await inState(id, 'waiting'), { waitsFor: [], tries: 1 }, code);
    clock.shift += TIMING.restMs;
    t.match(await inState(id, 'returned'), { tries: 2 }, code);
    await here.calls.close();
  }
  const taken = open(() => failed('IDEMPOTENCY_RUNNING'));
  const { id } = await taken.call();
  await eventually(
    () => taken.runs.length,
    (count) => count === 1,
  );
  await taken.calls.close();
  t.match(await view(id), { state: 'running', token: 1, tries: 1 }, 'another run has it');

  const other = open(() => ({
    kind: 'failed',
    error: new AppError('EFFECT_MISMATCH', { request: '1', asked: 'a', earlier: 'b' }),
  }));
  const call = await other.call();
  t.match(await inState(call.id, 'threw'), { ending: { error: { code: 'EFFECT_MISMATCH', status: 409 } } });
  other.script = () => Promise.reject(new Error('no such disk'));
  await other.call();
  await eventually(
    () => lines.join(''),
    (text) => text.includes('a durable call was not run'),
  );
  t.match(lines.join(''), 'no such disk');
});

t.test('a call lasts as long as its lifetime, whether it runs or waits', async (t) => {
  const { clock, metrics, open, view, inState } = await stage(t);
  const here = open(() => waits({ kind: 'event', name: 'go', until: clock.now() + 1e9 }));
  const waiting = await here.call({}, HOUR);
  await inState(waiting.id, 'waiting');
  const { nextAt, expiresAt } = await view(waiting.id);
  t.ok((nextAt ?? 0) <= expiresAt + 50, 'it is looked at when its lifetime is over');
  const [run] = here.runs;
  t.ok(run !== undefined && run.leftMs <= HOUR && run.leftMs > HOUR - 10_000);
  here.script = () => {
    clock.shift += HOUR + 1;
    return threw('TIMEOUT');
  };
  const running = await here.call({}, HOUR);
  const expired = { ending: { error: { code: 'CALL_EXPIRED', status: 504 } }, nextAt: null };
  t.match(await inState(running.id, 'expired'), expired);
  t.match(await inState(waiting.id, 'expired'), expired);
  t.equal(here.runs.length, 2, 'it is not run for that');
  here.script = () => threw('TIMEOUT');
  const slow = await here.call({}, HOUR);
  t.match(await inState(slow.id, 'threw'), { ending: { error: { code: 'TIMEOUT' } } }, 'the time of one run');
  t.strictSame(metrics.of('plugin_calls_ended').toSorted(), ['p expired', 'p expired', 'p threw']);
});

t.test('a call that waits for an event runs when it comes, also when it came before the run had ended', async (t) => {
  const { store, clock, open, inState } = await stage(t);
  const send = (id: string, value: Json) => store.write((writer) => writer.insertCallEvent(id, { name: 'go', value }));
  const signal = new AbortController().signal;
  const heard: unknown[] = [];
  let before = async (_: DurableRun) => {};
  const here = open(async (run) => {
    const event = await run.inbox.take('go', 0, signal, clock.now);
    await before(run);
    if (event === undefined) return waits({ kind: 'event', name: 'go', until: clock.now() + HOUR });
    heard.push(event.value);
    return returned();
  });
  const one = await here.call();
  await inState(one.id, 'waiting');
  await send(one.id, 'first');
  here.calls.sent(one.id);
  await inState(one.id, 'returned');

  before = async ({ callId }) => {
    before = async () => {};
    await send(callId, 'second');
  };
  const two = await here.call();
  await inState(two.id, 'returned');
  t.strictSame(heard, ['first', 'second']);
  t.equal(here.runs.length, 4);

  const waited = Promise.withResolvers<void>();
  here.script = async (run) => {
    const taken = run.inbox.take('go', HOUR, signal, clock.now);
    waited.resolve();
    heard.push((await taken)?.value);
    return returned();
  };
  const three = await here.call();
  await waited.promise;
  await send(three.id, 'third');
  here.calls.sent(three.id);
  await inState(three.id, 'returned');
  t.equal(heard.at(-1), 'third', 'a run that still waits hears of it');
});

t.test('a call that waits for a transaction runs when that has ended', async (t) => {
  const { store, clock, listeners, open, view, inState, changed } = await stage(t);
  await store.write((writer) => writer.putRelayer(relayerOf()));
  const insert = (id: string) =>
    store.write((writer) => writer.insertTransaction(transactionOf({ id, status: 'sent' })));
  const become = (id: string, seen: 'sent' | 'mined', status: 'mined' | 'confirmed') =>
    store.write((writer) => writer.updateTransaction(id, seen, { status }));
  const on = (id: string, isFinal: boolean): CallWait => ({
    ...{ kind: 'transaction', relayerId: 'relayer-1', id, isFinal },
    until: clock.now() + HOUR,
  });
  let next = on('tx-1', true);
  let isFirst = true;
  const here = open(() => {
    isFirst = !isFirst;
    return isFirst ? returned() : waits(next);
  });
  const quiet = async (runs: number, text: string) => {
    await new Promise((resolve) => setTimeout(resolve, 60));
    t.equal(here.runs.length, runs, text);
  };

  await insert('tx-1');
  const one = await here.call();
  await inState(one.id, 'waiting');
  changed('tx-1');
  await become('tx-1', 'sent', 'mined');
  changed('tx-1');
  await quiet(1, 'it is mined, and not final');
  await become('tx-1', 'mined', 'confirmed');
  changed('tx-1');
  await inState(one.id, 'returned');
  t.equal(listeners.get('tx-1')?.size, 0, 'nothing is watched any more');

  await insert('tx-2');
  next = on('tx-2', false);
  const two = await here.call();
  await inState(two.id, 'waiting');
  await become('tx-2', 'sent', 'mined');
  await quiet(3, 'nothing was heard of it');
  clock.shift += TIMING.lookMs - 5_000;
  await quiet(3, 'nor looked for yet');
  clock.shift += 5_000;
  await inState(two.id, 'returned');

  next = on('tx-2', false);
  const three = await here.call();
  t.match(await inState(three.id, 'returned'), { tries: 2 }, 'it had ended before the call was stored as waiting');

  await insert('tx-3');
  next = on('tx-3', true);
  const four = await here.call();
  await inState(four.id, 'waiting');
  clock.shift += TIMING.lookMs + 1_000;
  await eventually(
    () => view(four.id),
    ({ nextAt }) => (nextAt ?? 0) > clock.now(),
  );
  await quiet(7, 'a look at an open transaction is no run');
  t.match(await view(four.id), { state: 'waiting', tries: 1, waitsFor: [{ id: 'tx-3' }] });
  t.equal(listeners.get('tx-3')?.size, 1);
  clock.shift += HOUR;
  t.match(await inState(four.id, 'returned'), { tries: 2 }, 'the time of the wait is over');
});

t.test('the calls of a plugin that cannot run wait; those of one that is gone are canceled later', async (t) => {
  const { clock, plugins, metrics, open, view, until, inState, fire } = await stage(t);
  const serving = pluginOf();
  const here = open(() => waits({ kind: 'time', until: clock.now() + 1_000 }));
  const { id } = await here.call();
  await inState(id, 'waiting');
  const hindered = (reason: string) =>
    until(id, ({ waitsFor: [wait] }) => wait?.kind === 'plugin' && wait.reason === reason);
  plugins.set('p', { ...serving, isDisabled: true });
  clock.shift += 1_000;
  t.match(await hindered('disabled'), { state: 'waiting' });
  plugins.delete('p');
  clock.shift += TIMING.restMs;
  const { waitsFor } = await hindered('removed');
  clock.shift += TIMING.removedMs - TIMING.restMs;
  await until(id, ({ nextAt }) => (nextAt ?? 0) > clock.now());
  t.strictSame((await view(id)).waitsFor, waitsFor, 'since when it is gone');
  plugins.set('p', serving);
  clock.shift += TIMING.restMs;
  await until(id, ({ tries }) => tries === 2);

  plugins.delete('p');
  clock.shift += 2_000;
  await hindered('removed');
  clock.shift += TIMING.removedMs + 1;
  t.match(await inState(id, 'canceled'), { ending: { error: { code: 'CALL_CANCELED' } }, tries: 2 });
  t.strictSame(metrics.of('plugin_calls_ended'), ['p canceled']);

  plugins.set('p', { ...serving, serving: undefined });
  await fire('fired');
  here.calls.wake();
  await until('fired', ({ waitsFor: [wait] }) => wait?.kind === 'plugin' && wait.reason === 'not built');
  t.match(await view('fired'), { version: null, tries: 0 });
  here.script = () => returned();
  plugins.set('p', pluginOf('v2'));
  clock.shift += TIMING.restMs;
  t.match(await inState('fired', 'returned'), { version: 'v2', tries: 1 });
  const run = here.runs.at(-1);
  t.equal(run?.depth, 2);
  t.match(JSON.parse(run?.journal.start.context ?? ''), {
    trigger: { name: 't', at: '2023-11-14T22:13:20.000+00:00', event: { is: 'event' } },
  });
});

t.test('a call ends on the version with which it began', async (t) => {
  const { store, clock, plugins, open, inState } = await stage(t);
  const here = open((run) =>
    here.runs.length === 1 ? waits({ kind: 'time', until: clock.now() + HOUR }) : returned(run.version.code),
  );
  const old = await here.call();
  await inState(old.id, 'waiting');
  plugins.set('p', pluginOf('v2'));
  const young = await here.call();
  t.match(await inState(young.id, 'returned'), { version: 'v2', ending: { returned: '"v2"' } });
  // Another instance does not know the old version but from the store.
  await here.calls.close();
  const next = open((run) => returned(run.version.code));
  clock.shift += HOUR;
  t.match(await inState(old.id, 'returned'), { version: 'v1', ending: { returned: '"v1"' } });
  t.match(JSON.parse(next.runs[0]?.journal.start.context ?? ''), { config: { of: 'v1' } });

  next.script = () => waits({ kind: 'time', until: clock.now() + HOUR });
  const unlucky = await next.call();
  await inState(unlucky.id, 'waiting');
  await next.calls.close();
  plugins.set('p', pluginOf('v3'));
  const last = open(() => returned());
  const find = store.read.bundle;
  store.read.bundle = async () => undefined;
  clock.shift += HOUR;
  t.match(await inState(unlucky.id, 'threw'), { ending: { error: { code: 'COMPILE_ERROR', status: 500 } } });
  store.read.bundle = find;
  t.equal(last.runs.length, 0);
});

t.test('more calls than may run at once wait for each other, and leave room for another plugin', async (t) => {
  const { store, plugins, open, inState, fire } = await stage(t);
  const gate = Promise.withResolvers<void>();
  const script: Script = async (run) => {
    if (!run.callId.startsWith('other')) await gate.promise;
    return returned();
  };
  const here = open(script, { renewMs: 1_000, sweepMs: 200, sweepFloorMs: 50 });
  const calls = await Promise.all(Array.from({ length: 258 }, () => here.call()));
  t.equal(here.runs.length, 128, 'also of calls that come together');
  t.match(calls.at(-1), { tries: 0, state: 'running' });
  t.match(await here.calls.answerOf(calls.at(-1)?.id ?? '', 30), { call: { tries: 0 } }, 'its caller may leave');
  plugins.set('q', pluginOf());
  await fire('other', 'q');
  here.calls.wake();
  await inState('other', 'returned');
  t.equal(here.runs.length, 129);
  gate.resolve();
  for (const { id } of calls.slice(-2)) await inState(id, 'returned');
  await eventually(
    () => store.read.openCalls(),
    (all) => Object.keys(all).length === 0,
  );
  t.strictSame(await store.read.openCalls(), {});
});

t.test('a call that was ended by a client is stopped, and its caller gets that', async (t) => {
  const { store, open } = await stage(t);
  const here = open(untilStopped);
  const { id } = await here.call();
  const answer = here.calls.answerOf(id, 5_000);
  await new Promise((resolve) => setTimeout(resolve, 10));
  await store.write((writer) => writer.stopCall(id, 'canceled', null));
  here.calls.stopped(id);
  t.match(await answer, { call: { state: 'canceled' } });
  await here.calls.close();
  t.match(here.runs, [{ signal: { aborted: true } }]);
});

t.test('a service that ends lets its callers go, and leaves its calls to the next one', async (t) => {
  const { store, open, view, inState } = await stage(t);
  const stopping = Promise.withResolvers<void>();
  const first = open(async (run) => {
    await hears(run, 1, 'before the end', 0);
    await stopping.promise;
    return { kind: 'again', inMs: 0, reason: 'the service ends' };
  });
  const { id } = await first.call();
  const answer = first.calls.answerOf(id, 60_000);
  await new Promise((resolve) => setTimeout(resolve, 10));
  first.calls.rest();
  t.match(await answer, { call: { state: 'running' } });
  const late = await first.call();
  t.match(late, { tries: 0 }, 'a call that comes now is stored and not begun');
  stopping.resolve();
  await first.calls.close();
  t.match(await view(id), { state: 'waiting', deaths: 0, waitsFor: [] });
  t.strictSame(await values(store, id), [{ ok: true, value: 'before the end' }]);
  first.calls.start();

  const killed = open(untilStopped, { renewMs: 1e6 });
  await eventually(
    () => killed.runs.length,
    (count) => count === 2,
  );
  await eventually(
    () => view(late.id),
    ({ state }) => state === 'running',
  );
  // Nothing else shares the store: what the dead service had claimed is due at once.
  const next = open(() => returned());
  await Promise.all([inState(id, 'returned'), inState(late.id, 'returned')]);
  t.equal(next.runs.length, 2);
  t.equal(first.runs.length, 1);
});

t.test('one call that cannot be looked at does not keep the others waiting', async (t) => {
  const { store, lines, open, view, inState, fire } = await stage(t);
  const here = open(() => returned());
  await fire('bad', 'unreadable');
  await fire('good');
  here.calls.wake();
  await inState('good', 'returned');
  t.match(lines.join(''), 'a durable call cannot be looked at');
  t.ok(((await view('bad')).nextAt ?? 0) > (await store.now()));

  const { dueCalls } = store.read;
  store.read.dueCalls = () => Promise.reject(new Error('no database'));
  await eventually(
    () => lines.join(''),
    (text) => text.includes('search for due calls failed'),
  );
  store.read.dueCalls = dueCalls;
  await fire('later');
  t.match(await inState('later', 'returned'), { tries: 1 });
});
