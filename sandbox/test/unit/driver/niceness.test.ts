/** Threat: a child that keeps the processor from the service and from other plugins. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import t, { type Test } from 'tap';
import { eventually } from '../../../../test/support/eventually.ts';
import { Niceness, type ServiceNice, serviceNice } from '../../../driver/niceness.ts';

t.test('nice', async (t) => {
  const linux = { skip: process.platform !== 'linux' && 'only Linux has /proc' };
  const groups = { skip: !existsSync('/proc/self/autogroup') && 'this system has no groups by session' };

  /** A process in a session of its own that waits until it is killed, as a child does. */
  async function setUp(t: Test, service: ServiceNice = serviceNice()) {
    const child = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)'], { detached: true });
    t.teardown(() => child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    const niceness = new Niceness({ startedPid: child.pid, memoryPid: child.pid }, service);
    t.teardown(() => niceness.close(0));
    return { child, niceness };
  }

  function groupOf({ pid }: ChildProcess): number {
    return Number(/nice (-?\d+)$/m.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[1]);
  }

  /** The unprivileged may change the priority of a group ten times a second, all of them together. */
  async function comesTo(t: Test, nice: number, child: ChildProcess, set: () => void): Promise<void> {
    await eventually(
      () => {
        set();
        return groupOf(child);
      },
      (is) => is === nice,
    );
    t.equal(groupOf(child), nice);
  }

  const OWN = getPriority();

  t.test('a group goes down and up again', groups, async (t) => {
    const { child, niceness } = await setUp(t, { process: OWN, group: 0, comesBack: false });
    await comesTo(t, 10, child, () => niceness.setGroup(10));
    await comesTo(t, 0, child, () => niceness.setGroup(0));
  });

  t.test('a child never goes before a service that goes behind others itself', groups, async (t) => {
    const { child, niceness } = await setUp(t, { process: OWN, group: 12, comesBack: false });
    await comesTo(t, 17, child, () => niceness.setGroup(5));
    await comesTo(t, 12, child, () => niceness.setGroup(0));
    await comesTo(t, 19, child, () => niceness.setGroup(24));
  });

  t.test('a child is let end at the value that it is closed with, or a lower one', groups, async (t) => {
    const { child, niceness } = await setUp(t, { process: OWN, group: 0, comesBack: false });
    await comesTo(t, 19, child, () => niceness.setGroup(19));
    // Where the change comes too soon after the one before, it does not end any sooner.
    niceness.close(5);
    niceness.close(5);
    t.ok([5, 19].includes(groupOf(child)));
  });

  t.test('all threads of a process go down and, where the system allows it, up again', linux, async (t) => {
    const { child, niceness } = await setUp(t);
    const nices = () => nicesOf(child);
    niceness.setProcess(5);
    t.ok(nices().length > 1);
    t.same(new Set(nices()), new Set([OWN + 5]));
    niceness.setProcess(0);
    t.same(new Set(nices()), new Set([niceness.comesBack ? OWN : OWN + 5]), 'as it says');
  });

  t.test(
    'where the system does not let it up again, a process stays where it is, and may go down further',
    linux,
    async (t) => {
      const { child, niceness } = await setUp(t, { process: OWN, group: 0, comesBack: false });
      const is = () => new Set(nicesOf(child));
      niceness.setProcess(4);
      niceness.setProcess(2);
      t.same(is(), new Set([OWN + 4]));
      niceness.setProcess(8);
      t.same(is(), new Set([OWN + 8]));
    },
  );

  t.test('a process that is gone has no priority to change', linux, async (t) => {
    const { child, niceness } = await setUp(t);
    child.kill('SIGKILL');
    await once(child, 'exit');
    t.doesNotThrow(() => niceness.setProcess(5));
    t.doesNotThrow(() => niceness.setGroup(5));
    t.doesNotThrow(() => niceness.close(0));
  });

  t.test('the thread that finds out what the system allows has the priority that it had', async (t) => {
    const before = getPriority();
    serviceNice();
    t.equal(getPriority(), before);
  });

  t.test('a process that is not there yet has no priority to change', async (t) => {
    for (const pid of [undefined, 2 ** 30]) {
      const niceness = new Niceness({ startedPid: pid, memoryPid: pid }, serviceNice());
      t.doesNotThrow(() => niceness.setGroup(5));
      t.doesNotThrow(() => niceness.setProcess(5));
      t.doesNotThrow(() => niceness.close(0));
    }
  });

  /** Of each thread: the nineteenth field of its line, see proc_pid_stat(5). */
  function nicesOf({ pid }: ChildProcess): number[] {
    return readdirSync(`/proc/${pid}/task`).map((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
    });
  }
});
