/** Threat: what one call puts on an object that all code of an isolate shares, and the next call meets. */
import vm from 'node:vm';
import t from 'tap';
import { FrozenIntrinsics } from '../../../../../sandbox/guest/intrinsics/frozen-intrinsics.ts';
import { collectIntrinsics, intrinsicsBehind } from '../../../../../sandbox/guest/intrinsics/intrinsics.ts';
import { GlobalNames } from '../../../../../sandbox/guest/reuse/global-names.ts';

function world(mentioned: string[] = []) {
  const context = vm.createContext();
  // Whoever looks first has it made, in a realm of their own.
  const global = vm.runInContext('Temporal; globalThis', context) as typeof globalThis;
  const shared = new FrozenIntrinsics(global, new GlobalNames(global, () => {}), mentioned);
  return { shared, run: (script: string): unknown => vm.runInContext(script, context) };
}

const NAMES = [
  'Date',
  'Map',
  'Set',
  'WeakMap',
  'WeakSet',
  'ArrayBuffer',
  'DataView',
  'Uint8Array',
  'Float64Array',
  'DisposableStack',
];

t.test('what is behind a name is frozen before the first who reads it gets it', (t) => {
  const { shared, run } = world();
  shared.seal();
  for (const name of NAMES) {
    t.equal(run(`Object.isFrozen(${name}) && Object.isFrozen(${name}.prototype)`), true, name);
    t.throws(() => run(`'use strict'; ${name}.prototype.planted = 1`), { name: 'TypeError' });
  }
  t.equal(run('Object.isFrozen(Object.getPrototypeOf(Uint8Array.prototype))'), true);
  t.equal(run('Object.isFrozen(Object.getPrototypeOf(new Map().keys()))'), true);
  t.end();
});

t.test('who asks at the end of the stack gets an error, and nobody what is not frozen', (t) => {
  const { shared, run } = world();
  shared.seal();
  run(`var refusals = 0;
    (function deeper() { try { deeper(); } catch {} try { Map; Uint8Array; } catch { refusals++; } })();`);
  t.ok(Number(run('refusals')) > 0, 'it broke off at least once');
  for (const shown of ['Map', 'Map.prototype', 'Uint8Array', 'Uint8Array.prototype', 'ArrayBuffer.prototype']) {
    t.ok(run(`Object.isFrozen(${shown})`), shown);
  }
  t.end();
});

t.test('no way but the names leads to it', (t) => {
  const context = vm.createContext();
  const global = vm.runInContext('Temporal; globalThis', context) as typeof globalThis;
  const hidden = collectIntrinsics(global).behindNames.flatMap(intrinsicsBehind);
  const samples = vm.runInContext(
    `[Object(''), Object(1), Object(true), Object(1n), Object(Symbol()), [], {}, /a/, () => 1, function* () {},
      async () => 1, async function* () {}, Promise.resolve(), new Error(), new AggregateError([]), Iterator, Function,
      Symbol, [].values().map((one) => one), Iterator.from({ next() {} }), (function () { return arguments; })()]`,
    context,
  ) as object[];
  const reached = new Set<unknown>();
  const walk = (value: unknown): void => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || reached.has(value)) return;
    reached.add(value);
    walk(Reflect.getPrototypeOf(value));
    for (const key of Reflect.ownKeys(value)) {
      const { value: held, get, set } = Reflect.getOwnPropertyDescriptor(value, key) as PropertyDescriptor;
      for (const next of [held, get, set]) walk(next);
    }
  };
  for (const sample of samples) walk(sample);
  t.ok(reached.size > 350, `${reached.size} objects`);
  t.strictSame(
    hidden.filter(({ object }) => reached.has(object)),
    [],
  );
  t.end();
});

t.test('what the module met is frozen when it has run, and not before', (t) => {
  const { shared, run } = world();
  run('Date.prototype.polyfill = 1; Uint8Array.from([1]);');
  t.equal(run('Object.isFrozen(Date.prototype)'), false);
  t.equal(run('[].polyfill'), undefined);
  shared.seal();
  t.equal(run('Object.isFrozen(Date.prototype) && Object.isFrozen(Float32Array.prototype)'), true);
  t.equal(run('Object.isFrozen(Object.prototype)'), true);
  t.equal(run('new Date().polyfill'), 1);
  t.end();
});

t.test('what the code mentions is there as ever, and frozen when the module has run', (t) => {
  const { shared, run } = world(['Map', 'Date']);
  const property = (name: string) => run(`Object.keys(Object.getOwnPropertyDescriptor(globalThis, '${name}')).join()`);
  t.equal(property('Map'), 'value,writable,enumerable,configurable');
  t.equal(property('Set'), 'get,set,enumerable,configurable');
  shared.seal();
  t.equal(run('Object.isFrozen(Map.prototype) && Object.isFrozen(Object.getPrototypeOf(new Map().keys()))'), true);
  t.equal(run('Object.isFrozen(Date.prototype.getTime)'), true);
  t.end();
});

t.test('a getter that was kept from before gives nothing that is not frozen', (t) => {
  const { shared, run } = world();
  run(`
    const kept = Object.getOwnPropertyDescriptor(globalThis, 'Map').get;
    globalThis.Map = class Mine {};
  `);
  shared.seal();
  t.equal(run('Map.name'), 'Mine', 'a plugin may have its own');
  t.equal(run('const Found = kept(); Object.isFrozen(Found) && Object.isFrozen(Found.prototype)'), true);
  t.end();
});

t.test('a name reads as it always did', (t) => {
  const { shared, run } = world();
  shared.seal();
  t.equal(run('typeof Date'), 'function');
  t.equal(run('new Date(0).toISOString()'), '1970-01-01T00:00:00.000Z');
  t.strictSame(
    run(
      "const { writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(globalThis, 'Date'); [writable, enumerable, configurable].join()",
    ),
    'true,false,true',
  );
  t.equal(run('structuredCloneOf = new Map([[1, new Set([2])]]); structuredCloneOf.get(1).has(2)'), true);
  t.end();
});
