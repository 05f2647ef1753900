import vm from 'node:vm';
import t from 'tap';
import { collectIntrinsics } from '../../../../../sandbox/guest/intrinsics/intrinsics.ts';

const context = vm.createContext();
const global = vm.runInContext('globalThis', context) as typeof globalThis;
const { atHand, behindNames } = collectIntrinsics(global);
const objects = new Set(atHand.map(({ object }) => object));

t.test('what syntax and errors lead to is at hand', (t) => {
  for (const object of [
    global.Object,
    global.Object.prototype,
    global.Array.prototype,
    global.Error.prototype,
    global.Math,
    global.JSON,
    global.Promise.prototype,
  ]) {
    t.ok(objects.has(object));
  }
  t.notOk(objects.has(global.RegExp.prototype), 'left alone, for the speed of regular expressions');
  t.end();
});

t.test('what only syntax leads to is of that realm, and not of the one that asks', (t) => {
  const syntax = `[function* () {}, async () => {}, async function* () {}, [].values(), ''[Symbol.iterator]()]`;
  const own = vm.runInContext(`${syntax}.map(Object.getPrototypeOf)`, context) as object[];
  for (const [index, prototype] of own.entries()) t.ok(objects.has(prototype), `sample ${index}`);
  const { eval: evaluate } = globalThis;
  const others = (evaluate(syntax) as object[]).map((sample) => Reflect.getPrototypeOf(sample));
  for (const [index, prototype] of others.entries()) t.notOk(objects.has(prototype as object), `sample ${index}`);
  t.end();
});

t.test('the rest lies behind names, each with what belongs to it', (t) => {
  const groupOf = (name: string) => behindNames.find(({ names }) => names.includes(name));
  for (const name of ['Date', 'Map', 'Uint8Array', 'ArrayBuffer'] as const) {
    const group = groupOf(name);
    t.ok(group?.intrinsics.some(({ object }) => object === global[name].prototype));
    t.equal(group?.values[group.names.indexOf(name)], global[name]);
    t.notOk(objects.has(global[name]));
  }
  t.equal(groupOf('Int8Array'), groupOf('Float64Array'), 'they share a prototype');
  const typed = Reflect.getPrototypeOf(global.Uint8Array.prototype);
  t.ok(groupOf('DataView')?.intrinsics.some(({ object }) => object === typed));
  const iterator = Reflect.getPrototypeOf(new global.Map().keys());
  t.not(iterator, undefined);
  t.equal(groupOf('Map')?.intrinsics.length, 3);
  t.end();
});

t.test('every constructor and namespace of the language is at hand, behind a name, or not frozen on purpose', (t) => {
  const known = new Set([
    ...objects,
    ...behindNames.flatMap(({ intrinsics }) => intrinsics.map(({ object }) => object)),
  ]);
  const left = Object.getOwnPropertyNames(global).filter((name) => {
    const value = Reflect.getOwnPropertyDescriptor(global, name)?.value as unknown;
    return /^[A-Z]/.test(name) && ['object', 'function'].includes(typeof value) && !known.has(value as object);
  });
  t.strictSame(
    left.filter((name) => !['Temporal', 'Infinity', 'NaN'].includes(name)).sort(),
    ['Atomics', 'FinalizationRegistry', 'SharedArrayBuffer', 'WeakRef', 'WebAssembly'],
    'those that a guest does not have',
  );
  t.end();
});
