/** Threat: a child that keeps the processor from the service and from other plugins. */

import t from 'tap';
import { type ChildNiceness, ChildPriority, type CpuLoadSample } from '../../../../host/child/priority.ts';

const LOOK_MS = 25;

/** A child whose nice values are kept as they are told. */
function setUp({ comesBack = true, proven = true } = {}) {
  const told: { group: number | null; process: number | null } = { group: null, process: null };
  const niceness: ChildNiceness = {
    comesBack,
    setGroup: (nice) => {
      told.group = nice;
    },
    setProcess: (nice) => {
      told.process = nice;
    },
  };
  const priority = new ChildPriority(niceness, 0);
  if (proven) priority.prove();
  let takenMs = 0;
  /** One look after each 25 ms from the first to the last, at which the process has taken this share of a core. */
  const looks = (from: number, to: number, share: number, change: Partial<CpuLoadSample> = {}) => {
    for (let now = from; now <= to; now += LOOK_MS) {
      takenMs += share * LOOK_MS;
      priority.look({ now, starting: false, insideSince: null, evaluating: false, takenMs, ...change });
    }
    return to;
  };
  return { told, priority, looks };
}

t.test('a child starts in the time that others leave it, but is not kept waiting for ever', async (t) => {
  const { told, looks } = setUp();
  t.match(told, { group: 5, process: 5 }, 'from its first moment on');
  looks(25, 500, 1, { starting: true });
  t.equal(told.group, 5);
  looks(525, 525, 1, { starting: true });
  t.equal(told.group, 0);
});

t.test('until a call has left its guest a child is behind those that have proven themselves', async (t) => {
  const { told, priority, looks } = setUp({ proven: false });
  looks(25, 50, 0.1);
  t.equal(told.group, 5);
  priority.prove();
  looks(75, 500, 0.1);
  t.match(told, { group: 0, process: 0 });
});

t.test(
  'the work of one that is new puts it no further behind than that of others: it has to end in time',
  async (t) => {
    for (const evaluating of [true, false]) {
      const { told, looks } = setUp({ proven: false });
      const inside = { insideSince: 0, evaluating };
      looks(25, 100, 1, inside);
      t.match(told, { group: 5, process: 5 });
      looks(125, 250, 1, inside);
      t.match(told, { group: 10, process: 10 });
      looks(275, 275, 1, inside);
      t.match(told, { group: 19, process: 19 });
    }
  },
);

t.test('the more a child takes within the guest, the more it waits for others, until it is modest', async (t) => {
  const { told, looks } = setUp();
  looks(25, 50, 0);
  const inside = { insideSince: 50 };
  looks(75, 500, 0.04, inside);
  t.equal(told.group, 0, 'one that is kept waiting itself takes nothing');
  looks(525, 525, 1, inside);
  t.equal(told.group, 5);
  looks(550, 625, 1, inside);
  t.equal(told.group, 10);
  looks(650, 800, 1, inside);
  t.equal(told.group, 19);
  looks(825, 1075, 0);
  t.equal(told.group, 19, 'it might begin again');
  looks(1100, 2000, 0);
  t.equal(told.group, 0);
});

t.test('what a child took in one stretch is not held against the next', async (t) => {
  const { told, looks } = setUp();
  for (let now = 0; now < 2000; now += 100) {
    looks(now + 25, now + 50, 0.3, { insideSince: now + 10 });
    t.equal(told.group, 0);
    looks(now + 75, now + 100, 0);
  }
});

t.test('a child that takes much by short stretches goes after others too', async (t) => {
  const { told, looks } = setUp();
  looks(25, 1000, 0.3);
  t.equal(told.group, 0, 'less than half a core is no harm');
  looks(1025, 1050, 1);
  t.equal(told.group, 0, 'nor is more for a moment');
  looks(1075, 1500, 1);
  t.equal(told.group, 5);
});

t.test(
  'where a lower priority is for good, its process is behind always, and further only for what it took',
  async (t) => {
    const { told, priority, looks } = setUp({ comesBack: false, proven: false });
    t.equal(told.process, 5);
    looks(25, 75, 1, { insideSince: 0 });
    t.match(told, { group: 5, process: 5 }, 'a stretch of an honest call is not held against it');
    looks(100, 125, 1, { insideSince: 0 });
    t.match(told, { group: 10, process: 10 }, 'one of more than 100 ms is');
    priority.prove();
    looks(150, 800, 1, { insideSince: 0 });
    t.match(told, { group: 19, process: 15 }, 'as what takes much is');
    looks(825, 5000, 0);
    t.equal(told.group, 0);
  },
);

t.test('what a child takes to load its plugin is not held against it for good', async (t) => {
  const { told, priority, looks } = setUp({ comesBack: false, proven: false });
  looks(25, 400, 1, { insideSince: 0, evaluating: true });
  t.match(told, { group: 19, process: 5 }, 'a module that takes long');
  looks(425, 450, 0);
  looks(475, 550, 1, { insideSince: 450 });
  t.equal(told.process, 5, 'nor does it make a first call too long');
  priority.prove();
  looks(575, 800, 1, { insideSince: 0, evaluating: true });
  t.equal(told.process, 15, 'once it is known, the isolates that it makes are its own doing');
});

t.test('a call of more than 100 ms does not keep a child behind for good that has proven itself', async (t) => {
  const { told, looks } = setUp({ comesBack: false });
  for (let now = 0; now < 3000; now += 600) {
    looks(now + 25, now + 400, 0.4, { insideSince: now + 10 });
    looks(now + 425, now + 600, 0);
  }
  t.match(told, { process: 5 });
  looks(3025, 3800, 0.4, { insideSince: 3010 });
  t.equal(told.process, 10, 'one of more than 250 ms does');
});

t.test('a process whose time cannot be told may be gone: another may have its id', async (t) => {
  const { told, priority } = setUp();
  told.process = null;
  for (let now = 25; now < 1000; now += LOOK_MS) {
    priority.look({ now, starting: false, insideSince: 0, evaluating: false, takenMs: 0 });
  }
  t.equal(told.process, null);
});
