/** Threat: a sandbox whose child is not what it should be: late, broken, too large, or gone. */
import t from 'tap';
import { DEFAULT_LIMITS, type LoadFailure } from '../../../../contract.ts';
import { probeLauncher } from '../../../../driver/confinement.ts';
import { start } from '../../../../driver/launch.ts';
import { ProtocolViolation } from '../../../../frames.ts';
import { LoadedVersions } from '../../../../host/child/child-supervisor.ts';
import { guestRuntime, plugin, runs, TestSandbox, version } from '../../../support/sandbox.ts';

const bare = await probeLauncher('darwin', '');
const runtime = await guestRuntime();

t.test('opens, loads, runs, closes', async (t) => {
  const sandbox = await TestSandbox.open(runtime);
  const { pids, confinement } = await sandbox.message('spawned');
  t.ok(pids.length > 0 && pids.every(runs));
  t.equal(confinement.permission, true);
  t.match(await sandbox.call(), { outcome: { code: 'SANDBOX_LOST' }, lost: true }, 'nothing is loaded yet');
  t.match(await sandbox.load(plugin('return context.params;')), { version: 'v1', failure: null });
  t.match(await sandbox.call({ a: 1 }), { outcome: { kind: 'returned', json: '{"a":1}' } });
  t.match(await sandbox.close(), { cause: 'closed', culprit: 0 });
  t.notOk(pids.some(runs));
  t.equal(sandbox.messages.filter(({ type }) => type === 'closed').length, 1);
});

t.test('a runtime that is broken ends the sandbox at the first load', async (t) => {
  const sandbox = new TestSandbox('this is no program', (channel) => start(['/bin/true'], { channel }), bare);
  t.match(await sandbox.closed(), { cause: 'start', culprit: 0 });
});

t.test('a process that dies before it was ready says why', async (t) => {
  const dying = [process.execPath, '-e', "process.stderr.write('no reason'); process.exit(3)"];
  const sandbox = new TestSandbox(runtime, (channel) => start(dying, { channel }), bare);
  t.match(await sandbox.closed(), { cause: 'start', detail: /exit code 3/, stderr: 'no reason' });
  sandbox.supervisor.load(plugin(''));
  t.match(await sandbox.call(), { lost: true });
});

t.test('a kill from outside blames no call', async (t) => {
  const sandbox = await TestSandbox.open(runtime);
  const busy = "await context.kv.get('begun').catch(() => {}); for (;;) await null;";
  await sandbox.load(plugin(busy, { limits: { slice_ms: 10_000, cpu_ms: 10_000 } }));
  const call = sandbox.call();
  await sandbox.request(1);
  sandbox.supervisor.reply(sandbox.lastCall, { id: 1, reply: { ok: true, value: null } });
  const pid = (await sandbox.pids()).at(-1) ?? 0;
  process.kill(pid, 'SIGKILL');
  t.match(await call, { outcome: { code: 'SANDBOX_LOST' }, lost: true });
  t.match(await sandbox.closed(), { cause: 'died', culprit: 0, detail: /SIGKILL/ });
});

t.test('a large result is read by a busy service, and the reading is no time of the guest', async (t) => {
  const sandbox = await TestSandbox.open(runtime);
  const limits = { slice_ms: 300, result_bytes: 30_000_000 };
  await sandbox.load(plugin("return 'x'.repeat(context.params.count);", { limits }));
  await sandbox.call({ count: 10 });
  let isBusy = true;
  const block = () => {
    for (const began = performance.now(); performance.now() - began < 10; );
    if (isBusy) setImmediate(block);
  };
  block();
  const { outcome } = await sandbox.call({ count: 20_000_000 }, { timeoutMs: 60_000 });
  isBusy = false;
  t.equal(outcome.kind === 'returned' ? outcome.json.length : outcome.message, 20_000_002);
  await sandbox.close();
});

t.test('a crash inside the guest blames the call that was there', async (t) => {
  const sandbox = await TestSandbox.open(runtime);
  await sandbox.load(
    plugin(
      `if (context.params.wait) { await new Promise(() => {}); }
      console.log('last words'); let s = 'ab'; while (s.length < 2 ** 28) s += s; return s.split('').length;`,
      // On a busy machine it takes its time to fall.
      { limits: { slice_ms: 60_000, cpu_ms: 60_000 } },
    ),
  );
  const innocent = sandbox.call({ wait: true }, { timeoutMs: 60_000 });
  const culprit = sandbox.call({}, { timeoutMs: 60_000 });
  const number = sandbox.lastCall;
  t.match(await culprit, { outcome: { code: 'MEMORY_LIMIT' }, lost: false, logs: [{ message: 'last words' }] });
  t.match(await innocent, { outcome: { code: 'SANDBOX_LOST' }, lost: true });
  t.match(await sandbox.closed(), { culprit: number });
});

/** Threat: a child that answers for a version it was not given, and code that is kept for ever. */
t.test('loaded versions', async (t) => {
  const failure: LoadFailure = { outcome: { kind: 'ended', code: 'CPU_LIMIT', message: 'no' }, report: '' };

  function load(versions: LoadedVersions, name: string, failed: LoadFailure | null = null, resultBytes = 10): void {
    versions.expect(version('', { version: name, limits: { result_bytes: resultBytes } }));
    versions.answered({ version: name, isolate_bytes: 1, failure: failed });
  }

  t.test('answers come in the order of the questions', async (t) => {
    const versions = new LoadedVersions();
    t.throws(() => versions.answered({ version: 'v1', isolate_bytes: 1, failure: null }), ProtocolViolation);
    versions.expect(version('', { version: 'v1' }));
    t.ok(versions.loading);
    t.throws(() => versions.answered({ version: 'v2', isolate_bytes: 1, failure: null }), ProtocolViolation);
  });

  t.test('the current version and the one before it are served', async (t) => {
    const versions = new LoadedVersions();
    for (const name of ['v1', 'v2', 'v3']) load(versions, name);
    t.equal(versions.find('v1'), undefined);
    t.match(versions.find('v2'), { failure: null });
    t.match(versions.find('v3'), { failure: null });
    t.notOk(versions.loading);
  });

  t.test('failures displace nothing that is served', async (t) => {
    const versions = new LoadedVersions();
    load(versions, 'v1');
    for (const name of ['bad1', 'bad2', 'bad3']) load(versions, name, failure);
    t.match(versions.find('v1'), { failure: null });
    t.match(versions.find('bad3'), { failure });
    t.equal(versions.find('bad1'), undefined);
  });

  t.test('the limits are those of the newest version, the longest result that of any', async (t) => {
    const versions = new LoadedVersions();
    t.same(versions.limits, DEFAULT_LIMITS);
    t.equal(versions.resultBytes, 0);
    load(versions, 'v1', null, 500);
    load(versions, 'v2', null, 20);
    t.equal(versions.limits.result_bytes, 20);
    t.equal(versions.resultBytes, 500);
    load(versions, 'v2', null, 30);
    t.equal(versions.limits.result_bytes, 30, 'loaded again');
  });
});
