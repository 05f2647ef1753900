/** Threat: an isolate that serves another call although it should not, and isolates that pile up. */
import t from 'tap';
import type { PluginVersion } from '../../../contract.ts';
import { type GuestIsolate, GuestProgram, GuestRuntime } from '../../../process/isolate.ts';
import { IsolatePool } from '../../../process/isolate-pool.ts';
import { guestRuntime, plugin, version } from '../../support/sandbox.ts';

const runtime = new GuestRuntime(await guestRuntime());

function shelfOf(version: PluginVersion) {
  const program = new GuestProgram(runtime, version);
  const made: GuestIsolate[] = [];
  const pool = new IsolatePool(version, (start) => {
    const isolate = program.createIsolate(() => '', start?.now);
    made.push(isolate);
    return isolate;
  });
  const bytes = pool.open();
  return { pool, made, bytes };
}

t.test('the first isolate tells the size, and serves', async (t) => {
  const { pool, made, bytes } = shelfOf(plugin(''));
  t.ok(bytes > 500_000 && bytes < 16e6, `${bytes} bytes`);
  t.equal(pool.wantsMore, false);
  const isolate = pool.take();
  t.equal(isolate, made[0]);
  t.equal(pool.size, 1);
  t.equal(pool.wantsMore, true);
  pool.give(isolate, true);
  t.equal(pool.take(), isolate, 'a clean one serves again');
  t.equal(made.length, 1);
});

t.test('the warmest serves first, and one is made when none waits', async (t) => {
  const { pool } = shelfOf(plugin(''));
  const [one, other] = [pool.take(), pool.take()];
  pool.give(other, true);
  pool.give(one, true);
  t.equal(pool.take(), one);
  t.equal(pool.size, 2);
});

t.test('one that is not clean, unsound, old or grown does not come back', async (t) => {
  const doubts: Record<string, (isolate: GuestIsolate) => boolean> = {
    'not clean': () => false,
    unsound: (isolate) => {
      isolate.sound = false;
      return true;
    },
    old: (isolate) => {
      isolate.served = 1e6;
      return true;
    },
  };
  for (const [name, spoil] of Object.entries(doubts)) {
    const { pool } = shelfOf(plugin(''));
    const isolate = pool.take();
    pool.give(isolate, spoil(isolate));
    t.equal(pool.size, 0, name);
    t.equal(isolate.sound, false, `${name}: disposed`);
  }
});

t.test('one comes back up to the bound of its age and of its growth, and not at it', async (t) => {
  const bounds: [name: string, back: boolean, spoil: (isolate: GuestIsolate) => void][] = [
    ['4999 calls', true, (isolate) => Object.assign(isolate, { served: 4999 })],
    ['5000 calls', false, (isolate) => Object.assign(isolate, { served: 5000 })],
    ['just below half of its room', true, (isolate) => Object.assign(isolate, { growth: () => 0.499 })],
    ['half of its room', false, (isolate) => Object.assign(isolate, { growth: () => 0.5 })],
  ];
  for (const [name, back, spoil] of bounds) {
    const { pool } = shelfOf(plugin(''));
    const isolate = pool.take();
    spoil(isolate);
    pool.give(isolate, true);
    t.equal(pool.size, back ? 1 : 0, name);
  }
});

t.test('one isolate per call: none comes back, more wait ready', async (t) => {
  const { pool, made } = shelfOf(plugin('', { isolation: 'call' }));
  while (pool.wantsMore) pool.prepare();
  t.equal(made.length, 3);
  const isolate = pool.take();
  pool.give(isolate, true);
  t.equal(isolate.sound, false);
  t.equal(pool.size, 2);
});

t.test('waiting isolates take their share of the memory and no more', async (t) => {
  const { pool, bytes } = shelfOf(plugin('', { limits: { process_mb: 64 } }));
  const room = Math.floor((64 * 1_048_576 * 0.25) / bytes);
  t.ok(room > 1 && room < 20, `${room} may wait`);
  const taken = Array.from({ length: room + 1 }, () => pool.take());
  for (const isolate of taken) pool.give(isolate, true);
  t.equal(pool.size, room);
});

t.test('what a burst left behind is let go when nobody needed it for a while', async (t) => {
  const { pool } = shelfOf(plugin(''));
  const taken = Array.from({ length: 5 }, () => pool.take());
  for (const isolate of taken) pool.give(isolate, true);
  pool.sweep();
  t.equal(pool.size, 5, 'they were needed since the last sweep');
  pool.give(pool.take(), true);
  pool.sweep();
  t.equal(pool.size, 2, 'one was needed, one waits ready');
});

t.test('a drained pool keeps nothing, and still serves the last calls', async (t) => {
  const { pool, made } = shelfOf(plugin(''));
  const running = pool.take();
  pool.give(pool.take(), true);
  pool.drain();
  pool.drain();
  t.equal(pool.wantsMore, false);
  const late = pool.take();
  pool.give(late, true);
  pool.give(running, true);
  t.equal(pool.size, 0);
  t.ok(made.every(({ sound }) => !sound));
});

const START = { seed: 'ab'.repeat(32), now: 1 };

t.test('a durable call gets an unused isolate, and plain calls leave it to the next', async (t) => {
  const { pool } = shelfOf(plugin(''));
  const used = pool.take();
  pool.give(used, true);
  t.notOk(pool.isReadyFor(START), 'one that has served a call');
  const first = pool.take(START);
  t.not(first, used);
  t.ok(pool.wantsMore, 'another unused one');
  pool.prepare();
  t.notOk(pool.wantsMore);
  t.equal(pool.take(), used, 'plain calls take the used one');
  pool.give(used, true);
  t.ok(pool.isReadyFor(START));
  const second = pool.take(START);
  t.notOk([used, first].includes(second));
  pool.give(first, true);
  pool.give(second, true);
  t.notOk(first.sound || second.sound, 'one used isolate is enough');
  pool.give(pool.take(), true);
  t.ok(used.sound);
});

t.test('a module that reads the time or draws numbers is evaluated for each durable call', async (t) => {
  const { pool, made } = shelfOf(plugin('return at;', { filename: 'p.ts' }));
  t.ok(made[0]?.pure);
  for (const top of ['Date.now()', 'new Date()', 'Math.random()', 'performance.now()', 'crypto.randomUUID()']) {
    const code = `const at = ${top}; var __isolayer_plugin__ = { handler: () => at };`;
    const { pool: impure, made: ones } = shelfOf(version(code));
    t.equal(ones[0]?.pure, false, top);
    t.notOk(impure.isReadyFor(START), top);
    impure.take(START);
    t.notOk(impure.wantsMore, `${top}: one made ahead would be of no use`);
  }
  for (const top of ['new Date(5)', 'performance', 'Date.UTC(1)', 'crypto.subtle', 'Math.max(1)']) {
    const code = `const at = ${top}; var __isolayer_plugin__ = { handler: () => at };`;
    t.ok(shelfOf(version(code)).made[0]?.pure, top);
  }
  pool.drain();
});
