/**
 * Threat: a plugin kills its process with every call, and each one costs the service a process start. Or a caller who
 * can cause that keeps the plugin from everyone else. Both must stay bounded.
 */
import t from 'tap';
import { Quarantine, requestFingerprint } from '../../../host/quarantine.ts';

const rules = {
  kills: 3,
  windowMs: 60_000,
  firstMs: 1000,
  longestMs: 16_000,
  longestWorkingMs: 4000,
  workingMs: 600_000,
  probeMs: 1000,
};
const REASON = 'overdue: too long';

function setUp() {
  const time = { now: 0 };
  const quarantine = new Quarantine({ now: () => time.now, elapsed: () => time.now }, rules);
  return {
    time,
    quarantine,
    /** A kill without a known request. Returns the plugin's back-off in ms. */
    kill: () => quarantine.killed('p', REASON).pluginMs,
    /** A request that is refused, or else kills its process. Returns the refusal or the plugin's back-off in ms. */
    killBy(request: string, keyId = request) {
      const refusal = quarantine.refusal('p', keyId, () => request);
      return refusal ?? quarantine.killed('p', REASON, { keyId, request }).pluginMs;
    },
    ask: (request = 'honest', keyId = request) => quarantine.refusal('p', keyId, () => request),
  };
}

t.test('the third kill within a minute starts a back-off, which ends by itself', async (t) => {
  const { time, quarantine, kill, ask } = setUp();
  t.equal(kill(), 0);
  t.equal(kill(), 0);
  t.equal(ask(), undefined);
  t.equal(kill(), 1000);
  t.same(quarantine.backOff('p'), { reason: REASON, leftMs: 1000 });
  t.same(ask(), { reason: REASON, leftMs: 1000 });
  t.equal(
    quarantine.refusal('other', 'key', () => 'honest'),
    undefined,
    'it is the plugin’s own',
  );
  time.now = 1000;
  t.equal(quarantine.backOff('p'), undefined);
  t.equal(ask(), undefined);
});

t.test('it is refusing while all are refused, or an API key is, and not for calls alike', async (t) => {
  const { time, quarantine, kill, killBy } = setUp();
  t.equal(quarantine.isRefusing('p'), false, 'nothing is known of it');
  kill();
  killBy('same', 'key-1');
  t.ok(quarantine.refusal('p', 'key-1', () => 'same'));
  t.equal(quarantine.isRefusing('p'), false, 'only who repeats what kills');
  killBy('second', 'key-1');
  killBy('third', 'key-1');
  t.equal(quarantine.backOff('p'), undefined);
  t.equal(quarantine.isRefusing('p'), true, 'all that one key asks');
  t.equal(quarantine.isRefusing('other'), false);
  time.now = 1000;
  t.equal(quarantine.isRefusing('p'), false, 'the back-off of the key is over');
  kill();
  t.ok(quarantine.backOff('p'));
  t.equal(quarantine.isRefusing('p'), true, 'everybody');
  quarantine.forget('p');
  t.equal(quarantine.isRefusing('p'), false);
});

t.test('kills that lie far apart are no pattern', async (t) => {
  const { time, kill } = setUp();
  for (let minute = 0; minute < 10; minute++) {
    time.now = minute * 31_000;
    t.equal(kill(), 0);
  }
});

t.test('each further kill on probation doubles the back-off, up to the longest', async (t) => {
  const { time, kill } = setUp();
  kill();
  kill();
  const backOffs = [kill()];
  for (let round = 0; round < 5; round++) {
    time.now += backOffs.at(-1) ?? 0;
    backOffs.push(kill());
  }
  t.same(backOffs, [1000, 2000, 4000, 8000, 16_000, 16_000]);
});

t.test('on probation each key may try one call, and the next when that one had its time', async (t) => {
  const { time, kill, ask } = setUp();
  for (let times = 0; times < 3; times++) kill();
  time.now = 1000;
  t.equal(ask('a', 'key-1'), undefined);
  t.match(ask('b', 'key-1'), { reason: /another call is being tried/, leftMs: 1000 });
  t.equal(ask('b', 'key-2'), undefined, 'who asks all the time keeps nobody else out');
  time.now = 1400;
  t.match(ask('b', 'key-1'), { leftMs: 600 });
  time.now = 2000;
  t.equal(ask('b', 'key-1'), undefined, 'a call that takes long holds up nobody for good');
  t.match(ask('c', 'key-1'), { leftMs: 1000 });
});

t.test('one call that ends well clears the plugin, but not one of before the back-off', async (t) => {
  const { time, quarantine, kill, ask } = setUp();
  kill();
  kill();
  kill();
  quarantine.endedWell('p', 'honest');
  t.ok(quarantine.backOff('p'), 'during the back-off nothing changes');
  t.equal(kill(), 0, 'late deaths do not lengthen it');
  time.now = 1000;
  t.equal(ask(), undefined);
  quarantine.endedWell('p', 'honest');
  for (let times = 0; times < 3; times++) t.equal(ask(), undefined, 'all are let in again');
  t.equal(kill(), 0, 'it starts from nothing');
});

t.test('good calls between kills do not hide the pattern', async (t) => {
  const { quarantine, kill } = setUp();
  kill();
  quarantine.endedWell('p', 'honest');
  kill();
  quarantine.endedWell('p', 'honest');
  t.equal(kill(), 1000);
});

t.test('who repeats a call that kills is refused, longer each time, and nobody else', async (t) => {
  const { time, quarantine, killBy, ask } = setUp();
  const ends = [];
  for (let times = 0; times < 8; times++) {
    const end = killBy('hostile');
    ends.push(typeof end === 'number' ? 'killed' : end.leftMs);
    t.equal(ask(), undefined, 'another call is let in');
    t.equal(quarantine.backOff('p'), undefined, 'the plugin is not backed off');
    time.now += 500;
  }
  t.same(ends, ['killed', 500, 'killed', 1500, 1000, 500, 'killed', 3500]);
  for (let times = 0; times < 20; times++) {
    time.now += 20_000;
    killBy('hostile');
    t.match(ask('hostile'), { leftMs: times === 0 ? 8000 : 16_000, reason: /a call like this one/ });
    t.equal(ask(), undefined);
  }
});

t.test(
  'many ways to kill back off the plugin, shortly while it answers others, and long when it does not',
  async (t) => {
    for (const [works, longest] of [
      [true, 4000],
      [false, 16_000],
    ] as const) {
      const { time, quarantine, killBy } = setUp();
      if (works) quarantine.endedWell('p', 'honest');
      const backOffs: number[] = [];
      for (let way = 0; way < 12; way++) {
        const end = killBy(`way ${way}`);
        t.type(end, 'number');
        if (typeof end !== 'number') return;
        backOffs.push(end);
        time.now += end;
      }
      t.equal(Math.max(...backOffs), longest);
      t.equal(backOffs.at(-1), longest, 'and it stays there');
    }
  },
);

t.test('what nothing more is heard of is forgotten, and so is a plugin that is another one now', async (t) => {
  const { time, quarantine, killBy, ask } = setUp();
  for (let way = 0; way < 3; way++) killBy(`way ${way}`);
  t.ok(ask());
  quarantine.forget('p');
  t.equal(ask(), undefined);
  t.equal(killBy('x'), 0);
  t.match(ask('x'), { leftMs: 1000 });
  time.now = 1e9;
  t.equal(ask('x'), undefined);
  t.equal(killBy('x'), 0);
  t.match(ask('x'), { leftMs: 1000 }, 'it starts from nothing');
});

t.test(
  'who finds another way to kill each time is refused by the key, longer each time, and nobody else',
  async (t) => {
    const { time, quarantine, killBy, ask } = setUp();
    const backOffs: number[] = [];
    for (let way = 0; way < 12; way++) {
      t.equal(killBy(`way ${way}`, 'hostile'), 0);
      const refusal = ask('yet another way', 'hostile');
      t.equal(ask('honest', 'key-2'), undefined, 'another key is let in');
      quarantine.endedWell('p', 'key-2');
      t.equal(quarantine.backOff('p'), undefined, 'the plugin is not backed off');
      if (refusal === undefined) continue;
      t.match(refusal.reason, /calls with the same API key/);
      backOffs.push(refusal.leftMs);
      time.now += refusal.leftMs;
    }
    t.same(backOffs, [1000, 2000, 4000, 8000, ...Array.from({ length: 6 }, () => 16_000)]);
    t.equal(ask('probe', 'hostile'), undefined);
    t.match(ask('second', 'hostile'), { reason: /another call is being tried/ });
    quarantine.endedWell('p', 'hostile');
    t.equal(ask('second', 'hostile'), undefined, 'a call that ends well clears the key');
    t.equal(killBy('one more', 'hostile'), 0);
    t.equal(ask('second', 'hostile'), undefined, 'it starts from nothing');
  },
);

t.test('a call that has waited is asked for again: one like it may have killed meanwhile', async (t) => {
  const { time, quarantine, killBy } = setUp();
  const waited = (request: string) => quarantine.refusalAfterWait('p', () => request);
  t.equal(waited('hostile'), undefined);
  killBy('first');
  killBy('hostile');
  t.match(waited('hostile'), { leftMs: 1000, reason: /a call like this one/ });
  t.equal(waited('honest'), undefined);
  time.now += 1001;
  t.equal(waited('hostile'), undefined);
});

t.test('requests are told apart by caller, method, route, query and parameters, not by headers', async (t) => {
  const request = {
    method: 'POST',
    route: '/a',
    params: { a: [1] },
    headers: { x: ['1'] },
    query: {},
    keyId: 'k',
    requestId: 'r',
  } as const;
  const fingerprint = requestFingerprint({ ...request, params: { a: [1] } });
  const again = { ...request, params: { a: [1] }, headers: { x: ['2'] }, requestId: 'other' };
  t.equal(requestFingerprint(again), fingerprint, 'headers and the id differ each time');
  for (const more of [{ keyId: 'l' }, { route: '/b' }, { method: 'GET' }, { query: { q: ['1'] } }, { params: {} }]) {
    t.not(requestFingerprint({ ...request, params: { a: [1] }, ...more }), fingerprint, JSON.stringify(more));
  }
});
