import type { Attack } from './attack.ts';

/** Programs that return and continue to run. */
export const LEFTOVER_ATTACKS: readonly Attack[] = [
  {
    name: 'capability calls after the return',
    threat: 7,
    recovery: 'R1',
    body: "(async () => { for (;;) await context.kv.exists('late').catch(() => {}); })(); return 'returned';",
    ends: ['returned', 'CPU_LIMIT'],
  },
  {
    name: 'effects and lines after the return',
    threat: 7,
    recovery: 'R1',
    body: "setInterval(() => { console.log('late'); context.kv.set('late', 1).catch(() => {}); }, 1); return 'returned';",
    ends: ['returned'],
  },
  {
    name: 'a continuation that burns the processor',
    threat: 8,
    recovery: 'R1',
    body: "const later = async () => { for (let i = 0; i < 20; i++) await null; }; later().then(() => { for (;;); }); return 'returned';",
    ends: ['returned', 'CPU_LIMIT'],
  },
  {
    name: 'a continuation inside a built-in that nothing stops',
    threat: 8,
    recovery: 'R2',
    body: "const later = async () => { for (let i = 0; i < 20; i++) await null; }; later().then(() => Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)); return 'returned';",
    ends: ['returned', 'CPU_LIMIT'],
  },
  {
    name: 'a timer that burns the processor after the return',
    threat: 8,
    recovery: 'R1',
    body: "setTimeout(() => { for (;;); }, 0); return 'returned';",
    ends: ['returned'],
  },
  {
    name: 'a storm of microtasks after the return',
    threat: 8,
    recovery: 'R1',
    body: "const storm = () => { queueMicrotask(storm); }; setTimeout(storm, 0); storm(); return 'returned';",
    ends: ['returned', 'CPU_LIMIT'],
  },
  {
    name: 'a reply that wakes a loop after the return',
    threat: 8,
    recovery: 'R1',
    body: "context.kv.get('x').then(() => { for (;;); }); return 'returned';",
    ends: ['returned'],
  },
  {
    name: 'a finalizer as a loop',
    threat: 9,
    recovery: 'R1',
    body: 'const registry = new FinalizationRegistry(() => { for (;;); }); for (;;) registry.register({}, 1);',
    ends: ['threw'],
  },
  {
    name: 'a weak reference as a look at the collector',
    threat: 9,
    recovery: null,
    body: 'return new WeakRef({}).deref();',
    ends: ['threw'],
  },
  {
    name: 'half of the memory kept for the next call',
    threat: 48,
    recovery: null,
    body: "(globalThis.kept ??= []).push(new Uint8Array(2e7).fill(1)); return 'returned';",
    ends: ['returned', 'threw', 'MEMORY_LIMIT'],
  },
  {
    name: 'globals replaced for the next call',
    threat: 49,
    recovery: null,
    body: `for (const name of ['fetch', 'console', 'setTimeout', 'Promise', 'JSON', 'Object', 'Array', 'URL', 'crypto', 'Buffer', 'process', 'Error']) {
        try { globalThis[name] = () => { for (;;); }; } catch {}
      }
      return 'returned';`,
    ends: ['returned'],
  },
  {
    name: 'prototypes polluted for the next call',
    threat: 49,
    recovery: null,
    body: `let polluted = 0;
      for (const target of [Object, Array, Function, Promise, Error, String, Number, Map, Set, RegExp, Uint8Array, Symbol, Date, ArrayBuffer]) {
        for (const name of ['toJSON', 'then', 'push', 'toString', 'get', 'constructor', 'polluted', 'exec']) {
          try { target.prototype[name] = () => { for (;;); }; } catch { polluted++; }
        }
        for (const name of ['stringify', 'resolve', 'keys', 'from', 'isArray', 'defineProperty', 'freeze']) {
          try { target[name] = () => { for (;;); }; } catch { polluted++; }
        }
      }
      for (const name of ['stringify', 'parse']) try { JSON[name] = () => { for (;;); }; } catch { polluted++; }
      return polluted;`,
    ends: ['returned', 'CPU_LIMIT'],
  },
  {
    name: 'setters on Object.prototype for what the runtime writes',
    threat: 49,
    recovery: null,
    body: `for (const name of ['id', 'reply', 'ok', 'kind', 'json', 'message', 'level', 'method', 'params', 'value', 'get', 'set', 'code', 'status']) {
        try { Object.defineProperty(Object.prototype, name, { set() { for (;;); }, get() { for (;;); }, configurable: true }); } catch {}
      }
      await context.kv.exists('x'); console.log('y'); return { fine: true };`,
    ends: ['returned'],
  },
];
