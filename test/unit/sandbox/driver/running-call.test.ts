/** Threat: a call with two ends, or none. */
import t from 'tap';
import { BytesInFlight } from '../../../../sandbox/driver/meter.ts';
import { RunningCall } from '../../../../sandbox/driver/running-call.ts';
import { ProtocolViolation } from '../../../../sandbox/frames.ts';
import { type CallReport, DEFAULT_LIMITS, FIXED_LIMITS } from '../../../../sandbox/protocol.ts';

const usage = { cpu_ms: 0, calls: 77, heap_bytes: 1000 };

function running(timeoutMs = 10_000, onTimeout = (): void => {}) {
  const reports: CallReport[] = [];
  const task = { child: 1, call: 1, version: 'v1', context: '{}', timeout_ms: timeoutMs };
  const limits = { ...DEFAULT_LIMITS, result_bytes: 10 };
  const call = new RunningCall(
    task,
    limits,
    new BytesInFlight(),
    { leftMs: 1 },
    (report) => reports.push(report),
    onTimeout,
  );
  return { call, reports };
}

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

t.test('the wall limit is told to the owner, and not after the end', async (t) => {
  const timedOut = Promise.withResolvers<void>();
  running(1, timedOut.resolve).call.log({ level: 'log', message: '' }, 1);
  await timedOut.promise;
  let late = false;
  const { call } = running(20, () => {
    late = true;
  });
  call.done({ kind: 'returned', json: '1' }, usage, 0);
  const other = Promise.withResolvers<void>();
  running(60, other.resolve);
  await other.promise;
  t.equal(late, false);
});
