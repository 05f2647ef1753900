/** Threat: a call that uses more time than it may in small pieces, ends twice, or works on after its end. */
import t from 'tap';
import type { Json, Limits } from '../../../contract.ts';
import { IsolateCall } from '../../../process/call.ts';
import { CpuCrowding, SlicePace } from '../../../process/call-ends.ts';
import { CryptoJobQueue } from '../../../process/crypto/jobs.ts';
import { type GuestIsolate, GuestProgram, GuestRuntime } from '../../../process/isolate.ts';
import { UP } from '../../../protocol.ts';
import { RecordedChannel } from '../../support/recorded-channel.ts';
import { contextText, guestRuntime, plugin } from '../../support/sandbox.ts';

const runtime = new GuestRuntime(await guestRuntime());

function started(body: string, limits: Partial<Limits> = {}) {
  const version = plugin(body, { limits });
  return startedIn(
    new GuestProgram(runtime, version).createIsolate(() => ''),
    version.limits,
    {},
  );
}

function startedIn(isolate: GuestIsolate, limits: Limits, params: Json, crowding = new CpuCrowding(0, 0)) {
  const channel = new RecordedChannel();
  const ends: boolean[] = [];
  const over = Promise.withResolvers<void>();
  const call = new IsolateCall(7, limits, isolate, channel, {
    pace: new SlicePace(),
    crowding,
    isolates: 3,
    jobs: new CryptoJobQueue(),
    onOver: (clean) => {
      ends.push(clean);
      over.resolve();
    },
  });
  const isServed = call.start(contextText(params));
  const done = () => channel.ends();
  return { call, channel, isServed, ends, done, over: over.promise, isolate };
}

t.test('each entry is marked, and the end comes after the last mark', async (t) => {
  const { channel, ends, done } = started("console.log('x'); return { a: 1 };");
  t.same(
    channel.frames.map(([kind]) => kind),
    [UP.ENTER, UP.LOG, UP.RETURNED],
  );
  t.ok(channel.frames.every(([, id]) => id === 7));
  t.match(done(), [{ outcome: { kind: 'returned', json: '{"a":1}' }, dropped_logs: 0, isolates: 3 }]);
  t.ok((done()[0]?.usage.cpu_ms ?? 0) > 0);
  t.same(ends, [true]);
});

t.test('the end of the last stretch does not wait for a large result to be read', async (t) => {
  const { channel } = started("return 'x'.repeat(100_000);");
  t.same(
    channel.frames.map(([kind]) => kind),
    [UP.ENTER, UP.LEAVE, UP.RETURNED],
  );
});

t.test('a call that would meet what an earlier one left behind runs nothing', async (t) => {
  const version = plugin("console.log('runs'); RegExp.prototype.exec = () => null; return 1;");
  const isolate = new GuestProgram(runtime, version).createIsolate(() => '');
  t.same(startedIn(isolate, version.limits, {}).ends, [true]);
  const { call, channel, isServed, ends } = startedIn(isolate, version.limits, {});
  t.equal(isServed, false);
  call.drop();
  t.same(
    channel.frames.map(([kind]) => kind),
    [UP.ENTER, UP.LEAVE],
  );
  t.same(ends, [], 'it has no end, as it has not begun');
});

t.test('replies and timers are entries of their own', async (t) => {
  const { call, channel, done, over } = started(
    "const v = await context.kv.get('x'); await new Promise((r) => setTimeout(r, 1)); return v;",
  );
  t.equal(channel.texts(UP.REQUEST).length, 1);
  call.reply('{"id":1,"reply":{"ok":true,"value":5}}');
  call.reply('{"id":1,"reply":{"ok":true,"value":6}}');
  await over;
  t.match(done(), [{ outcome: { kind: 'returned', json: '5' }, usage: { calls: 1 } }]);
  t.equal(channel.texts(UP.ENTER).length, 3, 'the reply that nobody waited for did not enter');
});

t.test('the heap is measured after a call that did something, and now and then after others', async (t) => {
  const version = plugin(
    "if (context.params.fail) throw new Error('no'); if (context.params.ask) { kept.list = new Array(100_000).fill(1.5); await context.kv.get('x'); } return 1;",
  );
  const isolate = new GuestProgram(runtime, version).createIsolate(() => '');
  const run = async (served: number, ask: boolean, fail = false) => {
    isolate.served = served;
    const { call, done, over } = startedIn(isolate, version.limits, { ask, fail });
    call.reply('{"id":1,"reply":{"ok":true,"value":5}}');
    await over;
    return done()[0]?.usage.heap_bytes ?? 0;
  };
  const first = await run(1, false);
  t.ok(first > 100_000);
  const asked = await run(2, true);
  t.ok(asked > first, 'a call with a capability call is measured');
  let measured = 0;
  const measureHeap = isolate.measureHeap.bind(isolate);
  isolate.measureHeap = () => {
    measured += 1;
    return measureHeap();
  };
  await run(33, false);
  t.equal(measured, 1, 'the 33rd is measured');
  await run(2, false, true);
  t.equal(measured, 2, 'one that fails is measured');
  const QUICK = 200;
  for (let calls = 0; calls < QUICK; calls += 1) t.equal(await run(3, false), isolate.heapBytes);
  t.ok(measured < 2 + QUICK, `${measured - 2} of ${QUICK} others took so long that they were measured`);
});

t.test('a stretch and the sum of all have their limits', async (t) => {
  const slice = started('for (;;);', { slice_ms: 30 });
  t.match(slice.done(), [{ outcome: { code: 'CPU_LIMIT', message: /limits\.slice_ms/ } }]);
  t.same(slice.ends, [false]);
  const sum = started(
    'for (;;) { const end = Date.now() + 10; while (Date.now() < end); await new Promise((r) => setTimeout(r, 1)); }',
    { slice_ms: 200, cpu_ms: 50 },
  );
  await sum.over;
  t.match(sum.done(), [{ outcome: { code: 'CPU_LIMIT', message: /limits\.cpu_ms/ } }]);
  t.ok((sum.done()[0]?.usage.cpu_ms ?? 0) >= 50);
});

t.test('on a crowded machine a stretch has as much more time', async (t) => {
  const version = plugin('for (;;);', { limits: { slice_ms: 30 } });
  const isolate = new GuestProgram(runtime, version).createIsolate(() => '');
  const enter = isolate.enter.bind(isolate);
  const limits: number[] = [];
  isolate.enter = (entry, argument, limitMs) => {
    limits.push(limitMs);
    return enter(entry, argument, limitMs);
  };
  const { done } = startedIn(isolate, version.limits, {}, new CpuCrowding(1000, 490));
  t.same(limits, [60]);
  t.match(done(), [{ outcome: { code: 'CPU_LIMIT', message: /for 30 ms.*limits\.slice_ms/ } }]);
});

t.test('what others take of the processor meanwhile is not the call’s', async (t) => {
  const version = plugin('return 1;', { limits: { cpu_ms: 50 } });
  const isolate = new GuestProgram(runtime, version).createIsolate(() => '');
  const enter = isolate.enter.bind(isolate);
  isolate.enter = (...given) => {
    // A stretch that is held up, as on a full machine.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    return enter(...given);
  };
  const { done, over } = startedIn(isolate, version.limits, {});
  await over;
  t.match(done(), [{ outcome: { kind: 'returned' } }]);
  t.ok((done()[0]?.usage.cpu_ms ?? 200) < 50);
});

t.test('memory ends the call, and an outcome that was announced before stands', async (t) => {
  t.match(
    started('const a = []; for (;;) a.push({ a });', { memory_mb: 32, slice_ms: 20_000, cpu_ms: 20_000 }).done(),
    [{ outcome: { code: 'MEMORY_LIMIT', message: /limits\.memory_mb/ } }],
  );
  const after = started('Promise.resolve().then(() => {}).then(() => { for (;;); }); return 1;', { slice_ms: 50 });
  t.same(after.ends, [false]);
  t.equal(after.done().length, 1);
});

t.test('what is left behind makes the isolate unclean', async (t) => {
  t.same(started('setTimeout(() => {}, 1e6); return 1;').ends, [false]);
  t.same(started("context.kv.get('x').catch(() => {}); return 1;").ends, [false]);
  t.same(started("Promise.reject(new Error('x')); return 1;").ends, [false]);
});

t.test('a call that ended while its handler went on makes the isolate unclean', async (t) => {
  const thrown = started("queueMicrotask(() => { throw new Error('boom'); }); await new Promise(() => {});");
  t.match(thrown.done(), [{ outcome: { kind: 'threw', message: 'boom' } }]);
  t.same(thrown.ends, [false]);
  const limited = started(
    "context.kv.get('x').catch(() => {}); await context.kv.get('x').catch(() => {}); await new Promise(() => {});",
    { calls: 1 },
  );
  t.match(limited.done(), [{ outcome: { code: 'CALL_LIMIT' } }]);
  t.same(limited.ends, [false]);
});

t.test('what an ended call left behind neither answers a later one nor acts in it', async (t) => {
  const version = plugin(`
    if (context.params.second) {
      kept.release();
      for (let i = 0; i < 20; i++) await null;
      return [kept.refused, typeof await context.kv.get('mine')];
    }
    const gate = new Promise((resolve) => { kept.release = resolve; });
    const relayer = context.api.useRelayer('r');
    const body = new ReadableStream({ async pull(to) { await gate; to.enqueue(new Uint8Array(1)); to.close(); } });
    const acts = [
      () => context.kv.set('late', 1),
      () => context.kv.withLock('late', async () => {}),
      () => relayer.sendTransaction({ value: '1' }),
      () => context.api.transactionWait({ id: 't', relayer_id: 'r' }),
    ];
    kept.refused = [];
    const note = (error) => { kept.refused.push(error.message); };
    fetch('https://a.example/', { method: 'POST', body, duplex: 'half' }).catch(note);
    gate.then(() => { for (const act of acts) act().catch(note); });
    return 'first';`);
  const first = startedIn(
    new GuestProgram(runtime, version).createIsolate(() => ''),
    version.limits,
    {},
  );
  t.same(first.ends, [true], 'nothing is pending, and the handler has returned');
  const second = startedIn(first.isolate, version.limits, { second: true });
  t.match(
    second.channel.texts(UP.REQUEST).map((text) => JSON.parse(text) as object),
    [{ id: 1, method: 'kv.get', params: { key: 'mine' } }],
  );
  second.call.reply('{"id":1,"reply":{"ok":true,"value":"\\"x\\""}}');
  const [{ outcome } = { outcome: undefined }] = second.done();
  t.equal(outcome?.kind, 'returned');
  const json = outcome?.kind === 'returned' ? outcome.json : '[]';
  const [refused, mine] = JSON.parse(json) as [string[], string];
  t.same(
    refused.toSorted(),
    ['fetch', 'kv.lock', 'kv.set', 'relayer.sendTransaction', 'relayer.waitTransaction'].map(
      (method) => `${method} was called after the plugin call had ended`,
    ),
  );
  t.equal(mine, 'string');
  t.same(second.ends, [false], 'the isolate serves no third one');
});

t.test('an unhandled rejection is a log line with its stack, also where the handler has returned', async (t) => {
  for (const wait of ['await new Promise((r) => setTimeout(r, 1));', '']) {
    const { channel, ends, over } = started(`Promise.reject(new Error('forgotten')); ${wait} return 1;`);
    t.match(
      channel.texts(UP.LOG)[0],
      /^uncaught Unhandled rejection: Error: forgotten\n    at handler \(plugins\/tested\.ts:1:\d+\)$/,
    );
    await over;
    t.same(ends, [false]);
  }
});

t.test('a dropped call is over at once, and only once', async (t) => {
  const { call, channel, ends, done } = started('await new Promise((r) => setTimeout(r, 1)); return 1;');
  call.drop();
  call.drop();
  t.match(done(), [{ outcome: { kind: 'ended', code: 'CANCELED' } }]);
  t.same(ends, [false]);
  const frames = channel.frames.length;
  call.reply('{"id":1,"reply":{"ok":true,"value":1}}');
  call.fire(1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  t.equal(channel.frames.length, frames, 'nothing more is heard of it');
});
