/** Threat: a child that keeps the processor from the service and from other plugins. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import t, { type Test } from 'tap';
import { type Exertion, Priority, type ServiceNice } from '../../../../sandbox/driver/priority.ts';
import { eventually } from '../../../support/plugin-host.ts';

const linux = { skip: process.platform !== 'linux' && 'only Linux has /proc' };
const groups = { skip: !existsSync('/proc/self/autogroup') && 'this system has no groups by session' };

/** A process in a session of its own that waits until it is killed, as a child does. */
async function setUp(t: Test, service: ServiceNice = { process: getPriority(), group: 0 }) {
  const child = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)'], { detached: true });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const priority = new Priority(() => child.pid, 0, service);
  t.teardown(() => priority.close());
  let takenMs = 0;
  /** One look after each 25 ms from the first to the last, at which the process has taken this share of a core. */
  const looks = (from: number, to: number, share: number, change: Partial<Exertion> = {}) => {
    for (let now = from; now <= to; now += 25) {
      takenMs += share * 25;
      priority.look({ now, starting: false, insideSince: null, takenMs, ...change });
    }
    return to;
  };
  return { child, priority, looks };
}

function groupOf({ pid }: ChildProcess): number {
  return Number(/nice (-?\d+)$/m.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[1]);
}

/** The unprivileged may change the priority of a group ten times a second, all of them together. */
async function comesTo(t: Test, nice: number, child: ChildProcess, look: () => void): Promise<void> {
  await eventually(
    () => {
      look();
      return groupOf(child);
    },
    (is) => is === nice,
  );
  t.equal(groupOf(child), nice);
}

t.test('a child never goes before a service that goes behind others itself', groups, async (t) => {
  const { child, looks } = await setUp(t, { process: getPriority(), group: 12 });
  looks(25, 25, 0, { starting: true });
  await comesTo(t, 17, child, () => looks(50, 50, 0, { starting: true }));
  await comesTo(t, 12, child, () => looks(400, 1000, 0));
  const inside = { insideSince: 1000 };
  looks(1025, 1400, 1, inside);
  await comesTo(t, 19, child, () => looks(1425, 1425, 0, inside));
});

t.test(
  'the more a child takes within the guest, the more it waits for others, until it is modest',
  groups,
  async (t) => {
    const { child, looks } = await setUp(t);
    looks(25, 50, 0);
    const inside = { insideSince: 50 };
    const again = (now: number) => () => looks(now, now, 0, inside);
    looks(75, 500, 0.04, inside);
    t.equal(groupOf(child), 0, 'one that is kept waiting itself takes nothing');
    await comesTo(t, 5, child, again(looks(525, 525, 1, inside)));
    await comesTo(t, 10, child, again(looks(550, 625, 1, inside)));
    await comesTo(t, 19, child, again(looks(650, 800, 1, inside)));
    looks(825, 1075, 0);
    t.equal(groupOf(child), 19, 'it might begin again');
    await comesTo(t, 0, child, () => looks(1100, 2000, 0));
  },
);

t.test('what a child took in one stretch is not held against the next', groups, async (t) => {
  const { child, looks } = await setUp(t);
  for (let now = 0; now < 2000; now += 100) {
    looks(now + 25, now + 50, 0.3, { insideSince: now + 10 });
    looks(now + 75, now + 100, 0);
  }
  t.equal(groupOf(child), 0);
});

t.test('a child that takes much by short stretches goes after others too', groups, async (t) => {
  const { child, looks } = await setUp(t);
  looks(25, 1000, 0.3);
  t.equal(groupOf(child), 0, 'less than half a core is no harm');
  looks(1025, 1050, 1);
  t.equal(groupOf(child), 0, 'nor is more for a moment');
  let now = looks(1075, 1500, 1);
  await comesTo(t, 5, child, () => {
    now = looks(now + 25, now + 25, 1);
  });
});

t.test('a child starts in the time that others leave it, but is not kept waiting for ever', groups, async (t) => {
  const { child, looks } = await setUp(t);
  await comesTo(t, 5, child, () => looks(25, 25, 1, { starting: true }));
  await comesTo(t, 0, child, () => looks(2000, 2000, 1, { starting: true }));
  await comesTo(t, 5, child, () => looks(100, 100, 1, { starting: true }));
  await comesTo(t, 0, child, () => looks(2025, 2025, 0));
});

t.test('a child that is to end is given the time to', groups, async (t) => {
  const { child, looks, priority } = await setUp(t);
  await comesTo(t, 19, child, () => looks(25, 325, 1, { insideSince: 0 }));
  // Where the change comes too soon after the one before, it does not end any sooner.
  priority.close();
  priority.close();
  t.ok([5, 19].includes(groupOf(child)));
});

t.test('all threads of a child that takes much go after others where there are no groups', linux, async (t) => {
  const { child, looks } = await setUp(t);
  const nice = () => getPriority(child.pid);
  looks(25, 125, 1, { insideSince: 0 });
  t.equal(nice(), 0, 'for this may be for good, a long stretch is not enough');
  looks(150, 800, 1);
  t.equal(nice(), 5);
  looks(825, 5000, 0);
  t.ok([0, 5].includes(nice()), 'the privileged get it back');
});

t.test('a process that is not there yet, or any more, has no priority to change', async (t) => {
  for (const pid of [undefined, 2 ** 30]) {
    const priority = new Priority(() => pid, 0);
    for (let now = 25; now < 1000; now += 25) {
      t.doesNotThrow(() => priority.look({ now, starting: false, insideSince: 0, takenMs: now }));
    }
    t.doesNotThrow(() => priority.close());
  }
});
