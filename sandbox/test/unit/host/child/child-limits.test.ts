/** Threat: a child that hangs, fills the memory or takes the processor, and a call that is blamed in another's place. */
import { performance } from 'node:perf_hooks';
import t from 'tap';
import { DEFAULT_LIMITS } from '../../../../contract.ts';
import { ProtocolViolation } from '../../../../frames.ts';
import { ChildLimits, type ChildSample, Heartbeat, NO_CALL, RssTrend } from '../../../../host/child/child-limits.ts';
import type { ChildNiceness } from '../../../../host/child/priority.ts';

const MIB = 1_048_576;
const limits = { process_mb: 512, slice_ms: 500 };

function setUp() {
  const groups: number[] = [];
  const niceness: ChildNiceness = {
    comesBack: true,
    setGroup: (nice) => void groups.push(nice),
    setProcess: () => undefined,
  };
  const detector = new ChildLimits(niceness);
  const start = performance.now();
  const look = (ms: number, change: Partial<ChildSample> = {}) =>
    detector.look({
      now: start + ms,
      rssBytes: 50 * MIB,
      takenMs: 0,
      ready: true,
      limits,
      hasUnread: false,
      owesASign: false,
      ...change,
    });
  return { detector, start, look, group: () => groups.at(-1) };
}

t.test('a child has its time to start, and nobody is to blame when it does not', async (t) => {
  const { look } = setUp();
  t.equal(look(9000, { ready: false }), null);
  t.match(look(11_000, { ready: false }), { cause: 'start', culprit: NO_CALL });
  t.equal(look(11_000), null);
});

t.test('who filled the memory is to blame, not who is inside when it is found out', async (t) => {
  const { detector, start, look } = setUp();
  t.equal(look(0), null);
  detector.heartbeat.enter(1, start + 1);
  t.equal(look(300, { rssBytes: 500 * MIB }), null);
  t.equal(Math.round(detector.left(1, start + 301)), 300);
  detector.heartbeat.enter(2, start + 301);
  t.match(look(302, { rssBytes: 520 * MIB }), { cause: 'memory', detail: 'it takes 520 MiB', culprit: 1 });
  detector.ended(1, { leftMs: 0 });
  t.match(look(303, { rssBytes: 520 * MIB }), { cause: 'memory', culprit: NO_CALL }, 'who is gone is not to blame');
});

t.test('who stays inside for too long is to blame, and nobody where the child itself is silent', async (t) => {
  const { detector, start, look } = setUp();
  detector.heartbeat.enter(7, start);
  t.equal(look(2000), null);
  t.equal(look(2500, { hasUnread: true }), null, 'it may have left again');
  t.match(look(2500), { cause: 'overdue', culprit: 7 });
  t.equal(detector.suspect, 7);
  detector.left(7, start + 2500);
  t.equal(detector.suspect, 7, 'it was there last');
  detector.heartbeat.beat(start + 2500);
  t.match(look(60_000, { owesASign: true }), { cause: 'overdue', culprit: NO_CALL });
});

t.test('where the processor time cannot be told nobody is held to it', async (t) => {
  const { detector, start } = setUp();
  t.equal(detector.overspent(start + 1000, 0, [detector.account.begin(DEFAULT_LIMITS)]), null);
});

/** Threat: a child that goes into the guest and never comes out, or falls silent so that nobody notices. */
t.test('pulse', async (t) => {
  const SLICE_MS = 500;

  t.test('a stretch is overdue after four slices and the grace', async (t) => {
    const heartbeat = new Heartbeat(0);
    heartbeat.enter(7, 1000);
    t.equal(heartbeat.entered, 7);
    t.equal(heartbeat.overdue(3250, SLICE_MS, false), null, 'others may have had the processor');
    t.match(heartbeat.overdue(3251, SLICE_MS, false), /2251 ms; 2000 ms/);
    t.equal(heartbeat.leave(7, 3300), 2300);
    t.equal(heartbeat.entered, null);
    t.equal(heartbeat.lastEntered, 7);
    t.equal(heartbeat.overdue(1e9, SLICE_MS, false), null);
  });

  t.test('a module has its own limit', async (t) => {
    const heartbeat = new Heartbeat(0);
    heartbeat.enter(NO_CALL, 0);
    t.equal(heartbeat.overdue(5250, SLICE_MS, true), null);
    t.match(heartbeat.overdue(5251, SLICE_MS, true), /5000 ms are allowed/);
    t.equal(heartbeat.overdue(20_250, 20_000, true), null, 'as long as a stretch of a call where that is more');
  });

  t.test('silence is overdue only when something is owed', async (t) => {
    const heartbeat = new Heartbeat(0);
    t.match(heartbeat.overdue(7251, SLICE_MS, true), /no sign of life/);
    t.equal(heartbeat.overdue(7251, SLICE_MS, false), null);
    heartbeat.beat(7200);
    t.equal(heartbeat.overdue(14_450, SLICE_MS, true), null);
    t.match(heartbeat.overdue(14_451, SLICE_MS, true), /no sign of life/);
  });

  t.test('what it owes counts from when it began to owe it, however long it had nothing to say', async (t) => {
    const heartbeat = new Heartbeat(0);
    t.equal(heartbeat.overdue(60_000, SLICE_MS, false), null);
    t.equal(heartbeat.overdue(60_025, SLICE_MS, true), null);
    t.equal(heartbeat.overdue(67_250, SLICE_MS, true), null);
    t.match(heartbeat.overdue(67_251, SLICE_MS, true), /no sign of life for 7251 ms/);
  });

  t.test('marks that do not fit are violations', async (t) => {
    const heartbeat = new Heartbeat(0);
    t.throws(() => heartbeat.leave(1, 0), ProtocolViolation);
    heartbeat.enter(1, 0);
    t.throws(() => heartbeat.enter(2, 0), ProtocolViolation);
    t.throws(() => heartbeat.leave(2, 0), ProtocolViolation);
  });
});

/** Threat: a call that fills its process, and lets another one be blamed that happened to run last. */
t.test('growth', async (t) => {
  const MIB = 1_048_576;

  t.test('what is new is divided by the time that each was inside', async (t) => {
    const growth = new RssTrend();
    growth.measured(50 * MIB);
    growth.ran(1, 20);
    growth.ran(2, 1);
    growth.measured(150 * MIB);
    t.equal(growth.most(50 * MIB), 1);
    growth.ran(2, 5);
    growth.measured(160 * MIB);
    t.equal(growth.most(50 * MIB), 1, 'who ran last has taken little');
    growth.ended(1);
    t.equal(growth.most(50 * MIB), NO_CALL, 'who has gone is not there to be blamed, nor is anybody in its place');
    t.equal(growth.most(5 * MIB), 2);
  });

  t.test('memory that comes while nobody runs, and memory that goes, is nobody’s', async (t) => {
    const growth = new RssTrend();
    growth.measured(500 * MIB);
    t.equal(growth.most(1), NO_CALL);
    growth.ran(3, 0);
    growth.measured(400 * MIB);
    growth.measured(450 * MIB);
    t.equal(growth.most(1), NO_CALL, 'it ran before the memory came');
    growth.ran(3, 0);
    growth.measured(451 * MIB);
    t.equal(growth.most(1), 3, 'however short it was');
    growth.ran(NO_CALL, 1);
    growth.measured(900 * MIB);
    t.equal(growth.most(1), 3, 'a module is no call');
  });
});

t.test('a child earns its place by a call that leaves the guest, also one that was put out', async (t) => {
  const { detector, start, look, group } = setUp();
  look(0);
  detector.heartbeat.enter(NO_CALL, start);
  detector.left(NO_CALL, start + 10);
  look(25);
  t.equal(group(), 5, 'not by a module');
  detector.heartbeat.enter(1, start + 30);
  look(400);
  t.equal(group(), 5);
  detector.left(1, start + 531);
  look(550);
  t.equal(group(), 0, 'it may be an honest one that others kept waiting');
});
