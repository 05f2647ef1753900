/** Threat: a child that hangs, fills the memory or takes the processor, and a call that is blamed in another's place. */
import { performance } from 'node:perf_hooks';
import t from 'tap';
import { OverrunDetector } from '../../../../sandbox/driver/overrun-detector.ts';
import type { ChildNiceness } from '../../../../sandbox/driver/processor/priority.ts';
import { NO_CALL } from '../../../../sandbox/driver/pulse.ts';
import { DEFAULT_LIMITS } from '../../../../sandbox/protocol.ts';

const MIB = 1_048_576;
const limits = { process_mb: 512, slice_ms: 500 };

function setUp() {
  const groups: number[] = [];
  const niceness: ChildNiceness = {
    comesBack: true,
    setGroup: (nice) => void groups.push(nice),
    setProcess: () => undefined,
    close: () => undefined,
  };
  const detector = new OverrunDetector({ startedPid: undefined, memoryPid: undefined }, niceness);
  const start = performance.now();
  const look = (ms: number, change: { rssBytes?: number; ready?: boolean; owesASign?: boolean } = {}) =>
    detector.look({ now: start + ms, rssBytes: 50 * MIB, ready: true, limits, owesASign: false, ...change });
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
  detector.pulse.enter(1, start + 1);
  t.equal(look(300, { rssBytes: 500 * MIB }), null);
  t.equal(Math.round(detector.left(1, start + 301)), 300);
  detector.pulse.enter(2, start + 301);
  t.match(look(302, { rssBytes: 520 * MIB }), { cause: 'memory', detail: 'it takes 520 MiB', culprit: 1 });
  detector.ended(1, { leftMs: 0 });
  t.match(look(303, { rssBytes: 520 * MIB }), { cause: 'memory', culprit: NO_CALL }, 'who is gone is not to blame');
});

t.test('who stays inside for too long is to blame, and nobody where the child itself is silent', async (t) => {
  const { detector, start, look } = setUp();
  detector.pulse.enter(7, start);
  t.equal(look(2000), null);
  t.match(look(2500), { cause: 'overdue', culprit: 7 });
  t.equal(detector.suspect, 7);
  detector.left(7, start + 2500);
  t.equal(detector.suspect, 7, 'it was there last');
  detector.pulse.heard(start + 2500);
  t.match(look(60_000, { owesASign: true }), { cause: 'overdue', culprit: NO_CALL });
});

t.test('where the processor time cannot be told nobody is held to it', async (t) => {
  const { detector, start } = setUp();
  t.equal(detector.overspent(start + 1000, [detector.account.begin(DEFAULT_LIMITS)]), null);
  detector.close();
  detector.close();
});

t.test('a child earns its place by a call that leaves the guest, also one that was put out', async (t) => {
  const { detector, start, look, group } = setUp();
  look(0);
  detector.pulse.enter(NO_CALL, start);
  detector.left(NO_CALL, start + 10);
  look(25);
  t.equal(group(), 5, 'not by a module');
  detector.pulse.enter(1, start + 30);
  look(400);
  t.equal(group(), 5);
  detector.left(1, start + 531);
  look(550);
  t.equal(group(), 0, 'it may be an honest one that others kept waiting');
});
