/** Threat: a child that does not count, or counts in its own favour. */
import t from 'tap';
import { BytesInFlight, Meter } from '../../../../sandbox/driver/meter.ts';
import { ProtocolViolation } from '../../../../sandbox/frames.ts';
import { DEFAULT_LIMITS, FIXED_LIMITS } from '../../../../sandbox/protocol.ts';

const meter = (limits: object = {}, shared = new BytesInFlight()) =>
  new Meter({ ...DEFAULT_LIMITS, ...limits }, shared);

t.test('capability calls end at the limit', async (t) => {
  const counted = meter({ calls: 2 });
  t.equal(counted.request(1, 10), 'admitted');
  t.equal(counted.request(5, 10), 'admitted');
  t.equal(counted.request(6, 10), 'call-limit');
  t.equal(counted.usage.calls, 2);
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

t.test('a child’s own sum of its time is held against what the driver saw and what there was', async (t) => {
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
