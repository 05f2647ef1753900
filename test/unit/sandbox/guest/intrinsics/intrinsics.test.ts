import vm from 'node:vm';
import t from 'tap';

import {
  collectIntrinsics,
  intrinsicsBehind,
  type NamedIntrinsics,
} from '../../../../../sandbox/guest/intrinsics/intrinsics.ts';

const context = vm.createContext();
const global = vm.runInContext('globalThis', context) as typeof globalThis;
const { atHand, behindNames } = collectIntrinsics(global);
const objects = new Set(atHand.map(({ object }) => object));
const behind = new Map(behindNames.map((group) => [group, intrinsicsBehind(group)]));
const objectsOf = (group: NamedIntrinsics | undefined) =>
  new Set((group && behind.get(group))?.map(({ object }) => object));

t.test('what syntax and errors lead to is at hand', (t) => {
  for (const object of [
    global.Object,
    global.Object.prototype,
    global.Array.prototype,
    global.Error.prototype,
    global.Promise.prototype,
  ]) {
    t.ok(objects.has(object));
  }
  const patterns = atHand.find(({ object }) => object === global.RegExp.prototype);
  t.match(patterns, { assigned: null, open: 'all' }, 'left alone, for the speed of regular expressions');
  const arrays = atHand.find(({ object }) => object === global.Array.prototype);
  const assigned = arrays?.assigned;
  t.notOk(typeof assigned !== 'object' || assigned?.['constructor'], 'for the speed of arrays');
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
    t.ok(objectsOf(group).has(global[name].prototype));
    t.equal(group?.values[group.names.indexOf(name)], global[name]);
    t.notOk(objects.has(global[name]));
  }
  for (const name of ['Math', 'JSON', 'Reflect', 'isNaN'] as const) t.ok(objectsOf(groupOf(name)).has(global[name]));
  t.ok(objectsOf(groupOf('Intl')).has(global.Intl.NumberFormat.prototype), 'a namespace with its constructors');
  t.equal(groupOf('Int8Array'), groupOf('Float64Array'), 'they share a prototype');
  const typed = Reflect.getPrototypeOf(global.Uint8Array.prototype);
  t.ok(objectsOf(groupOf('DataView')).has(typed as object));
  t.equal(objectsOf(groupOf('Map')).size, 3, 'the iterator’s too');
  t.end();
});

t.test('every constructor and namespace of the language is at hand, behind a name, or not in a guest', (t) => {
  const known = new Set([...objects, ...behindNames.flatMap((group) => [...objectsOf(group)])]);
  const left = Object.getOwnPropertyNames(global).filter((name) => {
    const value = Reflect.getOwnPropertyDescriptor(global, name)?.value as unknown;
    return ['object', 'function'].includes(typeof value) && !known.has(value as object) && name !== 'gc';
  });
  t.strictSame(
    left.filter((name) => !['globalThis', 'console'].includes(name)).sort(),
    ['Atomics', 'FinalizationRegistry', 'SharedArrayBuffer', 'WeakRef', 'WebAssembly'],
    'those that a guest does not have',
  );
  t.end();
});
