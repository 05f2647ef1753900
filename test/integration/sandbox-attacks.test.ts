/**
 * Threat: guest code that takes its process, the processor or the memory for itself, in the ways in which V8 cannot be
 * stopped from inside. Each attack ends with its code, its logs are kept, an honest call is served within a second
 * afterwards, and no process is left behind.
 */
import t from 'tap';
import { guestRuntime, plugin, runs, TestSlot } from '../support/sandbox.ts';

const runtime = await guestRuntime();
const LIMITS = { memory_mb: 64, process_mb: 400, slice_ms: 300, cpu_ms: 600 };
/** Whether the time or the memory is over first depends on the machine. */
const EITHER = ['MEMORY_LIMIT', 'CPU_LIMIT'];
const SERVED_WITHIN_MS = 1000;

const ATTACKS: Record<string, { body: string; codes: string[] }> = {
  'an endless loop': { body: 'for (;;);', codes: ['CPU_LIMIT'] },
  'an endless chain of microtasks': { body: 'for (;;) await null;', codes: ['CPU_LIMIT'] },
  'a Map that grows for ever': { body: 'const m = new Map(); for (let i = 0; ; i++) m.set(i, { i });', codes: EITHER },
  'sorting fifty million numbers': {
    body: 'const a = new Array(5e7); for (let i = 0; i < 5e7; i++) a[i] = -i; for (;;) a.sort();',
    codes: EITHER,
  },
  'sorting again and again': {
    body: 'const a = Array.from({ length: 2e6 }, (_, i) => -i); for (;;) a.sort((x, y) => x - y).reverse();',
    codes: EITHER,
  },
  'splitting a rope of 2^28 characters': {
    body: "let s = 'ab'; while (s.length < 2 ** 28) s += s; return s.split('').length;",
    codes: EITHER,
  },
  'a BigInt that squares itself': { body: 'let n = 3n; for (;;) n = n * n;', codes: [...EITHER, 'SANDBOX_LOST'] },
  'arrays pushed for ever': { body: 'const a = []; while (true) a.push(new Array(1000).fill(1.5));', codes: EITHER },
  'filling and mapping 2^27 elements': {
    body: 'return new Array(2 ** 27).fill({}).map((x) => ({ ...x })).length;',
    codes: EITHER,
  },
  'a thrown Proxy whose traps loop': {
    body: 'const loop = () => { for (;;); }; throw new Proxy({}, { get: loop, has: loop, getPrototypeOf: loop });',
    codes: ['CPU_LIMIT'],
  },
  'an error whose message loops': {
    body: "throw Object.defineProperty(new Error('x'), 'message', { get() { for (;;); } });",
    codes: ['CPU_LIMIT'],
  },
  'an unhandled rejection whose message loops': {
    body: `Promise.reject(Object.defineProperty(new Error('x'), 'message', { get() { for (;;); } }));
      await new Promise(() => {});`,
    codes: ['CPU_LIMIT'],
  },
  'a promise that never settles': { body: 'await new Promise(() => {});', codes: ['TIMEOUT'] },
  'an explosive regular expression': { body: "return /^(a+)+$/.test('a'.repeat(40) + 'b');", codes: ['CPU_LIMIT'] },
  'a flood of log lines': { body: "for (;;) console.log('x'.repeat(1000));", codes: ['CPU_LIMIT'] },
  'a flood of timers': {
    body: 'for (;;) try { setTimeout(() => {}, 1e6); } catch {}',
    codes: ['CPU_LIMIT'],
  },
  'timers that use up the time in small pieces': {
    body: 'setInterval(() => { const end = Date.now() + 50; while (Date.now() < end); }, 1); await new Promise(() => {});',
    codes: ['CPU_LIMIT'],
  },
};

for (const [name, { body, codes }] of Object.entries(ATTACKS)) {
  t.test(name, async (t) => {
    const attacker = plugin(`if (context.params.honest) return 'honest'; console.log('before'); ${body}`, {
      limits: LIMITS,
    });
    const [slot, spare] = await Promise.all([TestSlot.open(runtime), TestSlot.open(runtime)]);
    t.teardown(() => Promise.all([slot.close(), spare.close()]));
    const pids = [...(await slot.pids()), ...(await spare.pids())];
    await slot.load(attacker);

    const report = await slot.call({}, { timeoutMs: 3000 });
    const { outcome } = report;
    t.ok(outcome.kind === 'ended' && codes.includes(outcome.code), `ends as it should: ${JSON.stringify(outcome)}`);
    t.match(report.logs[0], { level: 'log', message: 'before' }, 'what it logged before is kept');

    const began = performance.now();
    let honest = await slot.call({ honest: true });
    if (honest.lost) {
      await spare.load(attacker);
      honest = await spare.call({ honest: true });
    }
    const servedAfterMs = Math.round(performance.now() - began);
    t.match(honest.outcome, { kind: 'returned', json: '"honest"' });
    t.ok(servedAfterMs < SERVED_WITHIN_MS, `an honest call is served after ${servedAfterMs} ms`);

    await Promise.all([slot.close(), spare.close()]);
    t.notOk(pids.some(runs), 'no process is left');
  });
}

t.test('a stack used up by the guest never runs out on this side', async (t) => {
  const slot = await TestSlot.open(runtime);
  t.teardown(() => slot.close());
  for (const [at, probe] of ['setTimeout(() => {}, 1)', 'setTimeout(() => {}, n)', "console.log('x')"].entries()) {
    const body = `let n = 0;
      const go = () => { try { go(); } catch {} try { if (n++ < 900) ${probe}; } catch {} };
      go();
      return 'fine';`;
    await slot.load(plugin(body, { version: `v${at}`, limits: { slice_ms: 2000, cpu_ms: 3000 } }));
    for (const time of ['once', 'twice']) {
      const { outcome } = await slot.call({}, { of: `v${at}` });
      t.same(outcome, { kind: 'returned', json: '"fine"' }, `${probe} ${time}`);
    }
  }
});

t.test('a megabyte of tiny values is refused before anybody has to carry it', async (t) => {
  const slot = await TestSlot.open(runtime);
  t.teardown(() => slot.close());
  const body = "return context.api.useRelayer('r').rpc(new Array(300_000).fill([])).catch((error) => error.message);";
  await slot.load(plugin(body));
  t.match(await slot.call(), { outcome: { kind: 'returned', json: /at most 65536 values/ }, usage: { calls: 1 } });
  t.notOk(slot.messages.some(({ type }) => type === 'request'));
});
