/**
 * Threat: guest code that takes its process, the processor or the memory for itself, in the ways in which V8 cannot be
 * stopped from inside. Each attack ends with its code, its logs are kept, an honest call is served
 * afterwards, and no process is left behind.
 */
import t from 'tap';
import { ATTACKS } from '../support/attacks/attacks.ts';
import { guestRuntime, plugin, runs, TestSandbox } from '../support/sandbox.ts';

const runtime = await guestRuntime();
const LIMITS = { memory_mb: 64, process_mb: 400, slice_ms: 300, cpu_ms: 600 };
/** A second on a machine that does nothing else; the gauntlet measures that. */
const SERVED_WITHIN_MS = 8000;

/** One or more of each kind: what the engine stops, what only the end of the process stops, and what ends it by itself. */
const NAMES = [
  'an endless loop',
  'an endless chain of microtasks',
  'a Map that grows for ever',
  'sorting fifty million numbers',
  'sorting again and again',
  'splitting a rope of 2^28 characters',
  'a BigInt that squares itself',
  'arrays pushed for ever',
  'hashes of more than there is',
  'random bytes by the gigabyte',
  'filling and mapping 2^27 elements',
  'a thrown Proxy whose traps loop',
  'an error whose message loops',
  'an unhandled rejection whose message loops',
  'a flood of unhandled rejections',
  'a promise that never settles',
  'an explosive regular expression',
  'a flood of log lines',
  'a flood of timers',
  'timers that use up the time in small pieces',
];
const attacks = ATTACKS.filter(({ name }) => NAMES.includes(name));

t.equal(attacks.length, NAMES.length, 'every name is in the catalogue');
for (const { name, body, ends } of attacks) {
  t.test(name, async (t) => {
    const attacker = plugin(`if (context.params.honest) return 'honest'; console.log('before'); ${body}`, {
      limits: LIMITS,
    });
    const [sandbox, spare] = await Promise.all([TestSandbox.open(runtime), TestSandbox.open(runtime)]);
    t.teardown(() => Promise.all([sandbox.close(), spare.close()]));
    const pids = [...(await sandbox.pids()), ...(await spare.pids())];
    await sandbox.load(attacker);

    const report = await sandbox.call({}, { timeoutMs: 3000 });
    const { outcome } = report;
    const end = outcome.kind === 'ended' ? outcome.code : outcome.kind;
    t.ok(ends.includes(end), `ends as it should: ${JSON.stringify(outcome)}`);
    t.match(report.logs[0], { level: 'log', message: 'before' }, 'what it logged before is kept');

    const began = performance.now();
    let honest = await sandbox.call({ honest: true });
    if (honest.lost) {
      await spare.load(attacker);
      honest = await spare.call({ honest: true });
    }
    const servedAfterMs = Math.round(performance.now() - began);
    t.match(honest.outcome, { kind: 'returned', json: '"honest"' });
    t.ok(servedAfterMs < SERVED_WITHIN_MS, `an honest call is served after ${servedAfterMs} ms`);

    await Promise.all([sandbox.close(), spare.close()]);
    t.notOk(pids.some(runs), 'no process is left');
  });
}

t.test('a stack used up by the guest never runs out on this side', async (t) => {
  const sandbox = await TestSandbox.open(runtime);
  t.teardown(() => sandbox.close());
  for (const [at, probe] of ['setTimeout(() => {}, 1)', 'setTimeout(() => {}, n)', "console.log('x')"].entries()) {
    const body = `let n = 0;
      const go = () => { try { go(); } catch {} try { if (n++ < 900) ${probe}; } catch {} };
      go();
      return 'fine';`;
    await sandbox.load(plugin(body, { version: `v${at}`, limits: { slice_ms: 2000, cpu_ms: 3000 } }));
    for (const time of ['once', 'twice']) {
      const { outcome } = await sandbox.call({}, { of: `v${at}` });
      t.same(outcome, { kind: 'returned', json: '"fine"' }, `${probe} ${time}`);
    }
  }
});

t.test('a megabyte of tiny values is refused before anybody has to carry it', async (t) => {
  const sandbox = await TestSandbox.open(runtime);
  t.teardown(() => sandbox.close());
  const body = "return context.api.useRelayer('r').rpc(new Array(300_000).fill([])).catch((error) => error.message);";
  await sandbox.load(plugin(body, { limits: { slice_ms: 20_000, cpu_ms: 30_000 } }));
  t.match(await sandbox.call({}, { timeoutMs: 60_000 }), {
    outcome: { kind: 'returned', json: /at most 65536 values/ },
    usage: { calls: 1 },
  });
  t.notOk(sandbox.messages.some(({ type }) => type === 'request'));
});
