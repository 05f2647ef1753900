import t from 'tap';
import { END_CODES, type EndCode, endCodeFailure } from '../../../../../../sandbox/contract.ts';
import { failureAnswer, pluginAnswerOf } from '../../../../../../src/features/plugins/host/outcome.ts';

const plain = { emit_logs: false, emit_traces: false, emit_usage: false, raw_response: false };
const raw = { ...plain, raw_response: true, emit_logs: true };
const trail = {
  logs: [{ level: 'log', message: 'hi' }],
  traces: [{ method: 'rpc', relayerId: 'm', requestId: 'i', payload: null, durationMs: 1, outcome: 'ok' }],
  usage: { cpu_ms: 1.5, calls: 1, heap_bytes: 2000, bytes_in: 30, bytes_out: 4, duration_ms: 6 },
} as const;
const threw = {
  kind: 'threw',
  message: 'no amount',
  code: 'VALIDATION_FAILED',
  status: 422,
  details: '{"f":1}',
} as const;

t.test('a result is spliced into the envelope as it came', async (t) => {
  const outcome = { kind: 'returned', json: '{"b":1,"a":1e400}' } as const;
  t.same(pluginAnswerOf(outcome, plain, trail), {
    status: 200,
    body: '{"success":true,"data":{"b":1,"a":1e400},"error":null}',
  });
  t.same(pluginAnswerOf(outcome, raw, trail), { status: 200, body: '{"b":1,"a":1e400}' });
});

t.test('metadata has only the enabled keys', async (t) => {
  const outcome = { kind: 'returned', json: '1' } as const;
  const metadata = (shape: object) => JSON.parse(pluginAnswerOf(outcome, { ...plain, ...shape }, trail).body).metadata;
  t.equal(metadata({}), undefined);
  t.same(metadata({ emit_logs: true }), { logs: trail.logs });
  t.same(metadata({ emit_traces: true }), { traces: trail.traces });
  t.same(metadata({ emit_usage: true }), { usage: trail.usage });
  t.same(metadata({ emit_logs: true, emit_traces: true, emit_usage: true }), trail);
});

t.test('what a plugin throws has its code, details, status and message', async (t) => {
  const { status, body } = pluginAnswerOf(threw, { ...plain, emit_logs: true }, trail);
  t.equal(status, 422);
  t.same(JSON.parse(body), {
    success: false,
    data: { code: 'VALIDATION_FAILED', details: { f: 1 } },
    error: 'no amount',
    metadata: { logs: trail.logs },
  });
  t.same(pluginAnswerOf(threw, raw, trail), { status: 422, body: '{"code":"VALIDATION_FAILED","details":{"f":1}}' });
  t.equal(JSON.parse(pluginAnswerOf({ ...threw, message: ' \n' }, plain, trail).body).error, 'Plugin execution failed');
});

t.test('a status that cannot carry a body becomes 500', async (t) => {
  const status = (asked: number) => pluginAnswerOf({ ...threw, status: asked }, plain, trail).status;
  t.same([200, 418, 599].map(status), [200, 418, 599]);
  for (const asked of [0, 99, 101, 204, 304, 600, 1000, -1, 402.5, Number.NaN]) t.equal(status(asked), 500);
});

t.test('each end has the status of the protocol and keeps logs and traces', async (t) => {
  for (const code of Object.keys(END_CODES) as EndCode[]) {
    const answer = pluginAnswerOf({ kind: 'ended', code, message: 'why' }, { ...plain, emit_logs: true }, trail);
    t.equal(answer.status, END_CODES[code].status, code);
    t.equal(answer.retryAfter, answer.status === 503 ? 1 : undefined, code);
    t.match(JSON.parse(answer.body), {
      success: false,
      data: { code, details: {} },
      error: 'why',
      metadata: { logs: trail.logs },
    });
  }
});

t.test('a failure of the host says when to come back', async (t) => {
  const answer = failureAnswer(endCodeFailure('SERVICE_UNAVAILABLE', 'busy', 3), plain, trail);
  t.match(answer, { status: 503, retryAfter: 3 });
  const broken = { code: 'FILE_NOT_FOUND', message: 'gone', status: 500, details: { file: 'plugins/x.ts' } };
  t.strictSame(failureAnswer(broken, raw, trail), {
    status: 500,
    body: '{"code":"FILE_NOT_FOUND","details":{"file":"plugins/x.ts"}}',
  });
});
