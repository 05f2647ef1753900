/** Threat: a child that sends other shapes than our own, in the hope that something behind believes them. */
import t from 'tap';
import { FIXED_LIMITS, type Json } from '../../../../contract.ts';
import { ProtocolViolation } from '../../../../frames.ts';
import {
  childPayloadLimits,
  hasTooManyJsonValues,
  isTooDeep,
  MAX_DEPTH,
  MAX_WEIGHT,
  parseDone,
  parseFrame,
  parseIsolates,
  parseLoaded,
  parseLog,
  parseReady,
  parseRequest,
  parseReturned,
  requestId,
  splitRequestText,
} from '../../../../host/child/child-messages.ts';
import { UP } from '../../../../protocol.ts';

const usage = { cpu_ms: 1.5, calls: 2, heap_bytes: 3 };
const slow = { kind: 'ended', code: 'CPU_LIMIT', message: 'm' };
const threw = { kind: 'threw', message: 'm', code: 'c', status: 500, details: '{}' };

const ACCEPTED: [(text: string) => unknown, object][] = [
  [parseReady, { protocol: 1, node: 'v26.10.0' }],
  [parseLoaded, { version: 'v1', isolate_bytes: 1, failure: null }],
  [parseLoaded, { version: 'v1', isolate_bytes: 0, failure: { outcome: threw, report: 'r' } }],
  [parseLoaded, { version: 'v1', isolate_bytes: 0, failure: { outcome: slow, report: '' } }],
  [parseRequest, { id: 1, method: 'kv.get', params: { key: [null, true, 1.5] } }],
  [parseDone, { outcome: slow, usage, dropped_logs: 0, isolates: 1 }],
  [parseDone, { outcome: threw, usage, dropped_logs: 0, isolates: 1 }],
];

t.test('the shapes of the protocol pass', async (t) => {
  for (const [parse, value] of ACCEPTED) t.same(parse(JSON.stringify(value)), value);
});

t.test('a log line and a result follow their heads as they are', async (t) => {
  t.same(parseLog('debug '), { level: 'debug', message: '' });
  t.same(parseLog('uncaught Uncaught\n {}'), { level: 'uncaught', message: 'Uncaught\n {}' });
  for (const text of ['', 'log', 'logx', ' log x', 'LOG x', '\u001b[2J x', 'constructor x', '{"level":"log"} x']) {
    t.throws(() => parseLog(text), ProtocolViolation, text);
  }
  const outcome = { kind: 'returned', json: '{"a":"\\n"}' };
  t.same(parseReturned('1.5 2 3 0 1\n{"a":"\\n"}'), { outcome, usage, dropped_logs: 0, isolates: 1 });
  t.equal(parseReturned('1e-7 2 3 0 1\n1').usage.cpu_ms, 1e-7);
  for (const head of [
    '',
    '1 2 3 4',
    '1 2 3 4 5 6',
    '-1 2 3 4 5',
    '1 -2 3 4 5',
    '1 2.5 3 4 5',
    'NaN 2 3 4 5',
    '1e999 2 3 4 5',
  ]) {
    t.throws(() => parseReturned(`${head}\n1`), ProtocolViolation, head);
  }
  for (const head of ['1 2 3 4 65537', `1 ${2 ** 53} 3 4 5`, '1 2 9000000000000 4 5', `1 2 3 ${2 ** 53} 5`]) {
    t.throws(() => parseReturned(`${head}\n1`), ProtocolViolation, head);
  }
});

t.test('one field less, one more, one of another type, and it is refused', async (t) => {
  for (const [parse, value] of ACCEPTED) {
    t.throws(() => parse(JSON.stringify({ ...value, more: 1 })), ProtocolViolation);
    for (const name of Object.keys(value)) {
      const { [name]: _left, ...less } = value as Record<string, unknown>;
      t.throws(() => parse(JSON.stringify(less)), ProtocolViolation, `without ${name}`);
      // Parameters are the guest's own business: any JSON.
      if (name === 'params') continue;
      for (const other of [[], {}, -1, 0.5, true, { kind: 'x' }]) {
        t.throws(
          () => parse(JSON.stringify({ ...value, [name]: other })),
          ProtocolViolation,
          `${name}: ${String(other)}`,
        );
      }
    }
  }
});

t.test('what is not an object of JSON is refused', async (t) => {
  for (const text of ['', '{', 'null', '[]', '1', '"x"', '{"a":1}x']) {
    for (const [parse] of ACCEPTED) t.throws(() => parse(text), ProtocolViolation, text);
  }
});

t.test('names of objects are not names of rows', async (t) => {
  const done = (code: string) =>
    JSON.stringify({ outcome: { kind: 'ended', code, message: '' }, usage, dropped_logs: 0, isolates: 1 });
  for (const code of ['constructor', '__proto__', 'toString', 'OTHER']) {
    t.throws(() => parseDone(done(code)), ProtocolViolation, code);
  }
});

const doneWith = (outcome: object, more: object = {}) =>
  JSON.stringify({ outcome, usage, dropped_logs: 0, isolates: 1, ...more });

t.test('texts that go into the answer as they are have to be JSON', async (t) => {
  const texts = ['', '1,"success":true', 'null}', '{"a":1', ' 1', '1\n', '"\u0001"', 'NaN', 'undefined', '"\ud800"'];
  for (const text of texts) {
    t.throws(() => parseReturned(`1 2 3 0 1\n${text}`), ProtocolViolation, text);
    t.throws(() => parseDone(doneWith({ ...threw, details: text })), ProtocolViolation, text);
    const failure = { outcome: { ...threw, details: text }, report: '' };
    t.throws(() => parseLoaded(JSON.stringify({ version: 'v1', isolate_bytes: 0, failure })), ProtocolViolation, text);
  }
});

t.test('a child states no end that is the host’s', async (t) => {
  const ended = (code: string) => ({ kind: 'ended', code, message: 'm' });
  for (const code of ['TIMEOUT', 'SERVICE_UNAVAILABLE', 'COMPILE_ERROR']) {
    t.throws(() => parseDone(doneWith(ended(code))), ProtocolViolation, code);
  }
  const loaded = (outcome: object) =>
    JSON.stringify({ version: 'v1', isolate_bytes: 0, failure: { outcome, report: '' } });
  for (const code of ['CANCELED', 'SANDBOX_LOST', 'TIMEOUT']) {
    t.throws(() => parseLoaded(loaded(ended(code))), ProtocolViolation, code);
  }
  t.throws(
    () => parseLoaded(loaded({ kind: 'returned', json: '1' })),
    ProtocolViolation,
    'and no result for all calls',
  );
});

t.test('figures stay in the bounds of what can be', async (t) => {
  const bad = [
    { isolates: 2 ** 40 },
    { dropped_logs: -1 },
    { usage: { ...usage, heap_bytes: 2 ** 50 } },
    { usage: { ...usage, calls: -1 } },
    { usage: { ...usage, cpu_ms: null } },
    { usage: { ...usage, cpu_ms: -1 } },
  ];
  for (const more of bad) {
    t.throws(() => parseDone(doneWith(threw, more)), ProtocolViolation, JSON.stringify(more));
  }
  t.throws(() => parseDone(doneWith({ kind: 'returned', json: '1' })), ProtocolViolation, 'a return has its own frame');
  const infinite = doneWith(threw).replace('1.5', '1e999');
  t.throws(() => parseDone(infinite), ProtocolViolation, 'a number that JSON can write and nothing can add');
  t.throws(() => parseLoaded('{"version":"v1","isolate_bytes":9e15,"failure":null}'), ProtocolViolation);
});

t.test('nesting is measured without walking down by recursion', async (t) => {
  const nested = (depth: number): Json => {
    let value: Json = 1;
    for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { value };
    return value;
  };
  t.equal(isTooDeep(nested(MAX_DEPTH)), false);
  t.equal(isTooDeep(nested(MAX_DEPTH + 1)), true);
  t.equal(isTooDeep(nested(100_000)), true);
  t.equal(isTooDeep(null), false);
});

t.test('parameters that are nested too deep are not passed on', async (t) => {
  const params = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
  t.match(parseFrame(UP.REQUEST, `{"id":1,"method":"kv.get","params":${params}}`), {
    message: { id: 1, method: 'kv.get', params: null },
    refusal: /nested/,
  });
});

t.test('a value comes behind its request, stays text, and is looked through', async (t) => {
  const head = '{"id":1,"method":"kv.set","params":{"key":"k"}}';
  t.strictSame(splitRequestText(head), { head, value: undefined });
  t.strictSame(splitRequestText(`${head}\n{"a":1}\n2`), { head, value: '{"a":1}\n2' });
  t.strictSame(parseRequest(head, '{"a":[1]}').params, { key: 'k', value: '{"a":[1]}' });
  for (const value of ['', '{"a":1', '1\n2', ' 1', '"\ud800"', 'undefined']) {
    t.throws(() => parseRequest(head, value), ProtocolViolation, 'no text of our runtime');
  }
  for (const params of ['{"value":"1"}', '{"key":"k","value":null}']) {
    const within = `{"id":1,"method":"kv.set","params":${params}}`;
    t.throws(() => parseRequest(within), ProtocolViolation, 'one that would pass unseen');
    t.throws(() => parseRequest(within, '1'), ProtocolViolation);
  }
  for (const params of ['null', '[]', '"text"']) {
    t.throws(() => parseRequest(`{"id":1,"method":"kv.set","params":${params}}`, '1'), ProtocolViolation);
  }
});

t.test('values are counted in the text, where brackets and commas inside strings are none', async (t) => {
  const text = (params: Json) => JSON.stringify({ id: 7, method: 'kv.set', params });
  const many = (length: number, value: Json) => text(Array.from({ length }, () => value));
  t.equal(hasTooManyJsonValues(many(MAX_WEIGHT - 50, 0)), false);
  t.equal(hasTooManyJsonValues(many(MAX_WEIGHT, 0)), true);
  t.equal(hasTooManyJsonValues(many(20_000, [])), true, 'arrays weigh more');
  t.equal(hasTooManyJsonValues(many(20_000, {})), true, 'objects too');
  t.equal(hasTooManyJsonValues(text(',[{"\\'.repeat(100_000))), false);
  t.equal(requestId(text(1)), 7);
  for (const other of ['', '[]', '{"id":-1,', '{"id":"1",', '{"method":"x","id":1}']) {
    t.throws(() => requestId(other), ProtocolViolation, other);
  }
});

t.test('a number of isolates is one, or the child is a liar', (t) => {
  t.equal(parseIsolates('12'), 12);
  for (const text of ['', '-1', '1e3', 'many', '12345678901'])
    t.throws(() => parseIsolates(text), ProtocolViolation, text);
  t.end();
});

t.test('each kind of frame has its cap, and a result that of the version that is loaded', async (t) => {
  const caps = childPayloadLimits({ result_bytes: 1000 });
  t.equal(caps(UP.ENTER), 0);
  t.equal(caps(UP.REQUEST), FIXED_LIMITS.request_bytes);
  t.equal(caps(UP.DONE), 2000 + FIXED_LIMITS.up_frame_slack_bytes);
  t.equal(caps(UP.RETURNED), 1000 + FIXED_LIMITS.up_frame_slack_bytes);
  t.equal(caps(99), undefined);
});
