/** Threat: a call with two ends, or none. */
import t from 'tap';
import { type CallReport, DEFAULT_LIMITS, FIXED_LIMITS, TIMER_REQUEST } from '../../../../contract.ts';
import { ProtocolViolation } from '../../../../frames.ts';
import {
  BytesInFlight,
  CallMeter,
  Deadlines,
  diedInsideGuest,
  diedOfMemory,
  judgeCallOnChildDeath,
  RunningCall,
} from '../../../../host/child/running-call.ts';

const usage = { cpu_ms: 0, calls: 77, heap_bytes: 1000 };

function running(timeoutMs = 10_000) {
  const reports: CallReport[] = [];
  const task = { child: 1, call: 1, version: 'v1', context: '{}', timeout_ms: timeoutMs };
  const limits = { ...DEFAULT_LIMITS, result_bytes: 10 };
  const call = new RunningCall(task, limits, new BytesInFlight(), { leftMs: 1 }, (report) => reports.push(report));
  return { call, reports };
}

t.test('each deadline is met, whichever was added first', async (t) => {
  const began = performance.now();
  const left = new Set([60, 30, 10, 2 ** 32]);
  const met: number[] = [];
  const late = Promise.withResolvers<void>();
  const deadlines = new Deadlines((now) => {
    for (const ms of left) {
      if (began + ms > now) continue;
      left.delete(ms);
      met.push(ms);
      if (ms === 60) late.resolve();
    }
    return Array.from(left, (ms) => began + ms);
  });
  for (const ms of left) deadlines.add(began + ms);
  await late.promise;
  t.same(
    met.sort((a, b) => a - b),
    [10, 30, 60],
  );
  // A timer that goes on would keep this file from ending.
  deadlines.close();
});

t.test('the first end is the only one', async (t) => {
  const { call, reports } = running();
  call.log({ level: 'log', message: 'kept' }, 10);
  call.request(1, 7);
  call.done({ kind: 'returned', json: '1' }, usage, 3);
  call.end({ code: 'TIMEOUT', message: 'late', lost: false });
  t.equal(call.settled, true);
  t.same(reports, [
    {
      outcome: { kind: 'returned', json: '1' },
      logs: [{ level: 'log', message: 'kept' }],
      dropped_logs: 3,
      usage: { ...usage, calls: 1, bytes_in: 2, bytes_out: 8 },
      lost: false,
    },
  ]);
});

t.test('an end from outside keeps the logs and what was measured', async (t) => {
  const { call, reports } = running();
  call.log({ level: 'warn', message: 'kept' }, 10);
  call.ran(42);
  call.sent(11);
  call.end({ code: 'SANDBOX_LOST', message: 'gone', lost: true });
  t.match(reports, [
    {
      outcome: { kind: 'ended', code: 'SANDBOX_LOST', message: 'gone' },
      logs: [{ message: 'kept' }],
      usage: { cpu_ms: 42, calls: 0, heap_bytes: 0, bytes_in: 13, bytes_out: 0 },
      lost: true,
    },
  ]);
  t.equal(call.answered(1), false);
});

t.test('a result is measured once more, in bytes', async (t) => {
  for (const [json, code] of [
    ['"12345678"', undefined],
    ['"123456789"', 'RESULT_TOO_LARGE'],
    ['"ééééé"', 'RESULT_TOO_LARGE'],
  ] as const) {
    const { call, reports } = running();
    call.done({ kind: 'returned', json }, usage, 0);
    t.match(reports[0]?.outcome, code === undefined ? { kind: 'returned' } : { kind: 'ended', code }, json);
  }
});

t.test('a child’s own account of its time is not believed beyond what there was of it', async (t) => {
  for (const [claimed, ranMs, least, most] of [
    [0.001, 0, 0.001, 0.01],
    [1e300, 10, 0, 60_000],
  ] as const) {
    const { call, reports } = running();
    call.ran(ranMs);
    await new Promise((resolve) => setImmediate(resolve));
    call.done({ kind: 'returned', json: '1' }, { ...usage, cpu_ms: claimed }, 0);
    const reported = reports[0]?.usage.cpu_ms ?? Number.NaN;
    t.ok(reported >= least && reported <= most, `${reported} ms`);
  }
});

t.test('a call that is over may say no more than one that runs', async (t) => {
  const { call } = running();
  call.end({ code: 'TIMEOUT', message: 'late', lost: false });
  const most = DEFAULT_LIMITS.calls + FIXED_LIMITS.log_lines + FIXED_LIMITS.uncaught_lines;
  for (let time = 0; time < most; time += 1) call.late();
  t.throws(() => call.late(), ProtocolViolation);
});

t.test('a call is due when its wall time is used up', async (t) => {
  const before = performance.now();
  const { call } = running(500);
  t.ok(call.dueAt >= before + 500 && call.dueAt <= performance.now() + 500);
});

t.test('meter', async (t) => {
  const meter = (limits: object = {}, shared = new BytesInFlight()) =>
    new CallMeter({ ...DEFAULT_LIMITS, ...limits }, shared);

  t.test('capability calls end at the limit', async (t) => {
    const counted = meter({ calls: 2 });
    t.equal(counted.request(1, 10), 'admitted');
    t.equal(counted.request(5, 10), 'admitted');
    t.equal(counted.request(6, 10), 'call-limit');
    t.equal(counted.usage.calls, 2);
  });

  t.test('the timers of a durable call are no capability calls, and have a limit', async (t) => {
    const counted = new CallMeter({ ...DEFAULT_LIMITS, calls: 1 }, new BytesInFlight(), true);
    t.equal(counted.request(1, 10, 'kv.get'), 'admitted');
    for (let id = 2; id <= FIXED_LIMITS.durable_timers + 1; id += 1) {
      if (counted.request(id, 1, TIMER_REQUEST) !== 'admitted') t.fail(`timer ${id}`);
    }
    t.equal(counted.usage.calls, 1);
    t.throws(() => counted.request(20_000, 1, TIMER_REQUEST), ProtocolViolation);
    t.equal(meter({ calls: 0 }).request(1, 1, TIMER_REQUEST), 'call-limit', 'of another call, it is one');
    const waiting = new CallMeter(DEFAULT_LIMITS, new BytesInFlight(), true);
    for (let id = 1; id <= 500; id += 1) waiting.request(id, 1, TIMER_REQUEST);
    for (let id = 501; id <= 500 + FIXED_LIMITS.pending_requests; id += 1) waiting.request(id, 1, 'kv.get');
    t.throws(() => waiting.request(1000, 1, 'kv.get'), ProtocolViolation, 'calls alone count as unanswered');
    t.ok(waiting.answered(1));
  });

  t.test('the ids of capability calls count up', async (t) => {
    const counted = meter();
    t.throws(() => counted.request(0, 1), ProtocolViolation);
    counted.request(3, 1);
    t.throws(() => counted.request(3, 1), ProtocolViolation);
  });

  t.test('each capability call is answered once', async (t) => {
    const counted = meter();
    counted.request(1, 10);
    t.equal(counted.answered(2), false);
    t.equal(counted.answered(1), true);
    t.equal(counted.answered(1), false);
  });

  t.test('more unanswered capability calls than the child admits are a violation', async (t) => {
    const counted = meter();
    for (let id = 1; id <= FIXED_LIMITS.pending_requests; id += 1) counted.request(id, 1);
    t.throws(() => counted.request(1000, 1), ProtocolViolation);
  });

  t.test('the bytes in flight are bounded over all calls of a child, and given back', async (t) => {
    const shared = new BytesInFlight();
    const [one, other] = [meter({}, shared), meter({}, shared)];
    for (let id = 1; id <= 16; id += 1) t.equal(one.request(id, FIXED_LIMITS.request_bytes), 'admitted');
    t.equal(other.request(1, 1), 'too-many-bytes');
    t.equal(other.answered(1), true, 'it can still be refused');
    one.answered(3);
    t.equal(other.request(2, 1), 'admitted');
    one.close();
    one.close();
    other.close();
    t.equal(shared.bytes, 0);
  });

  t.test('log lines beyond the caps are a violation', async (t) => {
    const entry = { level: 'log', message: 'x' } as const;
    const byLines = meter();
    const lines = FIXED_LIMITS.log_lines + FIXED_LIMITS.uncaught_lines;
    for (let line = 0; line < lines; line += 1) byLines.log(entry, 10);
    t.throws(() => byLines.log(entry, 10), ProtocolViolation);
    const byBytes = meter();
    byBytes.log(entry, FIXED_LIMITS.log_bytes);
    byBytes.log({ level: 'uncaught', message: 'x' }, FIXED_LIMITS.uncaught_bytes);
    t.throws(() => byBytes.log(entry, 1), ProtocolViolation);
  });

  t.test('a little more time than allowed is the clock, much more is a lie', async (t) => {
    const counted = meter({ cpu_ms: 100 });
    counted.ran(150);
    t.equal(counted.usage.cpu_ms, 150);
    t.throws(() => counted.ran(1300), ProtocolViolation);
  });

  t.test('a child’s own sum of its time is held against what the host saw and what there was', async (t) => {
    const counted = meter();
    counted.ran(300);
    t.equal(counted.believedMs(250, 1000), 250);
    t.equal(counted.believedMs(0, 1000), 100, 'much less than was seen');
    t.equal(counted.believedMs(5000, 1000), 1000, 'more than there was');
  });

  t.test('a stretch that nobody saw counts a little, so that there is an end to them', async (t) => {
    const counted = meter({ cpu_ms: 1 });
    t.throws(() => {
      for (let stretch = 0; stretch < 200_000; stretch += 1) counted.ran(0);
    }, ProtocolViolation);
  });
});

/** Threat: a call that kills its process and is run again, or one that is blamed for what another did. */
t.test('ending', async (t) => {
  const gone = (signal: NodeJS.Signals | null, stderr = '') => ({ code: null, signal, stderr });

  t.test('a death for want of memory is told by its signal or its last words', async (t) => {
    t.ok(diedOfMemory(gone('SIGABRT')));
    t.ok(diedOfMemory(gone('SIGTRAP')));
    t.ok(diedOfMemory(gone('SIGSEGV', 'FATAL ERROR: JavaScript heap out of memory')));
    t.ok(diedOfMemory(gone('SIGSEGV', '<--- Heap statistics --->')), 'abort() of the first process of a namespace');
    t.notOk(diedOfMemory(gone('SIGSEGV', 'something else')));
    t.notOk(diedOfMemory(gone('SIGKILL')));
  });

  t.test('a SIGKILL from outside is nobody’s fault', async (t) => {
    t.notOk(diedInsideGuest(gone('SIGKILL')));
    t.ok(diedInsideGuest(gone('SIGSEGV')));
  });

  t.test('each cause has its verdict for the culprit', async (t) => {
    const culprit = (cause: Parameters<typeof judgeCallOnChildDeath>[0], memory = false) =>
      judgeCallOnChildDeath(cause, true, DEFAULT_LIMITS, memory);
    t.match(culprit('overdue'), { code: 'CPU_LIMIT', message: /500 ms.*limits\.slice_ms/, lost: false });
    t.match(culprit('memory'), { code: 'MEMORY_LIMIT', message: /512 MiB.*limits\.process_mb/, lost: false });
    t.match(culprit('died', true), { code: 'MEMORY_LIMIT', message: /128 MiB.*limits\.memory_mb/, lost: false });
    t.match(culprit('died'), { code: 'SANDBOX_LOST', lost: false });
    t.match(culprit('protocol'), { code: 'SANDBOX_LOST', lost: false });
    t.match(culprit('closed'), { code: 'SANDBOX_LOST', lost: true });
  });

  t.test('the other calls may be run again, whatever the cause', async (t) => {
    for (const cause of ['overdue', 'memory', 'died', 'protocol', 'closed', 'start'] as const) {
      t.match(judgeCallOnChildDeath(cause, false, DEFAULT_LIMITS, true), { code: 'SANDBOX_LOST', lost: true }, cause);
    }
  });
});
