/** Threat: a child that says little or nothing of what it does, to have the processor for itself. */
import t from 'tap';
import { DEFAULT_LIMITS } from '../../../../contract.ts';
import { ProtocolViolation } from '../../../../frames.ts';
import { ChildCpuLimit } from '../../../../host/child/child-cpu-limit.ts';

const LIMITS = { ...DEFAULT_LIMITS, cpu_ms: 1000 };

t.test('a process may take what its calls may, several times over, and no more', async (t) => {
  const account = new ChildCpuLimit(0);
  const shares = [account.begin(LIMITS), account.begin(LIMITS)];
  t.equal(account.overdrawn(1000, 18_000, shares), null, 'two calls of 9 s');
  t.equal(account.overdrawn(1001, 19_000, shares), null, 'and what is to spare');
  t.match(account.overdrawn(1002, 21_000, shares), /21000 ms of the processor/);
});

t.test('what a call leaves over when it ends is not kept for later', async (t) => {
  const account = new ChildCpuLimit(0);
  for (let call = 0; call < 100; call += 1) account.begin(LIMITS);
  t.match(account.overdrawn(10, 6000, []), /far more than its calls may/);
});

t.test('calls that come and go between two looks pay for themselves', async (t) => {
  const account = new ChildCpuLimit(0);
  // 60 % of the processor, in calls of a few milliseconds each; the looks find one of them there, or none.
  for (let look = 1; look <= 1000; look += 1) {
    for (let call = 0; call < 15; call += 1) account.ended(account.begin(LIMITS));
    const there = look % 2 === 0 ? [account.begin(LIMITS)] : [];
    t.equal(account.overdrawn(look * 250, look * 150, there), null);
  }
});

t.test('calls that have waited for long, and paid for others meanwhile, cost nobody anything', async (t) => {
  const account = new ChildCpuLimit(0);
  const waiting = Array.from({ length: 20 }, () => account.begin(LIMITS));
  t.equal(account.overdrawn(1, 20 * 9000, waiting), null);
  for (let look = 1; look <= 39; look += 1) {
    t.equal(account.overdrawn(look * 250, 180_000 + look * 150, [...waiting, account.begin(LIMITS)]), null);
  }
  t.type(account.overdrawn(10_000, 190_000, waiting), 'string', 'what nobody can pay is too much all the same');
});

t.test('a process that is idle may do a little all the time', async (t) => {
  const account = new ChildCpuLimit(0);
  for (let second = 1; second <= 100; second += 1) t.equal(account.overdrawn(second * 1000, second * 90, []), null);
  t.equal(account.overdrawn(101_000, 10_500, []), null, 'and much for a moment');
  t.type(account.overdrawn(102_000, 12_000, []), 'string');
});

t.test('where the system tells nothing, nothing is held against the child', async (t) => {
  const account = new ChildCpuLimit(0);
  t.equal(account.overdrawn(1e9, 0, []), null);
});

t.test('a child makes isolates for versions and calls, and not without end', async (t) => {
  const account = new ChildCpuLimit(0);
  account.load(LIMITS);
  account.begin(LIMITS);
  for (let isolate = 0; isolate < 132; isolate += 1) account.made();
  t.throws(() => account.made(), ProtocolViolation);
});

t.test('while a version is evaluated there is more, which is gone when it is loaded', async (t) => {
  const account = new ChildCpuLimit(0);
  account.load(LIMITS);
  t.equal(account.overdrawn(100, 6000, []), null);
  account.load(LIMITS);
  account.loaded();
  t.type(account.overdrawn(200, 9000, []), 'string');
});
