import t from 'tap';
import {
  type CallOutcome,
  type CallReport,
  type CallTask,
  endCodeFailure,
  type LogEntry,
  type PluginVersion,
} from '../../../../../../sandbox/contract.ts';
import { CallQueues } from '../../../../../../sandbox/host/call-queues.ts';
import type { ChildOrder } from '../../../../../../sandbox/host/child/children.ts';
import type { DriverPool } from '../../../../../../sandbox/host/driver-pool.ts';
import { Quarantine, requestFingerprint } from '../../../../../../sandbox/host/quarantine.ts';
import { SandboxProcesses } from '../../../../../../sandbox/host/sandbox-processes.ts';
import { UsageLedger } from '../../../../../../sandbox/host/usage.ts';
import { AppError } from '../../../../../../src/domain/errors.ts';
import type {
  Delivery,
  IdempotencyClaim,
  JournalEntry,
  KeyedEffectName,
} from '../../../../../../src/domain/idempotency.ts';
import { CallFeed } from '../../../../../../src/features/plugins/host/call-feed.ts';
import { CallInbox } from '../../../../../../src/features/plugins/host/call-inbox.ts';
import { CallJournal } from '../../../../../../src/features/plugins/host/call-journal.ts';
import { CallLog } from '../../../../../../src/features/plugins/host/call-log.ts';
import { type CallRecord, RunningCalls } from '../../../../../../src/features/plugins/host/call-record.ts';
import { CallRunner, takeUngrantedReads } from '../../../../../../src/features/plugins/host/call-runner.ts';
import { readPluginGrants } from '../../../../../../src/features/plugins/host/capabilities/grants.ts';
import type { CatalogPlugin } from '../../../../../../src/features/plugins/host/catalog/known-plugin.ts';
import type { ServingVersion } from '../../../../../../src/features/plugins/host/catalog/version-swap.ts';
import type { DurableRun } from '../../../../../../src/features/plugins/host/durable-run.ts';
import { pluginEntrySchema } from '../../../../../../src/features/plugins/records/plugin.ts';
import { createLog } from '../../../../../../src/observability/log.ts';
import { KEEPING } from '../../../../../support/principal.ts';
import { RecordedMetrics } from '../../../../../support/recorded-metrics.ts';

const report = (outcome: CallOutcome, more: Partial<CallReport> = {}): CallReport => ({
  outcome,
  logs: [],
  dropped_logs: 0,
  usage: { cpu_ms: 2, calls: 1, heap_bytes: 3000, bytes_in: 40, bytes_out: 5 },
  lost: false,
  ...more,
});
const returned = report({ kind: 'returned', json: '1' });
const lost = report({ kind: 'ended', code: 'SANDBOX_LOST', message: 'gone' }, { lost: true });

/** A pool whose children are ready at once. The test answers its calls. */
class ScriptedPool implements Pick<DriverPool, 'post' | 'run' | 'threads'> {
  tasks: CallTask[] = [];
  posted: ChildOrder[] = [];
  answer: (task: CallTask) => Promise<CallReport> = () => Promise.resolve(returned);
  heard: ((message: ChildOrder) => void) | undefined;

  threads = () => [1];

  run(_thread: number, task: CallTask): Promise<CallReport> {
    this.tasks.push(task);
    return this.answer(task);
  }

  post(_thread: number, message: ChildOrder): void {
    this.posted.push(message);
    queueMicrotask(() => this.heard?.(message));
  }
}

const REQUEST = { method: 'POST', route: '/r', params: { a: 1 }, query: {}, keyId: 'k', requestId: 'req' } as const;

function setUp(entry: object = {}) {
  const parsed = pluginEntrySchema.parse({ id: 'p', path: 'p.ts', timeout: 10, emit_logs: true, ...entry });
  const version = { pluginId: 'p', version: 'v1', code: '', filename: 'plugins/p.ts', env: {} };
  const plugin: CatalogPlugin = {
    entry: parsed,
    caller: { id: 'p', grants: readPluginGrants(parsed), maxCalls: 10, ...KEEPING },
    serving: {
      version: { ...version, limits: parsed.limits, isolation: 'plugin' },
      positions: { mapped: (text) => text.replace('p.ts:9:9', 'p.ts:1:1') },
      bytes: 1,
      inputs: new Set(),
      since: 0,
      reads: { environment: [], fetches: false, hosts: [] },
    },
    failure: undefined,
    isDisabled: false,
    isBuilt: Promise.resolve(),
  };
  const time = { now: 0 };
  const clock = { now: () => time.now, elapsed: () => time.now };
  const pool = new ScriptedPool();
  const lines: string[] = [];
  const log = createLog('debug', { write: (line) => lines.push(line) });
  const children: SandboxProcesses = new SandboxProcesses(
    {
      threads: pool.threads,
      moreThreads: () => undefined,
      post: (thread, message) => pool.post(thread, message),
      clock,
      log,
      maxProcesses: 2,
      idleMs: 1e6,
    },
    {
      changed: () => admission.pump(),
      spawned: () => undefined,
      loaded: () => true,
      dying: () => undefined,
      gone: () => undefined,
    },
  );
  const admission: CallQueues = new CallQueues(children, clock);
  pool.heard = ({ type, child, ...more }) => {
    if (type === 'open') children.handle({ type: 'ready', child });
    if (type === 'close')
      children.handle({ type: 'closed', child, cause: 'closed', detail: '', culprit: 0, stderr: '' });
    if (type !== 'load' || !('version' in more)) return;
    children.handle({
      type: 'loaded',
      child,
      message: { version: more.version.version, isolate_bytes: 0, failure: null },
    });
  };
  const calls = new RunningCalls();
  const quarantine = new Quarantine(clock);
  const metrics = new RecordedMetrics();
  const callLog = new CallLog();
  const feed = new CallFeed();
  const known: { journal: JournalEntry[]; effects: KeyedEffectName[]; version: PluginVersion | undefined } = {
    journal: [],
    effects: [],
    version: undefined,
  };
  const runner = new CallRunner({
    pool: {
      run: (thread, task) => pool.run(thread, task),
      cancel: (thread, child, call) => pool.post(thread, { type: 'cancel', child, call }),
    },
    admission,
    calls,
    quarantine,
    plugin: () => plugin,
    clock,
    log,
    metrics,
    usage: new UsageLedger(clock),
    callLog,
    feed,
    effects: { journal: async () => known.journal, recorded: async () => known.effects },
    bundles: { keep: async () => undefined, find: async () => known.version },
    seed: () => '5'.repeat(64),
  });
  const run = async (
    signal = new AbortController().signal,
    headers: Record<string, string[]> = {},
    keyed: { claim?: IdempotencyClaim } = {},
  ) => {
    const answer = await runner.run(plugin, { ...REQUEST, headers, ...keyed }, signal);
    return { ...answer, body: JSON.parse(answer.body) };
  };
  /** Runs a durable call that has heard so much. */
  const runDurable = (deliveries: readonly Delivery[] = [], more: Partial<DurableRun> = {}) => {
    const durable = plugin.serving?.version;
    if (durable === undefined) throw new Error('nothing serves');
    const start = { seed: '5'.repeat(64), now: 7, version: 'v1', context: '{}' };
    const journal = new CallJournal({ claim: { id: 'c', token: 1 }, start, deliveries, maxBytes: 1e6 });
    return runner.runDurable(plugin, {
      ...{ callId: 'call', requestId: 'req', keyId: 'k', depth: 1, since: 0, version: durable, journal, leftMs: 1e6 },
      ...{ inbox: new CallInbox([], async () => []), signal: new AbortController().signal, ...more },
    });
  };
  return { known, plugin, pool, calls, quarantine, metrics, admission, time, lines, callLog, feed, run, runDurable };
}

t.test('the context is what the caller sent, without the credential', async (t) => {
  const { pool, run, metrics, calls } = setUp({ config: { a: [1] } });
  const headers = { authorization: ['Bearer canary'], 'x-api-key': ['1'] };
  t.match(await run(undefined, headers), { status: 200, body: { success: true, data: 1, error: null } });
  t.strictSame(JSON.parse(pool.tasks[0]?.context ?? ''), {
    params: { a: 1 },
    headers: { 'x-api-key': ['1'] },
    route: '/r',
    config: { a: [1] },
    method: 'POST',
    query: {},
    caller: { keyId: 'k' },
  });
  t.match(pool.tasks[0], { call: 1, version: 'v1', timeout_ms: 10_000 });
  t.same(metrics.of('plugin_call_outcomes'), ['p returned']);
  t.equal(calls.size, 0);
});

t.test('what a call wrote is remembered, also where its answer does not carry it', async (t) => {
  const { pool, run, callLog } = setUp({ emit_logs: false });
  const page = { page: 1, perPage: 9 };
  await run();
  t.equal(callLog.list('p', page).total, 0, 'it wrote nothing');
  const logs = [{ level: 'log', message: 'at p.ts:9:9' }] as const;
  pool.answer = () => Promise.resolve({ ...returned, logs: [...logs] });
  t.notOk('metadata' in (await run()).body);
  t.match(callLog.list('p', page).items, [
    { request_id: 'req', key_id: 'k', outcome: 'returned', logs: [{ level: 'log', message: 'at p.ts:1:1' }] },
  ]);
});

t.test('a call that was lost before any effect runs again, once', async (t) => {
  const { pool, run } = setUp();
  const reports = [lost, returned];
  pool.answer = () => Promise.resolve(reports.shift() ?? lost);
  t.match(await run(), { status: 200 });
  t.same(
    pool.tasks.map(({ call, child }) => [call, child]),
    [
      [1, 1],
      [2, 2],
    ],
    'under a new number, in another process',
  );
  t.match(await setUp().run(), { status: 200 });
  t.match(await run(), { status: 503, body: { data: { code: 'SANDBOX_LOST' } } });
  t.equal(pool.tasks.length, 4);
});

// Threat: paying twice. A call that may have sent something is never started again.
t.test('a lost call that had an effect ends', async (t) => {
  const { pool, calls, run } = setUp();
  pool.answer = ({ child, call }) => {
    const record = calls.find(child, call);
    if (record) record.hadEffect = true;
    return Promise.resolve(lost);
  };
  t.match(await run(), { status: 503, body: { data: { code: 'SANDBOX_LOST' } } });
  t.equal(pool.tasks.length, 1);
});

t.test('a lost call without time left ends', async (t) => {
  const { pool, time, run } = setUp();
  pool.answer = () => {
    time.now += 9950;
    return Promise.resolve(lost);
  };
  t.match(await run(), { status: 503 });
  t.equal(pool.tasks.length, 1);
});

t.test('the end of a thread under the call counts as lost', async (t) => {
  const { pool, run, lines } = setUp();
  pool.answer = () => Promise.reject(new Error('worker exited with code: 1'));
  t.match(await run(), { status: 503, body: { data: { code: 'SANDBOX_LOST' } } });
  t.equal(pool.tasks.length, 2);
  t.match(lines.join(), 'a plugin call was lost');
});

t.test('when the client leaves, a call without effect is canceled and can do nothing more', async (t) => {
  const { pool, calls, run } = setUp();
  const leaving = new AbortController();
  const canceled = report({ kind: 'ended', code: 'CANCELED', message: 'left' });
  pool.answer = ({ child, call }) => {
    leaving.abort();
    t.equal(calls.find(child, call), undefined, 'what it asks from now on is refused');
    return Promise.resolve(canceled);
  };
  const answer = run(leaving.signal);
  t.match(await answer, { status: 499, body: { data: { code: 'CANCELED' } } });
  t.match(pool.posted.at(-1), { type: 'cancel', call: 1 });
  t.match(await run(leaving.signal), { status: 499 }, 'one that had left before is canceled as well');
});

t.test('when the client leaves, a call that had an effect runs on', async (t) => {
  const { pool, calls, run } = setUp();
  const leaving = new AbortController();
  pool.answer = ({ child, call }) => {
    const record = calls.find(child, call);
    if (record) record.hadEffect = true;
    leaving.abort();
    return Promise.resolve(returned);
  };
  t.match(await run(leaving.signal), { status: 200 });
  t.notOk(pool.posted.some(({ type }) => type === 'cancel'));
});

t.test('a plugin without a version answers with its failure', async (t) => {
  const { plugin, run, metrics } = setUp();
  plugin.serving = undefined;
  t.match(await run(), {
    status: 503,
    retryAfter: 2,
    body: { data: { code: 'SERVICE_UNAVAILABLE' }, error: 'Plugin p is still being compiled' },
  });
  plugin.failure = { code: 'FILE_NOT_FOUND', message: 'File not found: plugins/p.ts', status: 500 };
  t.match(await run(), { body: { data: { code: 'FILE_NOT_FOUND' }, error: 'File not found: plugins/p.ts' } });
  plugin.failure = endCodeFailure('COMPILE_ERROR', 'x');
  await run();
  const labels = ['p SERVICE_UNAVAILABLE', 'p COMPILE_ERROR'];
  t.same(new Set(metrics.of('plugin_call_outcomes')), new Set(labels), 'a label is one of the known ends');
});

t.test('a call during the first build of its plugin waits for it', async (t) => {
  const { plugin, run, admission } = setUp();
  const { serving } = plugin;
  const built = Promise.withResolvers<void>();
  Object.assign(plugin, { serving: undefined, isBuilt: built.promise });
  const [answer] = [run(), built.resolve(), Object.assign(plugin, { serving })];
  t.match(await answer, { status: 200 });

  const failing = Promise.withResolvers<void>();
  Object.assign(plugin, { serving: undefined, isBuilt: failing.promise });
  const [broken] = [run(), failing.resolve(), Object.assign(plugin, { failure: endCodeFailure('COMPILE_ERROR', 'x') })];
  t.match(await broken, { body: { data: { code: 'COMPILE_ERROR' } } }, 'and gets its failure');

  Object.assign(plugin, { failure: undefined, isBuilt: new Promise(() => undefined) });
  const [stopped] = [run(), admission.close()];
  t.match(await stopped, { status: 503, body: { error: 'The server is shutting down' } }, 'or the end of the server');
});

t.test('a call that the end of the server cuts says so, also after an effect', async (t) => {
  const { pool, calls, admission, run } = setUp();
  pool.answer = ({ child, call }) => {
    const record = calls.find(child, call);
    if (record) record.hadEffect = true;
    admission.close();
    return Promise.resolve(lost);
  };
  const end = { data: { code: 'SERVICE_UNAVAILABLE' }, error: 'The server is shutting down' };
  t.match(await run(), { status: 503, body: end });
  t.equal(pool.tasks.length, 1);
});

t.test('a plugin that is backed off says for how long and why', async (t) => {
  const { quarantine, run, time, pool } = setUp();
  for (let kill = 0; kill < 3; kill++) quarantine.killed('p', 'memory: it uses 600 MiB');
  const answer = await run();
  t.match(answer, { status: 503, retryAfter: 1, body: { data: { code: 'SERVICE_UNAVAILABLE' }, error: /memory/ } });
  t.equal(pool.tasks.length, 0);
  time.now = 1000;
  t.match(await run(), { status: 200 });
});

t.test('a call that waits for a plugin which cannot be loaded is sent away with the reason', async (t) => {
  const { admission, quarantine, run, pool } = setUp();
  pool.heard = () => undefined;
  const waiting = run();
  for (let kill = 0; kill < 3; kill++) quarantine.killed('p', 'overdue: inside for 2260 ms');
  admission.sendAway('p');
  t.match(await waiting, { status: 503, retryAfter: 1, body: { error: /backed off for 1 s.*overdue/ } });
});

t.test('a call like one that killed the process while it waited does not get the next one', async (t) => {
  const { quarantine, run, pool, calls, admission } = setUp({ limits: { concurrency: 1 } });
  const begun = Promise.withResolvers<void>();
  const first = Promise.withResolvers<CallReport>();
  pool.answer = () => {
    begun.resolve();
    return first.promise;
  };
  const running = run();
  const waiting = run();
  await begun.promise;
  const request = requestFingerprint(REQUEST);
  quarantine.killed('p', 'overdue: inside for 760 ms', { keyId: 'k', request });
  first.resolve(returned);
  t.match(await running, { status: 200 });
  t.match(await waiting, { status: 503, body: { error: /a call like this one/ } });
  t.equal(pool.tasks.length, 1);
  t.equal(calls.size, 0);
  t.strictSame(admission.load('p'), { running: 0, queued: 0 }, 'its place is free');
});

t.test('a call that finds no place says when to come back', async (t) => {
  const { admission, run } = setUp();
  admission.close();
  t.match(await run(), { status: 503, retryAfter: 5, body: { error: 'The server is shutting down' } });
});

t.test('a timeout is told in the seconds of the entry and keeps its logs, with the author’s positions', async (t) => {
  const { pool, run, lines } = setUp({ forward_logs: true });
  const timeout = { kind: 'ended', code: 'TIMEOUT', message: 'after 9.87 seconds' } as const;
  const logs = [{ level: 'log' as const, message: '  at plugins/p.ts:9:9' }];
  pool.answer = () => Promise.resolve(report(timeout, { logs, dropped_logs: 2 }));
  t.match(await run(), {
    status: 504,
    body: {
      error: 'Plugin execution timed out after 10 seconds',
      data: { code: 'TIMEOUT' },
      metadata: {
        logs: [
          { level: 'log', message: '  at plugins/p.ts:1:1' },
          { level: 'warn', message: '2 more log lines were dropped' },
        ],
      },
    },
  });
  t.match(lines.join(), 'at plugins/p.ts:1:1');
});

t.test('an end has the author’s positions as well', async (t) => {
  const { pool, run } = setUp();
  const message = 'result.a cannot be written\n  at plugins/p.ts:9:9';
  pool.answer = () => Promise.resolve(report({ kind: 'ended', code: 'RESULT_NOT_SERIALIZABLE', message }));
  t.match(await run(), { status: 500, body: { error: /at plugins\/p\.ts:1:1/ } });
});

t.test('what a plugin throws keeps its own code, status and details', async (t) => {
  const { pool, run, metrics } = setUp();
  const threw = { kind: 'threw', message: 'm p.ts:9:9', code: 'C', status: 422, details: '{}' } as const;
  pool.answer = () => Promise.resolve(report(threw));
  t.match(await run(), { status: 422, body: { error: 'm p.ts:1:1', data: { code: 'C', details: {} } } });
  t.same(metrics.of('plugin_call_outcomes'), ['p threw']);
});

t.test('an error that tells no details has its place as such, and an answer to the caller has none', async (t) => {
  const { pool, run } = setUp({ emit_logs: false });
  const threw = { kind: 'threw', message: 'm', code: 'C', status: 500, details: '{}' } as const;
  const logs = [{ level: 'uncaught', message: 'Uncaught Error: m\n    at f (plugins/p.ts:9:9)' } as const];
  for (const [outcome, details] of [
    [threw, { file: 'plugins/p.ts', line: 1, column: 1 }],
    [{ ...threw, details: '{"a":1}' }, { a: 1 }],
    [{ ...threw, status: 404 }, {}],
  ] as const) {
    pool.answer = () => Promise.resolve(report(outcome, { logs }));
    t.strictSame((await run()).body.data, { code: 'C', details });
  }
});

const CLAIM = { id: 'c', token: 1 };
const asked = { request: 1, method: 'kv.set', hash: 'p', payload: null };

t.test('a call with an idempotency key that was lost after an effect runs again: its effects have names', async (t) => {
  const { pool, calls, run, known } = setUp();
  const found: (boolean | undefined)[] = [];
  pool.answer = async ({ child, call }) => {
    const record = calls.find(child, call);
    if (record !== undefined) record.hadEffect = true;
    found.push(record?.journal?.effect(asked).isRecorded);
    known.effects = [{ payloadHash: 'p', occurrence: 1 }];
    return pool.tasks.length === 1 ? lost : returned;
  };
  t.match(await run(undefined, {}, { claim: CLAIM }), { status: 200 });
  t.strictSame(found, [false, true], 'only the first run of a claim does not look for an earlier one');
  const [first, second] = pool.tasks;
  t.match(first?.durable, { seed: '5'.repeat(64), now: 0 });
  t.strictSame(second?.durable, first?.durable, 'both begin with the same');

  const plain = setUp();
  plain.pool.answer = async ({ child, call }) => {
    const record = plain.calls.find(child, call);
    if (record !== undefined) record.hadEffect = true;
    return lost;
  };
  t.match(await plain.run(), { status: 503, body: { data: { code: 'SANDBOX_LOST' } } });
  t.equal(plain.pool.tasks.length, 1);
  t.equal(plain.pool.tasks[0]?.durable, undefined);
});

t.test('a repeat has the context, the chance and the version of the first run', async (t) => {
  const { plugin, pool, calls, run, known } = setUp();
  const serving = plugin.serving?.version;
  if (serving === undefined) throw new Error('nothing serves');
  const start = { seed: 'a'.repeat(64), now: 7, version: 'v0', context: '{"of":"the first"}' };
  const heard = { request: 1, method: 'kv.set', hash: 'p', at: 8, reply: { ok: true, value: true } };
  known.journal = [{ position: 0, page: { start, deliveries: [heard] } }];
  known.version = { ...serving, version: 'v0' };
  pool.answer = async ({ child, call }) => {
    t.match(await calls.find(child, call)?.journal?.meet(asked, true), heard);
    return returned;
  };
  const again = { claim: { ...CLAIM, token: 2 } };
  t.match(await run(undefined, { other: ['header'] }, again), { status: 200 });
  t.match(pool.tasks, [{ version: 'v0', context: start.context, durable: { seed: start.seed, now: 7 } }]);

  pool.answer = async () => returned;
  await t.rejects(run(undefined, {}, again), { code: 'EFFECT_MISMATCH', message: /its call 1 is not made/ });

  known.journal = [];
  known.effects = [{ payloadHash: 'p', occurrence: 0 }];
  t.match(await run(undefined, {}, again), { status: 200 }, 'a call from before there were journals');
  t.equal(pool.tasks.at(-1)?.durable, undefined);
});

t.test('a lost call runs again when what it had asked for has come to its end, and not while it has not', async (t) => {
  const { pool, calls, run, time } = setUp({ timeout: 1 });
  const sending = Promise.withResolvers<void>();
  const lostOnes: Promise<void>[] = [];
  pool.answer = async ({ child, call }) => {
    if (pool.tasks.length > 1) return returned;
    const { journal } = calls.find(child, call) ?? {};
    if (journal !== undefined) lostOnes.push(journal.track(sending.promise));
    return lost;
  };
  const answer = run(undefined, {}, { claim: CLAIM });
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(pool.tasks.length, 1);
  sending.resolve();
  t.match(await answer, { status: 200 });
  t.equal(pool.tasks.length, 2);
  await Promise.all(lostOnes);

  pool.tasks = [];
  pool.answer = async ({ child, call }) => {
    void calls.find(child, call)?.journal?.track(new Promise(() => {}));
    time.now += 850;
    return lost;
  };
  t.match(await run(undefined, {}, { claim: CLAIM }), { status: 503, body: { data: { code: 'SANDBOX_LOST' } } });
  t.equal(pool.tasks.length, 1);
});

t.test(
  'a call that the service ends with an error of its own is answered with that, and its guest is told',
  async (t) => {
    const { pool, calls, run } = setUp();
    pool.answer = async ({ child, call }) => {
      calls.find(child, call)?.fail(new AppError('EFFECT_UNKNOWN', {}));
      t.equal(calls.find(child, call), undefined, 'whatever it asks for is refused');
      return report({ kind: 'ended', code: 'CANCELED', message: 'dropped' });
    };
    await t.rejects(run(undefined, {}, { claim: CLAIM }), { code: 'EFFECT_UNKNOWN' });
    t.match(
      pool.posted.filter(({ type }) => type === 'cancel'),
      [{ type: 'cancel', call: 1 }],
    );
  },
);

t.test('a run of a durable call ends the call, or the service runs it again', async (t) => {
  const { pool, calls, admission, metrics, runDurable } = setUp();
  const heard = { request: 1, method: 'kv.set', hash: 'p', at: 8, reply: { ok: true, value: true } };
  t.match(await runDurable(), { kind: 'ended', state: 'returned', ending: { returned: '1' }, answer: { status: 200 } });
  t.match(pool.tasks[0], { version: 'v1', timeout_ms: 10_000, durable: { seed: '5'.repeat(64), now: 7 } });
  await runDurable([], { leftMs: 700 });
  t.match(pool.tasks[1], { timeout_ms: 700 }, 'no run outlasts the lifetime of its call');
  t.match(await runDurable([heard]), { kind: 'failed', error: { code: 'EFFECT_MISMATCH' } }, 'it did not ask again');
  t.strictSame(metrics.of('plugin_call_outcomes'), ['p returned', 'p returned'], 'only ends are counted');

  const answers = (end: CallReport, act: (record: CallRecord) => void = () => {}) => {
    pool.answer = async ({ child, call }) => {
      const record = calls.find(child, call);
      if (record !== undefined) act(record);
      return end;
    };
  };
  const ended = (code: 'TIMEOUT' | 'CPU_LIMIT' | 'SERVICE_UNAVAILABLE' | 'CANCELED') =>
    report({ kind: 'ended', code, message: code });
  const hears = ({ journal }: CallRecord) => void journal?.hear(asked, { ok: true, value: 1 }, 9);
  answers(lost);
  t.match(await runDurable(), { kind: 'again', lost: { isCulprit: false } });
  // As the sandbox reports the end of a process to the call that was inside.
  answers({ ...lost, lost: false }, (record) => {
    record.isCulprit = true;
  });
  t.match(await runDurable(), { kind: 'again', lost: { isCulprit: true } });
  answers(ended('SERVICE_UNAVAILABLE'));
  t.strictSame(await runDurable(), { kind: 'again', inMs: 0, reason: 'SERVICE_UNAVAILABLE' });
  answers(ended('CPU_LIMIT'));
  t.match(await runDurable(), { kind: 'ended', state: 'threw', ending: { error: { code: 'CPU_LIMIT' } } });
  answers(ended('TIMEOUT'));
  t.match(await runDurable(), { kind: 'ended', state: 'threw', ending: { error: { code: 'TIMEOUT' } } });
  answers(ended('TIMEOUT'), hears);
  t.match(await runDurable(), { kind: 'again' }, 'it heard of something');
  t.match(await runDurable([], { leftMs: 10 }), { kind: 'ended', state: 'threw' }, 'and its lifetime is over');
  answers(ended('CANCELED'), (record) => record.fail(new AppError('JOURNAL_FULL', { limit: 'x' })));
  t.match(await runDurable(), { kind: 'failed', error: { code: 'JOURNAL_FULL' } });

  const leaving = new AbortController();
  answers(ended('CANCELED'), () => leaving.abort());
  t.match(await runDurable([], { signal: leaving.signal }), { kind: 'gone' });
  t.match(await runDurable([], { signal: leaving.signal }), { kind: 'gone' }, 'before it has a place');
  t.equal(calls.size, 0);
  admission.close();
  t.match(await runDurable(), { kind: 'again', inMs: 0, reason: 'closed' });
});

t.test('a call waits for a place for half of its timeout', async (t) => {
  const { pool, run, admission, time } = setUp({ timeout: 40, limits: { concurrency: 1 } });
  const first = Promise.withResolvers<CallReport>();
  pool.answer = () => first.promise;
  const running = run();
  while (pool.tasks.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const waiting = run();
  time.now += 19_999;
  admission.tick();
  t.equal(admission.queued, 1);
  time.now += 1;
  admission.tick();
  t.match(await waiting, { status: 503, body: { data: { code: 'SERVICE_UNAVAILABLE' } }, retryAfter: 2 });
  first.resolve(returned);
  t.match(await running, { status: 200 });
});

t.test('names are told once, and are no lines', (t) => {
  const said: string[] = [];
  const log = createLog('warn', { write: (line) => said.push(line) });
  const version = { reads: { environment: ['KNOWN'], fetches: false, hosts: [] } } as unknown as ServingVersion;
  const own: LogEntry = { level: 'info', message: 'own' };
  const of = (name: string): LogEntry => ({ level: 'ungranted', message: name });
  const lines = [of('KNOWN'), own, of('API_URL'), of('no name\n'), of('API_URL')];
  t.strictSame(takeUngrantedReads(lines, log, 'p', version), [own]);
  t.strictSame(takeUngrantedReads([of('API_URL')], log, 'p', version), []);
  t.strictSame(version.reads.environment, ['API_URL', 'KNOWN']);
  t.equal(said.length, 1);
  t.match(said[0], 'add \\"API_URL\\" to permissions.env of plugin p in config.json');
  t.strictSame(takeUngrantedReads([own], log, 'p', undefined), [own]);
  t.strictSame(takeUngrantedReads([of('X_Y')], log, 'p', undefined), []);
  t.end();
});
