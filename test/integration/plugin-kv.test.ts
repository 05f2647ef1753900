/**
 * Threat: a plugin dies, hangs or lies while it holds a lock, so that two calls work on one value at once, or no call
 * can any more. Or its values, keys or patterns fill the store, or slow down others.
 */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { createKvService } from '../../src/features/plugins/kv.ts';
import { eventually } from '../support/eventually.ts';
import { startPluginHost } from '../support/plugin-host.ts';
import { PluginServices } from '../support/plugin-services.ts';
import { descendantsOf } from '../support/processes.ts';
import { storeFor } from '../support/store.ts';
import { meterThread } from '../support/thread-time.ts';

const handler = (body: string) => `export async function handler({ params, api, kv }) {\n${body}\n}\n`;

/** Adds an id to a list under a lock, if it is missing. Retries until it gets the lock. */
const APPEND = `
  for (let tries = 0; tries < 400; tries++) {
    const done = await kv.withLock('list', async () => {
      const ids = (await kv.get('ids')) ?? [];
      if (!ids.includes(params.id)) await kv.set('ids', [...ids, params.id]);
      return true;
    }, { ttlSec: 300, onBusy: 'skip' });
    if (done) return 'appended';
    await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 20));
  }
  throw new Error('never came to its turn');`;

/** Holds a lock until it is told to release it. */
const HOLD = handler(`
  if (params.letGo) return kv.set('letGo', 1);
  if (params.peek) return { keys: await kv.listKeys(), busy: await kv.withLock('key', async () => 'free', { onBusy: 'skip' }) };
  return kv.withLock('key', async () => {
    await kv.set('mine', 1);
    while (!(await kv.exists('letGo'))) await new Promise((resolve) => setTimeout(resolve, 50));
    return 1;
  });`);

/** Wide limits, for tests that are not about time on a busy machine. */
const PATIENT = { slice_ms: 60_000, cpu_ms: 60_000 };

const store = await storeFor(t);
const services = new PluginServices();
services.kv = createKvService({ store, newId: randomUUID });
const { call, close, metrics } = await startPluginHost({
  services,
  files: {
    'lock.ts': handler(`
      return kv.withLock('key', async () => {
        if (params.kind === 'hangs') await new Promise(() => {});
        if (params.kind === 'loops') for (;;);
        if (params.kind === 'dies') { let s = 'ab'; while (s.length < 2 ** 28) s += s; return s.split('').length; }
        if (params.kind === 'throws') throw new Error('mine');
        return 'held';
      }, { ttlSec: 1e6 });`),
    'leaves.ts': handler(
      `kv.withLock('key', () => new Promise(() => {})).catch(() => {}); await kv.get('x'); return 1;`,
    ),
    'slow.ts': handler(`
      const texts = [];
      const attempt = (name, act) => act().then((value) => texts.push([name, value]), (error) => texts.push([name, error.message]));
      const result = await kv.withLock('key', async () => {
        await kv.set('a', 'in time');
        await new Promise((resolve) => setTimeout(resolve, 250));
        await attempt('busy', () => kv.withLock('other', async () => 'other is free'));
        await attempt('taken', () => kv.withLock('key', async () => 'taken'));
        await attempt('set', () => kv.set('a', 'too late'));
        await attempt('del', () => kv.del('a'));
        await attempt('clear', () => kv.clear());
        return 'result';
      }, { ttlSec: 0.2 });
      await attempt('after', () => kv.set('b', 1));
      return { result, texts, a: await kv.get('a') };`),
    'all.ts': handler(`
      const values = [null, false, 0, -0.5, 1e21, '', 'ü😀\\ud800\\0\\n', [], {}, { a: [{ b: null }], __proto__: undefined }];
      const out = [];
      for (const value of values) {
        await kv.set('k', value);
        out.push(JSON.stringify(await kv.get('k')) === JSON.stringify(value));
      }
      const many = Array.from({ length: 100_000 }, (_, i) => i);
      await kv.set('many', many);
      out.push((await kv.get('many')).length);
      await kv.set('x:1', 1); await kv.set('x:2', 2); await kv.set('y', 3, { ttlSec: 1 });
      out.push((await kv.listKeys('x:*')).join(), (await kv.listKeys('?')).join(), await kv.exists('y'));
      for (let turn = 0; turn < 100 && (await kv.exists('y')); turn++) await new Promise((resolve) => setTimeout(resolve, 100));
      out.push(await kv.exists('y'), await kv.get('y'), await kv.del('y'), await kv.clear(), await kv.listKeys());
      for (const act of [() => kv.set('a b', 1), () => kv.set('k', undefined), () => kv.set('k', 1n)]) {
        await act().catch((error) => out.push(error.message));
      }
      return out;`),
    'fill.ts': handler(`
      const results = await Promise.allSettled(Array.from({ length: 100 }, (_, i) => kv.set(params.name + i, 'x'.repeat(params.size))));
      return { kept: results.filter(({ status }) => status === 'fulfilled').length, text: results.find(({ reason }) => reason)?.reason.message };`),
    'huge.ts': handler(`
      const texts = [];
      for (const [key, value] of [['k'.repeat(513), 1], ['k'.repeat(1e6), 1], ['k', 'x'.repeat(100)], ['k', 'x'.repeat(2e6)]]) {
        await kv.set(key, value).catch((error) => texts.push(error.message));
      }
      return texts;`),
    'bomb.ts': handler(`return (await kv.listKeys(params.pattern)).length;`),
    'calm.ts': handler(`return 'calm';`),
    'append.ts': handler(APPEND),
    'a.ts': HOLD,
    'b.ts': HOLD,
  },
  entries: [
    { id: 'lock', timeout: 1 },
    { id: 'leaves', timeout: 1 },
    { id: 'fill', limits: { kv_keys: 50, kv_bytes: 4000 } },
    { id: 'all', limits: PATIENT },
    { id: 'huge', limits: { kv_value_bytes: 50, ...PATIENT } },
    { id: 'bomb', limits: { calls: 2 } },
    { id: 'append', limits: { processes: 2 } },
  ],
});
t.teardown(close);

t.test('a lock ends with its call, whatever ends it, long before its time', async (t) => {
  for (const kind of ['hangs', 'loops', 'dies', 'throws']) {
    t.ok((await call('lock', { kind })).status >= 500, kind);
    const next = await eventually(
      () => call('lock', {}),
      (answer) => answer.status === 200,
    );
    t.match(next, { status: 200, body: { data: 'held' } }, `after one that ${kind}`);
  }
  for (let time = 0; time < 2; time += 1) t.match(await call('leaves'), { status: 200 });
});

t.test('who holds a lock past its time writes nothing any more, and its result stands', async (t) => {
  const lost = 'lock lost: the time of lock key was over before this write, so it was not made';
  t.strictSame((await call('slow')).body.data, {
    result: 'result',
    texts: [
      ['busy', 'other is free'],
      ['taken', 'taken'],
      ['set', lost],
      ['del', lost],
      ['clear', lost],
      ['after', true],
    ],
    a: 'in time',
  });
  t.equal(await store.read.kvGet('slow', 'a'), '"in time"');
});

t.test('locks and keys of two plugins never meet', async (t) => {
  const holding = call('a');
  await eventually(
    () => store.read.kvHas('a', 'mine'),
    (has) => has,
  );
  t.strictSame((await call('b', { peek: true })).body.data, { keys: [], busy: 'free' });
  t.strictSame((await call('a', { peek: true })).body.data, { keys: ['mine'], busy: null });
  t.match(await call('a', { letGo: true }), { status: 200 });
  t.match(await holding, { status: 200 });
});

t.test('every value comes back, in the words of existing plugins', async (t) => {
  t.strictSame((await call('all')).body.data, [
    ...Array.from({ length: 10 }, () => true),
    100_000,
    'x:1,x:2',
    'k,y',
    true,
    ...[false, null, false, 4, []],
    ...['invalid key', 'value must not be undefined', 'value is a BigInt'],
  ]);
});

t.test('a quota bounds keys, bytes and values, also in a race', async (t) => {
  const [one, two] = await Promise.all([call('fill', { name: 'a', size: 10 }), call('fill', { name: 'b', size: 10 })]);
  t.equal(one.body.data.kept + two.body.data.kept, 50);
  t.match(
    `${one.body.data.text} ${two.body.data.text}`,
    /the plugin keeps 50 keys and may keep 50 \(limits\.kv_keys\)/,
  );
  t.equal((await store.read.kvUsage('fill')).keys, 50);
  const grown = await Promise.all([call('fill', { name: 'a', size: 200 }), call('fill', { name: 'b', size: 200 })]);
  t.match(`${grown.map(({ body }) => body.data.text).join()}`, /bytes of 4000 \(limits\.kv_bytes\)/);
  t.ok((await store.read.kvUsage('fill')).bytes <= 4000);

  const huge = await call('huge');
  t.match(huge.body, { success: true }, huge.text);
  t.match(huge.body.data, [
    'invalid key',
    'invalid key',
    'value is 102 bytes of JSON; the limit is 50 bytes (limits.kv_value_bytes)',
    /the limit is 1048576 bytes$/,
  ]);
});

t.test('a pattern made to take for ever takes its author’s time, and a long list is bounded', async (t) => {
  for (let from = 0; from < 3000; from += 500) {
    await store.write(async (writer) => {
      for (let index = from; index < from + 500; index += 1) {
        await writer.kvSet('bomb', `${'a'.repeat(500)}${String(index).padStart(6, '0')}`, '1');
      }
    });
  }
  t.match(await call('calm'), { status: 200 });
  const bombs = [`${'*a'.repeat(500)}b`, `*${'[a-z]'.repeat(200)}b`];
  for (const pattern of bombs) {
    const exploding = call('bomb', { pattern });
    const spent = meterThread();
    t.match(await call('calm'), { status: 200 });
    t.ok(spent() < 1000, `others are served meanwhile: ${spent()} ms of this thread`);
    const { status, body } = await exploding;
    t.ok([200, 500, 504].includes(status), `${status}`);
    if (status !== 200) t.match(body.data.code, /^C(PU|ALL)_LIMIT$/);
  }
  t.match((await call('bomb', { pattern: '*' })).body, { data: { code: 'CALL_LIMIT' } }, 'page after page');
});

t.test('40 calls at once lose nothing under a lock, though their process is killed again and again', async (t) => {
  const idsIn = async () => JSON.parse((await store.read.kvGet('append', 'ids')) ?? '[]') as string[];
  t.match(await call('append', { id: 'first' }), { status: 200 });
  const ids = Array.from({ length: 40 }, (_, index) => `id${index}`);
  // Repeats calls, as a client does that does not know their outcome.
  const calls = ids.map((id) =>
    eventually(
      () => call('append', { id }),
      ({ status }) => status === 200,
      30_000,
    ),
  );
  for (let kills = 0; kills < 2; kills += 1) {
    const before = (await idsIn()).length;
    await eventually(
      async () => (await idsIn()).length,
      (length) => length > before,
    );
    for (const { pid, command } of await descendantsOf(process.pid)) {
      if (!command.includes('isolayer-sandbox')) continue;
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // The process was already gone.
      }
    }
  }
  const answers = await Promise.all(calls);
  t.ok(answers.every(({ status }) => status === 200));
  t.strictSame((await idsIn()).toSorted(), ['first', ...ids].toSorted(), 'each once, and none is lost');
  const killed = metrics.of('plugin_process_ends').filter((line) => line.startsWith('append'));
  t.ok(killed.length >= 2, `${killed.length} processes were killed`);
});
