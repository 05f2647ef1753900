/** Threat: an isolate that serves another call although it should not, and isolates that pile up. */
import t from 'tap';
import type { PluginVersion } from '../../../contract.ts';
import { hostFunctionOutsideCalls } from '../../../process/call-bridge.ts';
import { EvaluationError, type GuestIsolate, GuestProgram, GuestRuntime } from '../../../process/isolate.ts';
import { type IsolateMaker, IsolatePool } from '../../../process/isolate-pool.ts';
import { contextText, guestRuntime, plugin, version } from '../../support/sandbox.ts';

const runtime = new GuestRuntime(await guestRuntime());

function shelfOf(version: PluginVersion, { create, tryRenewable }: Partial<IsolateMaker> = {}) {
  const program = new GuestProgram(runtime, version);
  const made: GuestIsolate[] = [];
  const note = <T extends GuestIsolate | false | undefined>(isolate: T): T => {
    if (isolate) made.push(isolate);
    return isolate;
  };
  const pool = new IsolatePool(version, {
    create: (start, isRenewable) =>
      note(create?.(start, isRenewable) ?? program.createIsolate(() => '', start?.now, isRenewable)),
    tryRenewable: tryRenewable ?? ((start) => note(program.tryRenewable(() => () => '', start.now))),
    renew: (isolate, start) => isolate.renew(() => '', start?.now),
    discard: (isolate) => isolate.dispose(),
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
    ['99,999 calls', true, (isolate) => Object.assign(isolate, { served: 99_999 })],
    ['100,000 calls', false, (isolate) => Object.assign(isolate, { served: 100_000 })],
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

t.test(
  'a durable call gets a module that no call has met, and plain calls leave its isolate to the next',
  async (t) => {
    const { pool, made } = shelfOf(plugin('const seen = kept.calls ?? 0; kept.calls = seen + 1; return seen;'));
    const used = pool.take();
    pool.give(used, true);
    t.notOk(pool.isReadyFor(START), 'one that has served a call');
    const first = pool.take(START);
    t.not(first, used);
    t.notOk(pool.wantsMore, 'its isolate will serve again');
    pool.give(first, true);
    t.ok(pool.wantsMore, 'its module is to be evaluated anew');
    pool.prepare();
    t.notOk(pool.wantsMore);
    t.ok(pool.isReadyFor(START));
    t.equal(pool.take(), used, 'plain calls take their own');
    for (let call = 0; call < 5; call++) {
      const isolate = pool.take(START);
      t.equal(isolate, first);
      t.equal(served(isolate), '0', 'nothing is left of the calls before');
      t.equal(isolate.heapBytes > 0, true);
      pool.give(isolate, true);
    }
    t.equal(made.length, 2);
    const plain = pool.take();
    t.notOk([used, first].includes(plain), 'rather than take one whose world was sealed first');
    pool.give(plain, true);
    t.equal(pool.take(START), first);
    pool.give(first, false);
    t.notOk(first.sound);
    t.not(pool.take(START), first);
  },
);

t.test('a thousand durable calls leave no more behind than one', async (t) => {
  const { pool, made } = shelfOf(
    plugin('kept.all = new Array(50_000).fill(kept); kept.bytes = new Uint8Array(1e5); return 1;'),
  );
  let most = 0;
  for (let call = 0; call < 1000; call++) {
    const isolate = pool.take(START);
    if (served(isolate) !== '1') t.fail('a call failed');
    most = Math.max(most, isolate.measureHeap());
    pool.give(isolate, true);
  }
  t.ok(pool.size <= 2, `${pool.size} isolates`);
  t.ok(made.length < 100, `${made.length} isolates for 1000 calls`);
  t.ok(most < 40e6, `${most} bytes`);
});

/** What a call of the isolate returned, as JSON text. */
function served(isolate: GuestIsolate): string {
  let outcome = '';
  isolate.attach((op, text) => {
    if (op === 'returned' || op === 'done') outcome = text;
    return '';
  });
  isolate.enter('invoke', contextText({}), 10_000, 1);
  isolate.detach();
  return outcome;
}

/** Modules that change something that all calls share, each in one way. */
const CHANGES = [
  'globalThis.mine = 1',
  'globalThis.mine ??= new Map()',
  'mine = 1',
  'BigInt.prototype.toJSON = () => 1',
  'if (![].mine) Array.prototype.mine = () => 1',
  "Object.defineProperty(Object.prototype, 'mine', { get: () => 1, configurable: true })",
  'Error.stackTraceLimit = 5',
  'Error.prepareStackTrace = () => 1',
  "process.env.MINE = '1'",
  '/a/.__proto__.mine = 1',
  'console.log = () => {}',
  'fetch = () => 1',
  'onerror = () => true',
  "addEventListener('error', () => {})",
  "globalThis[Symbol.for('isolayer.module')]('events').defaultMaxListeners = 11",
  "globalThis[Symbol.for('isolayer.module')]('async_hooks')",
  'function Mine() {} Mine.prototype = Object.create(Map.prototype); Mine.prototype.get = () => 1',
  'globalThis.__isolayer_run_plugin__ = () => 1',
  "throw new Error('mine')",
  'try { BigInt.prototype.toJSON = () => 1; } catch {}',
  'try { setTimeout.mine = 1; } catch {}',
  '(async () => { await null; try { Array.prototype.mine = 1; } catch {} })()',
  'try { process.stdout.write = () => 1; } catch {}',
  'try { URL = class {}; } catch {}',
  "Reflect.set(BigInt.prototype, 'toJSON', () => 1)",
  "Reflect.set(URL.prototype, 'mine', 1)",
  "Reflect.set([].push, 'mine', 1)",
  "Reflect.set(globalThis[Symbol.for('isolayer.module')]('util'), 'inspect', 1)",
  "Reflect.defineProperty(Array.prototype, 'mine', { value: 1 })",
  "Reflect.defineProperty(globalThis, 'mine', { value: 1, configurable: true })",
  "new Function('Array.prototype.mine = 1')()",
  "(0, eval)('Array.prototype.mine = 1')",
  '(0, eval)("if (!(function () { return !this; })()) Array.prototype.mine = 1")',
  'if (Object.isExtensible(String.prototype)) String.prototype.mine = 1',
  // What may change something elsewhere, or cannot be done while a module is evaluated anew.
  'if (Date.now() === 5) Array.prototype.mine = 1',
  'Math.random()',
  "fetch('https://a.example').catch(() => {})",
];

t.test('a module that changes what calls share has an isolate for each durable call', async (t) => {
  for (const change of CHANGES) {
    for (const strict of ['', '"use strict";']) {
      const code = `${strict}try { ${change} } finally {} var __isolayer_plugin__ = { handler: () => 1 };`;
      const program = new GuestProgram(runtime, version(code));
      const isolate = program.tryRenewable(() => hostFunctionOutsideCalls(), START.now);
      t.equal(isolate, false, `${strict}${change}`);
    }
  }
  const { pool } = shelfOf(
    plugin('', { code: `globalThis.mine = 1; var __isolayer_plugin__ = { handler: () => 1 };` }),
  );
  const used = pool.take();
  pool.give(used, true);
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

t.test('a trial that time or memory ends is made again, up to a bound', async (t) => {
  let trials = 0;
  const { pool } = shelfOf(plugin('return 1;'), {
    tryRenewable() {
      trials += 1;
      return undefined;
    },
  });
  for (let call = 0; call < 6; call++) {
    const isolate = pool.take(START);
    t.notOk(isolate.isRenewable);
    t.equal(served(isolate), '1');
    pool.give(isolate, true);
  }
  t.equal(trials, 3);
  const large = 'const all = []; while (true) all.push(new Array(1e5).fill(all));';
  const program = new GuestProgram(runtime, version(large, { limits: { memory_mb: 8 } }));
  t.equal(
    program.tryRenewable(() => () => '', 1),
    undefined,
  );
});

t.test('where no renewable isolate comes out right, a durable call gets another', async (t) => {
  for (const fault of ['throws', 'is unsound']) {
    const program = new GuestProgram(runtime, plugin('return 1;'));
    const { pool } = shelfOf(plugin('return 1;'), {
      create(start, isRenewable) {
        const isolate = program.createIsolate(() => '', start?.now, isRenewable);
        if (isRenewable !== true) return isolate;
        if (fault === 'throws') throw new EvaluationError({ cause: 'memory' });
        isolate.sound = false;
        return isolate;
      },
    });
    const first = pool.take(START);
    t.ok(first.isRenewable);
    const isolate = pool.take(START);
    t.notOk(isolate.isRenewable, fault);
    t.equal(served(isolate), '1');
  }
});

/** Modules that only make what is their own. */
const OWN = [
  'class Mine extends Map { get() { return 1; } } class Fault extends Error { name = "Fault"; }',
  "const list = []; list.push = () => 1; const cache = new Map([['a', Symbol.for('a')]]);",
  'const Mine = function () {}; Mine.prototype = Object.create(Error.prototype); Mine.prototype.toString = () => "mine"; Mine.prototype.constructor = Mine;',
  "const { EventEmitter } = globalThis[Symbol.for('isolayer.module')]('events'); const one = new EventEmitter(); one.on('a', () => 1);",
  "const hash = crypto.subtle.digest('SHA-256', new Uint8Array(1)).then((bytes) => crypto.subtle.digest('SHA-256', bytes)); hash.then((bytes) => { if (bytes.byteLength !== 32) throw bytes; });",
  "const desc = Object.getOwnPropertyDescriptor(Array.prototype, 'push'); if ((desc.value ?? desc.get.originalValue) !== [].push) throw desc;",
  'console.count(); console.group(); const { inspect } = globalThis[Symbol.for("isolayer.module")]("util"); inspect([]);',
  'const { Buffer: Own } = globalThis[Symbol.for("isolayer.module")]("buffer"); Own.from("a"); new URL("https://a.b"); process.env.A; new Intl.NumberFormat(); Number.NaN;',
];

t.test('a module that keeps to itself is evaluated anew, with its asynchronous part', async (t) => {
  for (const own of OWN) {
    for (const strict of ['', '"use strict";']) {
      const code = `${strict}${own} let calls = 0; var __isolayer_plugin__ = { handler: () => calls++ };`;
      const isolate = new GuestProgram(runtime, version(code)).tryRenewable(() => hostFunctionOutsideCalls(), 1);
      t.ok(isolate, own);
      if (!isolate) continue;
      for (let call = 0; call < 3; call++) {
        t.equal(served(isolate), '0', own);
        t.ok(isolate.renew(hostFunctionOutsideCalls(), 1), own);
      }
      isolate.dispose();
    }
  }
});

t.test('a module that reads the time or draws numbers is evaluated for each durable call', async (t) => {
  const { pool, made } = shelfOf(plugin('return at;', { filename: 'p.ts' }));
  t.ok(made[0]?.pure);
  for (const top of ['Date.now()', 'new Date()', 'Math.random()', 'performance.now()', 'crypto.randomUUID()']) {
    const code = `const at = ${top}; var __isolayer_plugin__ = { handler: () => at };`;
    const { pool: impure, made: ones } = shelfOf(version(code));
    t.equal(ones[0]?.pure, false, top);
    t.notOk(impure.isReadyFor(START), top);
    t.notOk(impure.take(START).isRenewable, top);
    t.notOk(impure.wantsMore, `${top}: one made ahead would be of no use`);
  }
  for (const top of ['new Date(5)', 'performance', 'Date.UTC(1)', 'crypto.subtle', 'Math.max(1)']) {
    const code = `const at = ${top}; var __isolayer_plugin__ = { handler: () => at };`;
    t.ok(shelfOf(version(code)).made[0]?.pure, top);
  }
  pool.drain();
});
