/** Threat: a plugin with more calls than it can run, or with calls that never end, makes other plugins wait. */
import t from 'tap';
import { DEFAULT_LIMITS, type PluginVersion } from '../../../contract.ts';
import { CallQueues, type ChildSeat, type QueuedCall } from '../../../host/call-queues.ts';
import type { ChildOrder } from '../../../host/child/children.ts';
import { SandboxProcesses } from '../../../host/sandbox-processes.ts';

/** Processes that answer when the test lets them. */
function setUp(maxProcesses = 4) {
  const time = { now: 0 };
  const clock = { now: () => time.now, elapsed: () => time.now };
  const posted: ChildOrder[] = [];
  const post = (_thread: number, message: ChildOrder) => posted.push(message);
  const children: SandboxProcesses = new SandboxProcesses(
    {
      threads: () => [1],
      moreThreads: () => undefined,
      post,
      clock,
      log: { warn() {}, error() {} },
      maxProcesses,
      idleMs: 60_000,
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
  const answerAll = () => {
    for (let message = posted.shift(); message !== undefined; message = posted.shift()) {
      const { child } = message;
      if (message.type === 'open') children.handle({ type: 'ready', child });
      else if (message.type === 'load') {
        const loaded = { version: message.version.version, isolate_bytes: 0, failure: null };
        children.handle({ type: 'loaded', child, message: loaded });
      } else if (message.type === 'close') {
        children.handle({ type: 'closed', child, cause: 'closed', detail: '', culprit: 0, stderr: '' });
      }
    }
  };
  return { time, children, admission, answerAll };
}

const applicant = (pluginId: string, limits: object = {}, more: Partial<QueuedCall> = {}): QueuedCall => {
  const version: PluginVersion = {
    pluginId,
    version: 'v1',
    code: '',
    filename: '',
    env: {},
    limits: { ...DEFAULT_LIMITS, ...limits },
    isolation: 'plugin',
  };
  return { pluginId, version: () => version, waitUntil: 1000, signal: new AbortController().signal, ...more };
};

const seatOf = (place: unknown): ChildSeat => {
  if (typeof place !== 'object' || place === null || !('child' in place)) throw new Error(`no seat: ${String(place)}`);
  return place as ChildSeat;
};

t.test('the first call waits for a child, the next has its place at once', async (t) => {
  const { admission, answerAll } = setUp();
  const first = admission.enter(applicant('a'));
  t.ok(first instanceof Promise);
  t.equal(admission.queued, 1);
  answerAll();
  const seat = seatOf(await first);
  t.equal(seat.child.running, 1);
  t.equal(seatOf(admission.enter(applicant('a'))).child, seat.child);
  t.equal(admission.queued, 0);
});

t.test('a plugin at its concurrency waits for itself and holds up nobody', async (t) => {
  const { admission, answerAll } = setUp();
  const one = { concurrency: 1 };
  const first = admission.enter(applicant('a', one));
  answerAll();
  const seat = seatOf(await first);
  const second = admission.enter(applicant('a', one));
  const third = admission.enter(applicant('a', one));
  const other = admission.enter(applicant('b'));
  answerAll();
  t.equal(seatOf(await other).child.pluginId, 'b');
  t.equal(admission.queued, 2);
  admission.leave(seat);
  admission.leave(seatOf(await second));
  t.ok(seatOf(await third), 'first come, first served');
});

t.test('with every process busy a call is sent away after its wait, and the queue has an end', async (t) => {
  const { admission, answerAll, time } = setUp(1);
  const busy = admission.enter(applicant('a'));
  answerAll();
  const seat = seatOf(await busy);
  const waiting = Array.from({ length: 1000 }, () => admission.enter(applicant('b')));
  t.equal(await admission.enter(applicant('b')), 'queue-full');
  answerAll();
  time.now = 999;
  admission.tick();
  t.equal(admission.queued, 1000);
  time.now = 1000;
  admission.tick();
  for (const place of waiting) t.equal(await place, 'waited-too-long');
  t.equal(admission.queued, 0);

  const late = admission.enter(applicant('b', {}, { waitUntil: 9999 }));
  admission.leave(seat);
  answerAll();
  t.equal(seatOf(await late).child.pluginId, 'b', 'the idle child gave way');
});

t.test('who has left is no longer in the queue', async (t) => {
  const { admission } = setUp();
  const leaving = new AbortController();
  const place = admission.enter(applicant('a', {}, { signal: leaving.signal }));
  leaving.abort();
  t.equal(await place, 'canceled');
  t.equal(await admission.enter(applicant('a', {}, { signal: leaving.signal })), 'canceled');
  t.equal(admission.queued, 0);
});

t.test('a waiting call runs the version that is served when its turn comes', async (t) => {
  const { admission, answerAll } = setUp();
  const old = applicant('a').version();
  let current = old;
  const place = admission.enter(applicant('a', {}, { version: () => current }));
  current = { ...old, version: 'v2' };
  answerAll();
  t.equal(seatOf(await place).version.version, 'v2');
});

t.test('a busy child makes its plugin grow, within its processes', async (t) => {
  const { admission, answerAll, children } = setUp(4);
  const two = applicant('a', { processes: 2 });
  const first = admission.enter(two);
  answerAll();
  await first;
  for (let call = 0; call < 10; call++) {
    await admission.enter(two);
    answerAll();
  }
  const owned = [...children.list()].filter(({ pluginId }) => pluginId === 'a');
  t.equal(owned.length, 2);
  t.same(
    owned.map(({ running }) => running).sort((a, b) => a - b),
    [5, 6],
    'and both carry the load',
  );
});

t.test('who waits for a plugin that is backed off is told so, and nobody else', async (t) => {
  const { admission } = setUp();
  const waiting = [1, 2].map(async () => await admission.enter(applicant('a')));
  void admission.enter(applicant('b'));
  admission.sendAway('a');
  admission.sendAway('c');
  t.same(await Promise.all(waiting), ['backed-off', 'backed-off']);
  t.equal(admission.queued, 1);
  admission.close();
});

t.test('closing sends everybody away', async (t) => {
  const { admission } = setUp();
  const waiting = admission.enter(applicant('a'));
  admission.close();
  t.equal(await waiting, 'closed');
  t.equal(await admission.enter(applicant('a')), 'closed');
});
