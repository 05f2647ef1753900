import t from 'tap';
import { DEFAULT_LIMITS, type LoadFailure, type PluginVersion } from '../../../contract.ts';
import type { ChildNews } from '../../../host/child/child-supervisor.ts';
import type { ChildOrder } from '../../../host/child/children.ts';
import {
  hasRoomForCall,
  isIdle,
  newSandboxProcess,
  type ProcessClosedMessage,
  SandboxProcesses,
} from '../../../host/sandbox-processes.ts';

const version = (pluginId: string, name = 'v1', limits: object = {}): PluginVersion => ({
  pluginId,
  version: name,
  code: '',
  filename: `plugins/${pluginId}.ts`,
  env: {},
  limits: { ...DEFAULT_LIMITS, ...limits },
  isolation: 'plugin',
});

function setUp(maxProcesses = 3, threads = [7]) {
  const posted: string[] = [];
  const gone: string[] = [];
  const died: string[] = [];
  const time = { now: 0 };
  const state = { changes: 0, meets: true, asked: 0 };
  const post = (thread: number, message: ChildOrder) => {
    const what = message.type === 'load' ? ` ${message.version.pluginId}:${message.version.version}` : '';
    posted.push(`${thread} ${message.type} ${message.child}${what}`);
  };
  const children = new SandboxProcesses(
    {
      threads: () => threads,
      moreThreads: () => state.asked++,
      post,
      clock: { now: () => time.now, elapsed: () => time.now },
      log: { warn() {}, error() {} },
      maxProcesses,
      idleMs: 60_000,
    },
    {
      changed: () => state.changes++,
      spawned: (child) => gone.push(`spawned ${child.id}`),
      loaded: () => state.meets,
      dying: (child, { cause }) => died.push(`${cause} ${child.id}`),
      gone: (child, closed, watched) => gone.push(`${closed.cause} ${child.id} ${child.pluginId} ${watched}`),
    },
  );
  const taken = () => posted.splice(0);
  const ready = (child: number) => children.handle({ type: 'ready', child });
  const loaded = (child: number, name = 'v1', failure: LoadFailure | null = null) =>
    children.handle({ type: 'loaded', child, message: { version: name, isolate_bytes: 1000, failure } });
  const closed = (child: number, cause: ProcessClosedMessage['cause'] = 'closed') =>
    children.handle({ type: 'closed', child, cause, detail: 'd', culprit: 0, stderr: 's' });
  return { children, taken, gone, died, time, state, ready, loaded, closed };
}

t.test('a spare is opened, given to the first plugin that needs it, and replaced', async (t) => {
  const { children, taken, ready, loaded } = setUp();
  children.fill(0);
  children.fill(0);
  t.same(taken(), ['7 open 1'], 'one spare, once');
  t.equal(children.settled, false);
  t.equal(children.provide(version('a')), false, 'not ready yet');
  ready(1);
  t.equal(children.settled, true);
  t.equal(children.provide(version('a')), true);
  t.equal(children.provide(version('a')), true, 'it is on its way');
  children.fill(0);
  t.same(taken(), ['7 load 1 a:v1', '7 open 2']);
  t.equal(children.best(version('a')), undefined);
  loaded(1);
  t.equal(children.best(version('a'))?.id, 1);
  t.equal(children.best(version('b')), undefined, 'a child is one plugin’s for good');
});

t.test('a child that dies takes no more calls, and its death is told once', async (t) => {
  const { children, died, gone, ready, loaded, closed } = setUp();
  children.fill(0);
  ready(1);
  children.provide(version('a'));
  loaded(1);
  t.equal(children.best(version('a'))?.id, 1);
  children.handle({ type: 'dying', child: 1, cause: 'overdue', detail: 'd', culprit: 4 });
  t.equal(children.best(version('a')), undefined, 'though it is not gone yet');
  t.same([died, gone], [['overdue 1'], []]);
  closed(1, 'overdue');
  t.same([died, gone], [['overdue 1'], ['overdue 1 a true']]);
});

t.test('after a death one child is opened for who waits, and a spare once that one is given away', async (t) => {
  const { children, taken, ready, loaded, closed } = setUp(9);
  children.fill(0);
  ready(1);
  children.provide(version('a'));
  children.fill(0);
  loaded(1);
  taken();
  children.handle({ type: 'dying', child: 1, cause: 'overdue', detail: 'd', culprit: 4 });
  t.equal(children.provide(version('a')), false, 'the spare is still starting');
  children.fill(1);
  closed(1, 'overdue');
  children.fill(1);
  t.same(taken(), [], 'the one that starts is for it');
  ready(2);
  t.equal(children.provide(version('a')), true);
  children.fill(0);
  t.same(taken(), ['7 load 2 a:v1', '7 open 3']);
  children.provide(version('b'));
  children.provide(version('c'));
  children.fill(2);
  t.same(taken(), ['7 open 4'], 'one for each that waits');
});

t.test('children that nobody waits for any more end after their time, but for one spare', async (t) => {
  const { children, taken, ready, time } = setUp(9);
  children.fill(3);
  taken();
  for (const child of [1, 2, 3]) ready(child);
  time.now = 59_999;
  children.tick();
  t.same(taken(), []);
  time.now = 60_000;
  children.tick();
  children.tick();
  children.fill(0);
  t.same(taken(), ['7 close 2', '7 close 3']);
});

t.test('children are spread over the threads, and more are asked for once each has one', async (t) => {
  const { children, taken, state } = setUp(4, [7, 8]);
  children.fill(2);
  t.same(taken(), ['7 open 1', '8 open 2']);
  t.equal(state.asked, 0);
  children.fill(4);
  t.same(taken(), ['7 open 3', '8 open 4']);
  t.equal(state.asked, 2);
});

t.test('a new version is loaded into the same child, and an old one comes back the same way', async (t) => {
  const { children, taken, ready, loaded } = setUp();
  children.fill(0);
  ready(1);
  children.provide(version('a'));
  loaded(1);
  taken();
  t.equal(children.provide(version('a', 'v2')), true);
  t.same(taken(), ['7 load 1 a:v2']);
  t.equal(children.provide(version('a', 'v3')), true, 'one at a time');
  t.same(taken(), []);
  loaded(1, 'v2');
  t.equal(children.best(version('a')), undefined);
  t.equal(children.best(version('a', 'v2'))?.id, 1);
  children.provide(version('a'));
  t.same(taken(), ['7 load 1 a:v1']);
});

t.test('at the cap the idle child that was used least recently gives way', async (t) => {
  const { children, taken, ready, loaded, closed, time } = setUp(2);
  children.fill(2);
  for (const [id, child] of [
    ['a', 1],
    ['b', 2],
  ] as const) {
    ready(child);
    time.now = child * 10;
    children.provide(version(id));
    loaded(child);
  }
  const a = children.best(version('a'));
  if (a === undefined) return t.fail('a is not served');
  children.enter(a);
  children.leave(a, false);
  taken();
  t.equal(children.provide(version('c')), false);
  children.fill(1);
  t.same(taken(), ['7 close 1'], 'no: a was used at 20 as well, the first of the two');
  children.fill(1);
  t.same(taken(), [], 'one is on its way out already');
  closed(1);
  children.fill(1);
  t.same(taken(), ['7 open 3']);
});

t.test('when none is idle a plugin with several children gives one back once it is done', async (t) => {
  const { children, taken, ready, loaded } = setUp(3);
  const many = version('a', 'v1', { processes: 4 });
  children.fill(3);
  for (const child of [1, 2, 3]) ready(child);
  children.provide(many);
  loaded(1);
  children.grow(many);
  loaded(2);
  children.provide(version('b'));
  loaded(3);
  const [first, second, third] = [...children.list()];
  if (first === undefined || second === undefined || third === undefined) return t.fail('children are missing');
  for (const child of [first, second, third]) children.enter(child);
  taken();
  children.fill(1);
  children.fill(1);
  t.same([first.draining, second.draining, taken()], [false, true, []]);
  t.equal(children.best(many), first);
  children.leave(second, false);
  t.same(taken(), ['7 close 2']);
});

t.test('a child that lost a call gets no other, even before its end is known', async (t) => {
  const { children, taken, ready, loaded, closed } = setUp();
  children.fill(2);
  ready(1);
  ready(2);
  children.provide(version('a'));
  loaded(1);
  const dying = children.best(version('a'));
  if (dying === undefined) return t.fail('a is not served');
  children.enter(dying);
  children.enter(dying);
  taken();
  children.leave(dying, true);
  t.equal(children.best(version('a')), undefined);
  t.equal(children.provide(version('a')), true);
  t.same(taken(), ['7 load 2 a:v1'], 'its plugin gets the spare');
  children.leave(dying, true);
  t.same(taken(), ['7 close 1']);
  closed(1, 'overdue');
  loaded(2);
  t.equal(children.best(version('a'))?.id, 2);
});

t.test('a busy plugin stays within its processes', async (t) => {
  const { children, taken, ready, loaded } = setUp(9);
  children.fill(3);
  for (const child of [1, 2, 3]) ready(child);
  children.provide(version('a'));
  loaded(1);
  taken();
  children.grow(version('a'));
  t.same(taken(), []);
});

t.test('a busy plugin never takes the last free child', async (t) => {
  const { children, taken, ready, loaded } = setUp(3);
  const many = version('a', 'v1', { processes: 9 });
  children.fill(2);
  ready(1);
  ready(2);
  children.provide(many);
  children.fill(0);
  loaded(1);
  taken();
  children.grow(many);
  t.same(taken(), ['7 load 2 a:v1', '7 open 3'], 'there is room for a spare beside it');
  loaded(2);
  ready(3);
  children.grow(many);
  t.equal(children.provide(many), true, 'its calls wait for the children that it has');
  t.same(taken(), []);
  t.equal(children.provide(version('b')), true, 'so that another plugin has its place at once');
});

t.test('idle children end after their time; a child with a call does not', async (t) => {
  const { children, taken, ready, loaded, time } = setUp();
  children.fill(2);
  ready(1);
  ready(2);
  children.provide(version('a'));
  children.provide(version('b'));
  loaded(1);
  loaded(2);
  const b = children.best(version('b'));
  if (b === undefined) return t.fail('b is not served');
  children.enter(b);
  taken();
  time.now = 59_999;
  children.tick();
  t.same(taken(), []);
  time.now = 60_000;
  children.tick();
  t.same(taken(), ['7 close 1']);
});

t.test('at the cap a child that is idle for a while makes room for a spare', async (t) => {
  const { children, taken, ready, loaded, closed, time } = setUp(1);
  children.fill(0);
  ready(1);
  children.provide(version('a'));
  loaded(1);
  taken();
  time.now = 4999;
  children.tick();
  t.same(taken(), []);
  time.now = 5000;
  children.tick();
  t.same(taken(), ['7 close 1']);
  children.tick();
  t.same(taken(), [], 'once');
  closed(1);
  children.fill(0);
  t.same(taken(), ['7 open 2']);
  time.now = 60_000;
  children.tick();
  t.same(taken(), [], 'a spare is kept');
});

t.test('a module that failed to load is tried again after a while', async (t) => {
  const { children, ready, loaded, time } = setUp();
  children.fill(0);
  ready(1);
  children.provide(version('a'));
  loaded(1, 'v1', { outcome: { kind: 'ended', code: 'CPU_LIMIT', message: 'slow' }, report: '' });
  t.ok(children.best(version('a')), 'its calls end with the failure');
  time.now = 5000;
  children.tick();
  t.equal(children.best(version('a')), undefined);
});

t.test('a child that does not start is tried again later and later', async (t) => {
  const { children, taken, closed, ready, time } = setUp();
  children.fill(0);
  closed(1, 'start');
  t.equal(children.settled, true, 'nobody waits for ever');
  t.equal(children.stuck, null, 'one attempt may fail');
  children.fill(0);
  t.same(taken(), ['7 open 1']);
  time.now = 250;
  children.fill(0);
  t.same(taken(), ['7 open 2']);
  closed(2, 'died');
  t.type(children.stuck, 'string');
  time.now = 500;
  children.fill(0);
  t.same(taken(), []);
  time.now = 750;
  children.fill(0);
  t.same(taken(), ['7 open 3']);
  ready(3);
  t.equal(children.stuck, null);
});

t.test('the end of a thread is the end of its children, and of nobody else’s', async (t) => {
  const { children, gone } = setUp(4, [7, 8]);
  children.fill(2);
  children.threadLost(7);
  t.same(gone, ['died 1  false']);
  t.equal(children.size, 1);
});

t.test('what is heard of a child is remembered, and of an unknown one ignored', async (t) => {
  const { children, gone, state } = setUp();
  children.fill(0);
  const confinement = {
    permission: true,
    pdeathsig: true,
    no_new_privs: true,
    namespaces: false,
    files_hidden: false,
    syscalls_filtered: false,
    core_dumps_off: true,
    few_files: true,
    oom_first: true,
    missing: { namespaces: 'not tried' },
  };
  children.handle({ type: 'spawned', child: 1, pids: [4, 5], confinement });
  children.handle({ type: 'meter', child: 1, rss_bytes: 9, running: 1, isolates: 2 });
  children.handle({ type: 'ready', child: 99 });
  t.match([...children.list()], [{ pids: [4, 5], rssBytes: 9, isolates: 2, state: 'opening' }]);
  t.equal(children.confinement, confinement);
  t.same(gone, ['spawned 1']);
  t.equal(state.changes, 1);
  t.throws(() => children.handle({ type: 'odd', child: 1 } as unknown as Extract<ChildNews, { type: 'ready' }>));
});

t.test('closing ends every child and opens none', async (t) => {
  const { children, taken, closed } = setUp();
  children.fill(2);
  taken();
  const all = children.closeAll();
  t.same(taken(), ['7 close 1', '7 close 2']);
  closed(1);
  closed(2);
  await all;
  children.fill(3);
  t.same(taken(), []);
  await children.closeAll();
  t.equal(children.size, 0);
});

t.test('a version is tried out by the children that serve another, and serves once that is said', async (t) => {
  const { children, taken, ready, loaded, state } = setUp();
  t.equal(children.tryOut(version('p', 'v2')), false, 'nobody is there');
  children.fill(0);
  ready(1);
  children.provide(version('p', 'v1'));
  loaded(1, 'v1');
  taken();
  t.equal(children.tryOut(version('p', 'v2')), true);
  t.same(taken(), ['7 load 1 p:v2']);
  t.equal(children.best(version('p', 'v1'))?.id, 1, 'it serves on meanwhile');

  state.meets = false;
  const outcome = { kind: 'threw', message: 'no', code: 'PLUGIN_ERROR', status: 500, details: '{}' } as const;
  loaded(1, 'v2', { outcome, report: '' });
  t.equal(children.best(version('p', 'v1'))?.id, 1, 'and after a version that it could not load');
  state.meets = true;
  children.tryOut(version('p', 'v3'));
  loaded(1, 'v3');
  t.equal(children.best(version('p', 'v3'))?.id, 1);
  t.equal(children.best(version('p', 'v1')), undefined);
});

t.test('sandbox process', async (t) => {
  const MIB = 1_048_576;
  const version: PluginVersion = {
    pluginId: 'p',
    version: 'v1',
    code: '',
    filename: 'plugins/p.ts',
    env: {},
    limits: { ...DEFAULT_LIMITS, process_mb: 200 },
    isolation: 'plugin',
  };
  const owned = () => ({
    ...newSandboxProcess(1, 7, 0),
    state: 'owned' as const,
    pluginId: 'p',
    version: 'v1' as string | undefined,
    isolateBytes: 10 * MIB,
  });

  t.test('a child that is not loaded with the version, or gives way, has no room', async (t) => {
    t.equal(hasRoomForCall(newSandboxProcess(1, 7, 0), version), false);
    t.equal(hasRoomForCall({ ...owned(), version: 'v0' }, version), false);
    t.equal(hasRoomForCall({ ...owned(), draining: true }, version), false);
    t.equal(hasRoomForCall(owned(), version), true);
  });

  t.test('measured memory and the isolate to come must stay below process_mb', async (t) => {
    const child = { ...owned(), running: 3, isolates: 3, rssBytes: 170 * MIB };
    t.equal(hasRoomForCall(child, version), true, 'one more fits');
    t.equal(hasRoomForCall({ ...child, running: 4 }, version), false, 'two more do not');
    t.equal(
      hasRoomForCall({ ...child, rssBytes: 174 * MIB }, version),
      false,
      'nor one that would leave those that run no room to grow',
    );
    t.equal(
      hasRoomForCall({ ...child, isolates: 5, rssBytes: 199 * MIB }, version),
      true,
      'a waiting isolate costs nothing',
    );
    t.equal(
      hasRoomForCall({ ...child, running: 0, rssBytes: 500 * MIB }, version),
      true,
      'the first call always may run',
    );
  });

  t.test(
    'where many isolates are, what each takes by measure counts, if it is less than a new one was said to take',
    async (t) => {
      const child = { ...owned(), running: 60, isolates: 50, rssBytes: 125 * MIB };
      t.equal(hasRoomForCall(child, version), true, 'eleven more of 2.5 MiB fit');
      t.equal(hasRoomForCall({ ...child, running: 70 }, version), false);
      t.equal(hasRoomForCall({ ...child, isolates: 1, running: 6 }, version), false, 'one isolate says nothing');
    },
  );

  t.test('idle is one that runs and loads nothing', async (t) => {
    t.equal(isIdle(owned()), true);
    t.equal(isIdle({ ...owned(), running: 1 }), false);
    t.equal(isIdle({ ...owned(), loading: 'v2' }), false);
    t.equal(isIdle(newSandboxProcess(1, 7, 0)), false);
  });
});
