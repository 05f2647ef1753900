/**
 * Threat: a call that only waits keeps its isolate, or a run that still works, or holds a lock, is ended as if it only
 * waited.
 */
import t from 'tap';
import type { CallWait } from '../../../../../../src/features/calls/record.ts';
import { CallJournal } from '../../../../../../src/features/plugins/host/call-journal.ts';
import { type CallRecord, RunningCalls } from '../../../../../../src/features/plugins/host/call-record.ts';
import { readPluginGrants } from '../../../../../../src/features/plugins/host/capabilities/grants.ts';
import { WaitWatch } from '../../../../../../src/features/plugins/host/durable-run.ts';
import type { OpenCall } from '../../../../../../src/features/plugins/host/open-calls.ts';
import { pluginEntrySchema } from '../../../../../../src/features/plugins/records/plugin.ts';
import { eventually } from '../../../../../support/eventually.ts';
import { KEEPING } from '../../../../../support/principal.ts';
import { TravelClock } from '../../../../../support/travel-clock.ts';

const plugin = {
  ...{ id: 'p', maxCalls: 10, ...KEEPING },
  grants: readPluginGrants(pluginEntrySchema.parse({ id: 'p', path: 'p.ts' })),
};
const start = { seed: '0'.repeat(64), now: 1, version: 'v1', context: '{}' };
const claim = { id: 'claim', token: 1 };
const HEARD = { request: 1, method: 'kv.get', hash: 'h', at: 2, reply: { ok: true, value: 1 } };
/** Longer than a run is quiet before it is looked at. */
const QUIET_MS = 700;

/** A run with open capability calls, each with what it waits for. */
function setUp(waits: (CallWait | undefined)[], { timeoutMs = 60_000, isReplay = false, sinceMs = 0 } = {}) {
  const clock = new TravelClock();
  const now = clock.now();
  const deliveries = isReplay ? [HEARD] : [];
  const journal = new CallJournal({ claim, start, deliveries, maxBytes: 1e6 });
  const given = { child: 1, plugin, requestId: 'r', callerKeyId: 'k', fingerprint: () => '', journal };
  const record: CallRecord = new RunningCalls().begin(given);
  const open = (wait: CallWait | undefined): OpenCall => {
    const call: OpenCall = {
      message: { id: 1, method: 'kv.get', params: {} },
      ...{ hasEffect: false, answering: new Promise(() => {}) },
      ...(wait !== undefined && { wait: { on: wait, since: now - sinceMs } }),
    };
    record.open.add(call);
    return call;
  };
  for (const wait of waits) open(wait);
  let ends = 0;
  record.onFailure = () => {
    ends += 1;
  };
  const watch = new WaitWatch(record, clock, { sliceMs: 0, timeoutMs });
  t.teardown(() => watch.close());
  const quiet = () => new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  const ended = async () => {
    const wasEnded = await eventually(
      () => ends,
      (count) => count > 0,
    );
    return wasEnded === 1 ? watch.waitsFor : undefined;
  };
  return { clock, record, watch, open, quiet, ended, ends: () => ends };
}

const timer = (ms: number): CallWait => ({ kind: 'time', until: Date.now() + ms });
const event = (): CallWait => ({ kind: 'event', name: 'go', until: Date.now() + 60_000 });

t.test('a run whose calls all wait for long is ended, with what they wait for', async (t) => {
  const waits = [timer(20_000), event()];
  const { watch, ended, record } = setUp(waits, { sinceMs: 10_500 });
  t.strictSame(await ended(), waits);
  t.equal(record.onProgress, undefined);
  watch.close();
});

t.test('it is not ended before it is quiet, and not while it works, replays, or has ended', async (t) => {
  const working = setUp([timer(20_000), undefined]);
  const idle = setUp([]);
  const replaying = setUp([timer(20_000)], { isReplay: true });
  const over = setUp([timer(20_000)]);
  over.record.ended = true;
  const closed = setUp([timer(20_000)]);
  closed.watch.close();
  const busy = setUp([timer(20_000)]);
  for (let step = 0; step < 4; step += 1) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    busy.record.onProgress?.();
    if (step === 2) t.equal(busy.ends(), 0, 'each answer begins the quiet time anew');
  }
  for (const { ends } of [working, idle, replaying, over, closed]) t.equal(ends(), 0);

  await replaying.record.journal?.meet({ request: 1, method: 'kv.get', hash: 'h', payload: {} }, false);
  replaying.record.onProgress?.();
  const [unanswered] = [...working.record.open].filter(({ wait }) => wait === undefined);
  if (unanswered !== undefined) working.record.open.delete(unanswered);
  working.record.onProgress?.();
  t.match(await replaying.ended(), [{ kind: 'time' }], 'once it has heard all again');
  t.match(await working.ended(), [{ kind: 'time' }], 'once it only waits');
  t.match(await busy.ended(), [{ kind: 'time' }]);
});

t.test('what may come soon is waited for', async (t) => {
  const soon = setUp([timer(9_000), timer(60_000)]);
  const fresh = setUp([event()]);
  const locked = setUp([timer(60_000)]);
  locked.record.locks.hold({ name: 'l', fence: 1 }, () => {});
  await Promise.all([soon.quiet(), fresh.quiet(), locked.quiet()]);
  for (const { ends } of [soon, fresh, locked]) t.equal(ends(), 0);

  fresh.clock.shift += 10_000;
  fresh.record.onProgress?.();
  t.match(await fresh.ended(), [{ kind: 'event' }], 'an event for which it has waited for long');
  locked.clock.shift += 30_000;
  locked.record.onProgress?.();
  await locked.quiet();
  t.equal(locked.ends(), 0, 'its lock would end with it');
});

t.test('at the end of its time a run ends with whatever it waits for', async (t) => {
  const soon = setUp([timer(9_000)], { timeoutMs: 2_000 });
  const locked = setUp([timer(60_000)], { timeoutMs: 2_000 });
  locked.record.locks.hold({ name: 'l', fence: 1 }, () => {});
  await soon.quiet();
  t.equal(soon.ends(), 0);
  t.match(await soon.ended(), [{ kind: 'time' }]);
  t.match(await locked.ended(), [{ kind: 'time' }]);
});
