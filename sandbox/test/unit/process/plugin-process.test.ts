/** Threat: calls that get an isolate of another version, and a peer that speaks another protocol. */
import t from 'tap';
import type { PluginVersion } from '../../../contract.ts';
import { PluginProcess } from '../../../process/plugin-process.ts';
import { DOWN, type LoadedMessage, PROTOCOL_VERSION, UP } from '../../../protocol.ts';
import { RecordedChannel } from '../../support/recorded-channel.ts';
import { contextText, guestRuntime, plugin, version } from '../../support/sandbox.ts';

const runtime = await guestRuntime();

function booted(times: { sweepMs?: number; afterAnswerMs?: number; livelyMs?: number; patienceMs?: number } = {}) {
  const channel = new RecordedChannel();
  const child = new PluginProcess(channel, 'v26.10.0', times);
  child.receive(DOWN.BOOT, 0, JSON.stringify({ protocol: PROTOCOL_VERSION, runtime }));
  const load = (one: PluginVersion) => {
    child.receive(DOWN.LOAD, 0, JSON.stringify(one));
    return JSON.parse(channel.texts(UP.LOADED).at(-1) ?? '') as LoadedMessage;
  };
  const done = () => channel.ends();
  const invoke = (call: number, of = 'v1', params = {}) => {
    child.receive(DOWN.INVOKE, call, `${of}\n${contextText(params)}`);
    return done().at(-1);
  };
  return { child, channel, load, invoke, done };
}

t.test('boots, loads and runs', async (t) => {
  const { channel, load, invoke } = booted();
  t.match(JSON.parse(channel.texts(UP.READY)[0] ?? ''), { protocol: PROTOCOL_VERSION, node: 'v26.10.0' });
  const loaded = load(plugin('return context.params;'));
  t.match(loaded, { version: 'v1', failure: null });
  t.ok(loaded.isolate_bytes > 500_000);
  t.match(invoke(1, 'v1', { a: 1 }), { outcome: { kind: 'returned', json: '{"a":1}' }, isolates: 1 });
});

t.test('each evaluation for a durable call is told as one of its own', async (t) => {
  const { child, channel, load, done } = booted({ afterAnswerMs: 60_000 });
  load(plugin('kept.calls = (kept.calls ?? 0) + 1; return kept.calls;'));
  const told = async (call: number) => {
    channel.frames.length = 0;
    child.receive(DOWN.INVOKE, call, `v1 ${'5a'.repeat(32)} 1\n${contextText({})}`);
    await new Promise(setImmediate);
    t.match(done().at(-1), { outcome: { kind: 'returned', json: '1' } });
    const marks: number[] = [UP.ENTER, UP.LEAVE, UP.RETURNED];
    return channel.frames.filter(([kind]) => marks.includes(kind)).map(([kind, of]) => [kind, of]);
  };
  const evaluated = [
    [UP.ENTER, 0],
    [UP.LEAVE, 0],
  ];
  const ran = (call: number) => [
    [UP.ENTER, call],
    [UP.RETURNED, call],
  ];
  t.strictSame(
    await told(1),
    [...evaluated, ...evaluated, ...evaluated, ...ran(1)],
    'tried in an open world, as strict code, then as it is',
  );
  t.strictSame(await told(2), [...evaluated, ...ran(2)]);
});

t.test('another protocol, an unknown frame or the wrong order is the end', async (t) => {
  const child = new PluginProcess(new RecordedChannel(), 'v26.10.0');
  t.throws(() => child.receive(DOWN.BOOT, 0, '{"protocol":999,"runtime":""}'), /protocol 999/);
  t.throws(() => child.receive(99, 0, ''), /no such frame/);
  t.throws(() => child.receive(DOWN.LOAD, 0, JSON.stringify(plugin(''))), /before BOOT/);
});

t.test('a version that fails to load leaves the old one in service', async (t) => {
  const { load, invoke } = booted();
  load(plugin("return 'old';"));
  t.match(load(version("throw new Error('no');", { version: 'v2' })), {
    isolate_bytes: 0,
    failure: {
      outcome: {
        kind: 'threw',
        code: 'PLUGIN_ERROR',
        message: /^plugins\/tested.ts failed to load: no\n    at plugins\/tested.ts:1:\d+$/,
      },
      report: /^Uncaught Error: no\n/,
    },
  });
  t.match(load(version("Promise.reject(new Error('left'));", { version: 'v3' })).failure, {
    outcome: { message: /failed to load: Unhandled rejection: Error: left\n    at plugins\/tested.ts:1:\d+$/ },
    report: /^Unhandled rejection: Error: left\n/,
  });
  t.match(load(version("throw 'a text';", { version: 'v4' })).failure, {
    outcome: { message: 'plugins/tested.ts failed to load: a text' },
  });
  t.match(load(version('var __isolayer_plugin__ = {};', { version: 'v5' })).failure, {
    outcome: { message: 'Plugin must export a handler function' },
  });
  t.match(invoke(1), { outcome: { json: '"old"' } });
  t.match(invoke(2, 'v2'), { outcome: { code: 'SANDBOX_LOST' } });
});

t.test('calls go to the version they name', async (t) => {
  const { load, invoke } = booted();
  for (const name of ['v1', 'v2', 'v3']) load(plugin(`return '${name}';`, { version: name }));
  t.match(invoke(1, 'v3'), { outcome: { json: '"v3"' } });
  t.match(invoke(2, 'v2'), { outcome: { json: '"v2"' } });
  t.match(invoke(3, 'v1'), { outcome: { code: 'SANDBOX_LOST', message: /v1 is not loaded/ } });
});

t.test('a call that left its mark on what all share leaves no isolate to the next', async (t) => {
  const { load, invoke, done } = booted();
  load(plugin('const was = /a/.test("a"); if (context.params.bad) RegExp.prototype.exec = () => null; return was;'));
  invoke(1, 'v1', { bad: true });
  invoke(2);
  await new Promise((resolve) => setTimeout(resolve, 50));
  invoke(3, 'v1', { bad: true });
  invoke(4);
  // One isolate a turn is made.
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.same(
    done().map(({ outcome }) => outcome.kind === 'returned' && outcome.json),
    ['true', 'true', 'true', 'true'],
  );
  t.equal(done().at(-1)?.isolates, 1, 'what was changed is gone');
});

t.test('a module may freeze what is compared, or leave there what equals nothing', async (t) => {
  for (const code of [
    'Object.freeze(process.env); Object.freeze(RegExp.prototype);',
    'process.env.X = NaN;',
    'Error.stackTraceLimit = NaN;',
  ]) {
    const { load, invoke, done } = booted();
    const { code: handler, ...more } = plugin('return 1;');
    load({ ...more, code: `${code}\n${handler}` });
    for (const call of [1, 2, 3]) invoke(call);
    // One isolate a turn is made.
    for (let turns = 0; turns < 10; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    t.same(
      done().map(({ outcome }) => outcome.kind === 'returned' && outcome.json),
      ['1', '1', '1'],
      code,
    );
  }
});

t.test('a module that fails in a later isolate fails the call that needed it', async (t) => {
  const { load, invoke, done } = booted();
  const code = `if (Math.random() < 2 && new Date().getTime() > START) throw new Error('changed its mind');
    var __isolayer_plugin__ = { handler: async () => new Promise(() => {}) };`;
  const soon = Date.now() + 300;
  t.match(load(version(code.replace('START', String(soon)))), { failure: null });
  invoke(1);
  while (Date.now() <= soon) await new Promise((resolve) => setTimeout(resolve, 20));
  // The first of these gets the isolate that was made ready before.
  for (const call of [2, 3]) invoke(call);
  t.match(done(), [{ outcome: { kind: 'threw', message: /changed its mind/ } }]);
});

t.test('a call that the host ended has its DONE, and late frames for it are dropped', async (t) => {
  const { child, load, invoke, done } = booted();
  load(plugin('await new Promise(() => {});'));
  invoke(1);
  child.receive(DOWN.END, 1, '');
  child.receive(DOWN.END, 1, '');
  child.receive(DOWN.REPLY, 1, '{"id":1,"reply":{"ok":true,"value":1}}');
  t.match(done(), [{ outcome: { code: 'CANCELED' } }]);
});

t.test('the next isolate is made when nothing else is to do', async (t) => {
  const { channel, load, invoke, done } = booted();
  load(plugin('globalThis.n = (globalThis.n ?? 0) + 1; return globalThis.n;', { isolation: 'call' }));
  invoke(1);
  const entriesForNoCall = () => channel.frames.filter(([kind, call]) => kind === UP.ENTER && call === 0).length;
  for (let left = 200; left > 0 && entriesForNoCall() < 4; left -= 1) await new Promise((r) => setTimeout(r, 10));
  t.equal(entriesForNoCall(), 4, 'the first, and the three that wait');
  invoke(2);
  t.match(done(), [{ outcome: { json: '1' } }, { outcome: { json: '1' } }]);
});

t.test('while an isolate is ready, an answer leaves before anything is made', async (t) => {
  const { channel, load, invoke } = booted({ afterAnswerMs: 3_600_000 });
  load(plugin('', { isolation: 'call' }));
  const made = () => channel.frames.filter(([kind, call]) => kind === UP.ENTER && call === 0).length;
  const turns = async () => {
    for (let left = 10; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
  };
  invoke(1);
  await turns();
  t.equal(made(), 2, 'none was left');
  load(plugin('', { version: 'v2', isolation: 'call' }));
  await turns();
  t.equal(made(), 3, 'one is ready');
});

t.test('what a burst left behind is let go, and the host hears how many isolates there are', async (t) => {
  const { child, channel, load, invoke, done } = booted({ sweepMs: 20 });
  load(plugin('await new Promise(() => {});'));
  for (const call of [1, 2, 3]) {
    invoke(call);
    // One isolate is made a turn.
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const call of [1, 2, 3]) child.receive(DOWN.END, call, '');
  t.equal(done().at(-1)?.isolates, 3, 'as it was when that call began');
  const from = channel.texts(UP.ISOLATES).length;
  const told = () => channel.texts(UP.ISOLATES).slice(from).at(-1);
  for (let left = 200; left > 0 && told() !== '1'; left -= 1) await new Promise((r) => setTimeout(r, 10));
  t.equal(told(), '1', 'the one that waits');
  const before = channel.texts(UP.ISOLATES).length;
  await new Promise((r) => setTimeout(r, 100));
  t.equal(channel.texts(UP.ISOLATES).length, before, 'nothing is said twice');
});

t.test('answers come before the isolates of calls that have just begun', async (t) => {
  const { child, channel, load, invoke, done } = booted();
  load(plugin("return await context.kv.get('key');"));
  const made = () => channel.frames.filter(([kind, call]) => kind === UP.ENTER && call === 0).length;
  for (const call of [1, 2, 3, 4, 5, 6]) invoke(call);
  t.equal(made(), 2, 'one was there, one was made, the others wait');
  child.receive(DOWN.END, 6, '');
  t.match(done(), [{ outcome: { code: 'CANCELED' } }]);
  for (const call of [1, 2]) child.receive(DOWN.REPLY, call, '{"id":1,"reply":{"ok":true,"value":1}}');
  t.equal(done().length, 3, 'both have ended while the others wait');
  const begun = () => channel.texts(UP.REQUEST).length;
  while (begun() < 5) await new Promise((resolve) => setImmediate(resolve));
  for (const call of [3, 4, 5]) child.receive(DOWN.REPLY, call, '{"id":1,"reply":{"ok":true,"value":1}}');
  t.equal(done().filter(({ outcome }) => outcome.kind === 'returned').length, 5);
  t.ok(made() <= 4, 'what the first gave back served others');
});

const REPLY = '{"id":1,"reply":{"ok":true,"value":1}}';

t.test('while twelve calls are lively, others wait for their isolates', async (t) => {
  const { child, channel, load, invoke, done } = booted({ livelyMs: 60_000, patienceMs: 60_000 });
  load(plugin("return await context.kv.get('key');"));
  const begun = () => channel.texts(UP.REQUEST).length;
  for (let call = 1; call <= 15; call += 1) invoke(call);
  while (begun() < 12) await new Promise((resolve) => setImmediate(resolve));
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  t.equal(begun(), 12);
  child.receive(DOWN.END, 14, '');
  t.match(done(), [{ outcome: { code: 'CANCELED' } }], 'one that waits can be dropped');
  for (let call = 1; call <= 12; call += 1) child.receive(DOWN.REPLY, call, REPLY);
  t.equal(begun(), 12, 'an answer is not held up by the next call');
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(begun(), 14);
  for (const call of [13, 15]) child.receive(DOWN.REPLY, call, REPLY);
  t.equal(done().length, 15);
  t.equal(done().at(-1)?.isolates, 12, 'an isolate for each at once, and no more');
});

t.test('calls that have waited for a while hold up no other', async (t) => {
  const { channel, load, invoke } = booted({ livelyMs: 1 });
  load(plugin("return await context.kv.get('key');"));
  for (let call = 1; call <= 20; call += 1) invoke(call);
  while (channel.texts(UP.REQUEST).length < 20) await new Promise((resolve) => setTimeout(resolve, 1));
  t.equal(channel.texts(UP.REQUEST).length, 20, 'no call has ended');
});

t.test('calls that stay lively hold up another for a moment only', async (t) => {
  const { channel, load, invoke } = booted({ livelyMs: 60_000, patienceMs: 5 });
  load(plugin("return await context.kv.get('key');"));
  for (let call = 1; call <= 20; call += 1) invoke(call);
  while (channel.texts(UP.REQUEST).length < 20) await new Promise((resolve) => setTimeout(resolve, 1));
  t.equal(channel.texts(UP.REQUEST).length, 20, 'no call has ended');
});
