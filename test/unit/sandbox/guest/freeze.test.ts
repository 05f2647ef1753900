import vm from 'node:vm';
import t from 'tap';
import { collectIntrinsics, freezeIntrinsics } from '../../../../sandbox/guest/freeze.ts';

t.test('finds the shared objects of a realm', (t) => {
  const global = vm.runInNewContext('globalThis') as typeof globalThis;
  const objects = new Set(collectIntrinsics(global).map(({ object }) => object));
  for (const object of [
    global.Object,
    global.Object.prototype,
    global.Array.prototype,
    global.Math,
    global.JSON,
    global.Promise.prototype,
    Reflect.getPrototypeOf(global.Uint8Array.prototype),
  ]) {
    t.ok(objects.has(object as object));
  }
  t.notOk(objects.has(global.RegExp.prototype), 'left alone, for the speed of regular expressions');
  t.end();
});

t.test('what is assigned on inheriting objects becomes their own', (t) => {
  const prototype = { toString: () => 'old', other: 1 };
  freezeIntrinsics([{ object: prototype, assigned: ['toString', 'absent'], open: [] }]);
  t.ok(Object.isFrozen(prototype));
  const heir = Object.create(prototype) as { toString: () => string; other: number };
  t.equal(heir.toString(), 'old');
  const replacement = () => 'new';
  heir.toString = replacement;
  t.strictSame(Object.getOwnPropertyDescriptor(heir, 'toString'), {
    value: replacement,
    writable: true,
    enumerable: true,
    configurable: true,
  });
  t.throws(() => {
    heir.other = 2;
  }, TypeError);
  t.throws(() => {
    prototype.toString = replacement;
  }, /Cannot assign to read only property 'toString'/);
  t.throws(() => {
    (Object.freeze(Object.create(prototype)) as typeof heir).toString = replacement;
  }, /not extensible/);
  t.end();
});

t.test('open properties stay as they are', (t) => {
  const constructor = {
    stackTraceLimit: 10,
    fixed: 1,
    get computed() {
      return 2;
    },
  };
  Object.defineProperty(constructor, 'stays', { value: 1 });
  freezeIntrinsics([{ object: constructor, assigned: [], open: ['stackTraceLimit'] }]);
  constructor.stackTraceLimit = 5;
  t.equal(constructor.stackTraceLimit, 5);
  t.throws(() => {
    constructor.fixed = 2;
  }, TypeError);
  t.equal(Object.getOwnPropertyDescriptor(constructor, 'computed')?.configurable, false);
  const all = { a: 1, b: 2 };
  freezeIntrinsics([{ object: all, assigned: 'all', open: [] }]);
  t.strictSame(
    Object.values(Object.getOwnPropertyDescriptors(all)).map(({ get }) => typeof get),
    ['function', 'function'],
  );
  t.end();
});
