/**
 * The calls of a sandbox: each kind of end has its outcome and keeps its logs, only clean isolates are reused, and
 * nothing of one call reaches the next.
 */
import t, { type Test } from 'tap';
import type { CallOutcome, Json } from '../../contract.ts';
import { guestRuntime, plugin, TestSandbox, version } from '../support/sandbox.ts';

const runtime = await guestRuntime();

/** Opens a sandbox with the given handler body, for a test that ends the process or is about it. */
async function serving(t: Test, ...given: Parameters<typeof plugin>): Promise<TestSandbox> {
  const sandbox = await TestSandbox.open(runtime);
  t.teardown(() => sandbox.close());
  await sandbox.load(plugin(...given));
  return sandbox;
}

/** The shared sandbox of the other tests. Each test uses its own versions. */
const shared = await TestSandbox.open(runtime);
t.teardown(() => shared.close());
let versions = 0;

/** Loads the given handler body, and resolves with a function that calls it. */
async function served(body: string, more: Parameters<typeof plugin>[1] = {}) {
  versions += 1;
  const of = `shared-${versions}`;
  await shared.load(plugin(body, { ...more, version: of }));
  return (params: Json = {}, options: { timeoutMs?: number } = {}) => shared.call(params, { ...options, of });
}

/** Wide limits, for tests that are not about time on a busy machine. */
const PATIENT = { slice_ms: 10_000, cpu_ms: 20_000 };

/** The value that a call returned. */
function returned(outcome: CallOutcome): unknown {
  return outcome.kind === 'returned' ? JSON.parse(outcome.json) : outcome;
}

t.test('a call returns a value, with its logs and what it used', async (t) => {
  const sandbox = await serving(t, "console.warn('seen', context.params.n); return { doubled: context.params.n * 2 };");
  const { outcome, logs, usage, lost } = await sandbox.call({ n: 21 });
  t.same(returned(outcome), { doubled: 42 });
  t.same(logs, [{ level: 'warn', message: 'seen 21' }]);
  t.ok(usage.cpu_ms > 0 && usage.heap_bytes > 100_000, JSON.stringify(usage));
  t.equal(lost, false);
  const { message } = await sandbox.message('loaded');
  t.equal(message.failure, null);
  t.ok(message.isolate_bytes > 500_000 && message.isolate_bytes < 16e6, `an isolate takes ${message.isolate_bytes}`);
});

t.test('many calls wait side by side, each in an isolate of its own', async (t) => {
  const body = `globalThis.calls = (globalThis.calls ?? 0) + 1;
    await new Promise((resolve) => setTimeout(resolve, 300)); return globalThis.calls;`;
  const sandbox = await serving(t, body, { limits: { process_mb: 1500 } });
  const reports = await Promise.all(Array.from({ length: 50 }, () => sandbox.call({}, { timeoutMs: 60_000 })));
  t.same(new Set(reports.map(({ outcome }) => returned(outcome))), new Set([1]));
});

t.test('a clean isolate serves again, one per call never does', async (t) => {
  const body = 'kept.calls = (kept.calls ?? 0) + 1; return kept.calls;';
  for (const [isolation, expected] of [
    ['plugin', [1, 2, 3]],
    ['call', [1, 1, 1]],
  ] as const) {
    const call = await served(body, { isolation });
    const counts = [];
    for (let time = 0; time < 3; time += 1) counts.push(returned((await call()).outcome));
    t.same(counts, expected, isolation);
  }
});

t.test('whatever leaves something behind does not serve again', async (t) => {
  const count = 'kept.calls = (kept.calls ?? 0) + 1;';
  const leftovers: Record<string, string> = {
    'a timer': 'setTimeout(() => {}, 60_000);',
    'an unanswered capability call': "context.kv.get('x').catch(() => {});",
    'an unhandled rejection': "Promise.reject(new Error('x'));",
    'half of its memory': 'kept.bytes = new Uint8Array(80 * 1024 * 1024);',
    'a name on the global': 'globalThis.planted = 1;',
  };
  for (const [name, leave] of Object.entries(leftovers)) {
    const call = await served(`${count} ${leave} return kept.calls;`);
    await call();
    t.equal(returned((await call()).outcome), 1, name);
  }
});

t.test('work left behind is never heard of again', async (t) => {
  const call = await served(
    `if (context.params.second) { await new Promise((resolve) => setTimeout(resolve, 100)); return 'second'; }
    const ask = () => { console.log('late'); context.kv.get('late').catch(() => {}); };
    setInterval(ask, 1); (async () => { for (;;) { await new Promise((r) => setTimeout(r, 1)); ask(); } })();
    return 'first';`,
  );
  shared.messages.length = 0;
  const first = await call();
  t.equal(returned(first.outcome), 'first');
  const second = await call({ second: true });
  t.equal(returned(second.outcome), 'second');
  t.same(second.logs, []);
  t.notOk(
    shared.messages.some(({ type }) => type === 'request'),
    'no capability call came up',
  );
});

t.test('a wall limit keeps the logs and lets go of the isolate', async (t) => {
  const call = await served("if (context.params.quick) return 1; console.log('kept'); await new Promise(() => {});");
  const { outcome, logs } = await call({}, { timeoutMs: 150 });
  t.match(outcome, { kind: 'ended', code: 'TIMEOUT', message: 'Plugin execution timed out after 0.15 seconds' });
  t.same(logs, [{ level: 'log', message: 'kept' }]);
  t.equal(returned((await call({ quick: true })).outcome), 1);
});

t.test('a canceled call ends at once', async (t) => {
  const call = await served('await new Promise(() => {});');
  const canceled = call();
  shared.supervisor.cancel(shared.lastCall);
  t.match((await canceled).outcome, { kind: 'ended', code: 'CANCELED' });
  shared.supervisor.cancel(shared.lastCall);
});

t.test('capability calls are counted, and answered while the call runs', async (t) => {
  const sandbox = await serving(t, 'let sum = 0; for (;;) sum += await context.kv.get("x");', { limits: { calls: 5 } });
  const call = sandbox.call();
  for (let id = 1; id <= 5; id += 1) {
    const { message, call: asked } = await sandbox.request(id);
    t.match(message, { id, method: 'kv.get', params: { key: 'x' } });
    sandbox.supervisor.reply(asked, { id, reply: { ok: true, value: id } });
  }
  const { outcome, usage } = await call;
  t.match(outcome, { kind: 'ended', code: 'CALL_LIMIT', message: /limits\.calls/ });
  t.equal(usage.calls, 5);
  sandbox.supervisor.reply(sandbox.lastCall, { id: 5, reply: { ok: true, value: 1 } });
  t.equal(sandbox.messages.filter(({ type }) => type === 'request').length, 5, 'the sixth never came up');
});

t.test('parameters that could overflow a stack are refused', async (t) => {
  const deep = `let v = []; for (let i = 0; i < 5000; i++) v = [v];
    try { await context.kv.set('x', v); } catch (error) { return error.message; }`;
  const call = await served(deep, { limits: PATIENT });
  t.match(returned((await call()).outcome), /nested|deep/);
});

t.test('an unhandled rejection is logged and ends nothing', async (t) => {
  const call = await served("Promise.reject(new Error('forgotten')); await null; return 'all the same';");
  const { outcome, logs } = await call();
  t.equal(returned(outcome), 'all the same');
  const waiting = await served(
    `Promise.reject(new Error('forgotten'));
    await new Promise((resolve) => setTimeout(resolve, 5)); return 'all the same';`,
  );
  const later = await waiting();
  t.equal(returned(later.outcome), 'all the same');
  t.match(later.logs, [{ level: 'uncaught', message: /Unhandled rejection: .*forgotten/ }], JSON.stringify(logs));
});

t.test('results beyond the limit and beyond JSON have their ends', async (t) => {
  const limits = { result_bytes: 1000 };
  const large = await served("return 'x'.repeat(context.params.length);", { limits });
  t.equal((returned((await large({ length: 998 })).outcome) as string).length, 998);
  t.match((await large({ length: 999 })).outcome, { kind: 'ended', code: 'RESULT_TOO_LARGE' });
  const quotes = await served("return '\\\\'.repeat(499);", { limits });
  t.equal((returned((await quotes()).outcome) as string).length, 499, 'escapes of escapes fit');
  const bigint = await served('return 1n;');
  t.match((await bigint()).outcome, { kind: 'ended', code: 'RESULT_NOT_SERIALIZABLE' });
});

t.test('log lines beyond the caps are counted', async (t) => {
  const call = await served("for (let i = 0; i < 1500; i++) console.log('line', i); return 1;", { limits: PATIENT });
  const { logs, dropped_logs: dropped } = await call();
  t.ok(logs.length <= 1000, `${logs.length} lines`);
  t.ok(dropped > 0 || logs.length === 1000, `${dropped} dropped`);
});

t.test('a module that does not evaluate says why, and leaves the version before it in service', async (t) => {
  const sandbox = await serving(t, "return 'old';");
  const failures: Record<string, { code: string; end: object }> = {
    throws: { code: "throw new Error('not today');", end: { kind: 'threw', message: /not today/ } },
    rejects: { code: "Promise.reject(new Error('later'));", end: { kind: 'threw', message: /later/ } },
    loops: { code: 'for (;;);', end: { kind: 'ended', code: 'CPU_LIMIT', message: /to load/ } },
  };
  for (const [name, { code, end }] of Object.entries(failures)) {
    const loaded = await sandbox.load(version(code, { version: name })).catch((error: Error) => error.message);
    // If the process gets no processor time to end the loop itself, it is killed from outside.
    if (typeof loaded === 'string') return t.match(loaded, '"cause":"overdue"', name);
    const { failure } = loaded;
    t.match(failure?.outcome, end, name);
    const { outcome, logs } = await sandbox.call({}, { of: name });
    t.match(outcome, end, `a call of ${name}`);
    t.match(logs, failure?.report === '' ? [] : [{ level: 'uncaught', message: failure?.report }]);
    t.equal(returned((await sandbox.call()).outcome), 'old');
  }
});

t.test('a new version takes over, and calls of the old one finish', async (t) => {
  const sandbox = await serving(t, "await new Promise((resolve) => setTimeout(resolve, 200)); return 'old';");
  const old = sandbox.call();
  await sandbox.load(plugin("return 'new';", { version: 'v2' }));
  t.equal(returned((await sandbox.call({}, { of: 'v2' })).outcome), 'new');
  t.equal(returned((await sandbox.call({}, { timeoutMs: 1000 })).outcome), 'old', 'one that was on its way');
  t.equal(returned((await old).outcome), 'old');
  t.match(await sandbox.call({}, { of: 'v3' }), { outcome: { code: 'SANDBOX_LOST' }, lost: true });
});

t.test('the memory of the process is watched: its culprit ends, the others are lost through no fault', async (t) => {
  const hold = `globalThis.kept = Array.from({ length: context.params.pieces }, () => new Uint8Array(8 * 1024 * 1024).fill(1));
    await new Promise(() => {});`;
  const sandbox = await serving(t, hold, { limits: { ...PATIENT, process_mb: 300, memory_mb: 512 } });
  const calls = Array.from({ length: 6 }, (_, index) => sandbox.call({ pieces: index === 5 ? 50 : 1 }));
  const reports = await Promise.all(calls);
  t.match(reports.pop(), { outcome: { kind: 'ended', code: 'MEMORY_LIMIT' }, lost: false });
  for (const report of reports) t.match(report, { outcome: { kind: 'ended', code: 'SANDBOX_LOST' }, lost: true });
  t.match(await sandbox.message('closed'), { cause: 'memory' });
});

t.test('where many isolates below their own limit are too much together, one is blamed at most', async (t) => {
  const hold = `globalThis.kept = new Uint8Array(40 * 1024 * 1024).fill(1);
    await new Promise(() => {});`;
  const sandbox = await serving(t, hold, { limits: { ...PATIENT, process_mb: 300, memory_mb: 64 } });
  const reports = await Promise.all(Array.from({ length: 12 }, () => sandbox.call()));
  const blamed = reports.filter(({ lost }) => !lost);
  t.ok(blamed.length <= 1, JSON.stringify(reports));
  t.ok(blamed.every(({ outcome }) => outcome.kind === 'ended' && outcome.code === 'MEMORY_LIMIT'));
  t.match(await sandbox.message('closed'), { cause: 'memory' });
});

t.test('the host hears of the memory in use', async (t) => {
  const sandbox = await serving(t, 'await new Promise((resolve) => setTimeout(resolve, 400)); return 1;');
  // Ignore earlier messages. On a busy machine, the first one may come from a process that has only just started.
  sandbox.messages.length = 0;
  await sandbox.call();
  const { rss_bytes: rss } = await sandbox.message('meter');
  t.ok(rss > 20e6 && rss < 500e6, `${rss} bytes`);
});

t.test('the end of a sandbox ends its calls, and later ones are not begun', async (t) => {
  const sandbox = await serving(t, 'await new Promise(() => {});');
  const call = sandbox.call();
  const closed = await sandbox.close();
  t.match(closed, { cause: 'closed', detail: 'the test is over' });
  t.match(await call, { outcome: { code: 'SANDBOX_LOST' }, lost: true });
  t.match(await sandbox.call(), { outcome: { code: 'SANDBOX_LOST' }, lost: true });
  await sandbox.close();
});

t.test('a stack used up by the guest never runs out on this side', async (t) => {
  for (const probe of ['setTimeout(() => {}, 1)', 'setTimeout(() => {}, n)', "console.log('x')"]) {
    const body = `let n = 0;
      const go = () => { try { go(); } catch {} try { if (n++ < 900) ${probe}; } catch {} };
      go();
      return 'fine';`;
    const call = await served(body, { limits: PATIENT });
    for (const time of ['once', 'twice']) {
      const { outcome } = await call();
      t.same(outcome, { kind: 'returned', json: '"fine"' }, `${probe} ${time}`);
    }
  }
});

t.test('a hundred thousand tiny values are refused before anybody has to carry them', async (t) => {
  const body = "return context.api.useRelayer('r').rpc(new Array(100_000).fill([])).catch((error) => error.message);";
  const call = await served(body, { limits: { slice_ms: 60_000, cpu_ms: 60_000 } });
  shared.messages.length = 0;
  t.match(await call({}, { timeoutMs: 120_000 }), {
    outcome: { kind: 'returned', json: /at most 65536 values/ },
    usage: { calls: 1 },
  });
  t.notOk(shared.messages.some(({ type }) => type === 'request'));
});
