/** Threat: orders for children that are gone, and calls of children whose thread is gone. */
import t, { type Test } from 'tap';
import { probeLauncher } from '../../../../driver/confinement.ts';
import { launch } from '../../../../driver/launch.ts';
import { serviceNice } from '../../../../driver/niceness.ts';
import { ChildProcesses } from '../../../../driver/processes.ts';
import { ChildDoor } from '../../../../host/child/child-link.ts';
import { bootFrame, type ChildNews } from '../../../../host/child/child-supervisor.ts';
import { Children } from '../../../../host/child/children.ts';
import { nativeAddon } from '../../../../host/compiler/child-program.ts';
import { contextText, guestRuntime, plugin, runs, sandboxProgram } from '../../../support/sandbox.ts';

/** Children whose processes are watched by this thread, and a way to wait for their news. */
async function setUp(t: Test) {
  const [runtime, program] = [await guestRuntime(), await sandboxProgram()];
  const launcher = await probeLauncher(process.platform, nativeAddon());
  const service = serviceNice();
  const door = new ChildDoor();
  const news: ChildNews[] = [];
  const waiting: (() => void)[] = [];
  const processes = new ChildProcesses({
    ...{ launcher, service, door: door.address },
    start: (channel, journalFd) => launch(launcher, program, { channel, journalFd }),
    post: (message) => setImmediate(() => children.receive(message)),
  });
  const children = new Children({
    ...{ door, throttled: new Set(), confinement: launcher.confinement, comesBack: service.comesBack },
    boot: (journal) => bootFrame(runtime, journal),
    order: (message) => setImmediate(() => processes.receive(message)),
    post: (one) => {
      news.push(one);
      for (const wake of waiting.splice(0)) wake();
    },
  });
  t.teardown(() => {
    processes.close();
    door.close();
  });
  const message = async (type: ChildNews['type'], child: number): Promise<ChildNews> => {
    for (;;) {
      const found = news.find((one) => one.type === type && one.child === child);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  const pids = () => news.flatMap((one) => (one.type === 'spawned' ? one.pids : []));
  return { children, processes, message, pids };
}

const task = { child: 4, call: 11, version: 'v1', context: contextText({}), timeout_ms: 5000 };

t.test('children are opened, fed and closed by their numbers', async (t) => {
  const { children, message, pids } = await setUp(t);
  children.order({ type: 'open', child: 4 });
  children.order({ type: 'open', child: 5 });
  t.throws(() => children.order({ type: 'open', child: 4 }), /open already/);
  children.order({ type: 'load', child: 4, version: plugin("return context.kv.get('x');") });
  await message('loaded', 4);

  const report = children.run(task);
  t.match(await message('request', 4), { call: 11, message: { id: 1, method: 'kv.get' } });
  children.order({ type: 'reply', child: 4, call: 11, message: { id: 1, reply: { ok: true, value: '"kept"' } } });
  t.match(await report, { outcome: { kind: 'returned', json: '"kept"' } });

  const canceled = children.run({ ...task, call: 12 });
  children.order({ type: 'cancel', child: 4, call: 12 });
  t.match(await canceled, { outcome: { code: 'CANCELED' } });

  for (const late of ['reply', 'cancel', 'close', 'load'] as const) {
    children.order({
      type: late,
      child: 99,
      call: 1,
      reason: '',
      version: plugin(''),
      message: { id: 1, reply: { ok: true, value: null } },
    });
  }
  t.match(await children.run({ ...task, child: 99 }), { outcome: { code: 'SANDBOX_LOST' }, lost: true });

  await message('ready', 5);
  for (const child of [4, 5]) children.order({ type: 'close', child, reason: 'the test is over' });
  await Promise.all([message('closed', 4), message('closed', 5)]);
  t.notOk(pids().some(runs));
});

t.test('without their thread they end their calls, which may run elsewhere', async (t) => {
  const { children, message } = await setUp(t);
  children.order({ type: 'open', child: 4 });
  children.order({ type: 'load', child: 4, version: plugin('await new Promise(() => {});') });
  await message('loaded', 4);
  const report = children.run(task);
  children.abandon();
  children.abandon();
  t.match(await report, { outcome: { code: 'SANDBOX_LOST' }, lost: true });
  t.match(await children.run({ ...task, call: 12 }), { lost: true });
});
