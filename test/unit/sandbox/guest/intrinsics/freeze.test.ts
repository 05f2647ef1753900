import t from 'tap';

import { Freezer } from '../../../../../sandbox/guest/intrinsics/freeze.ts';
import { keysOf } from '../../../../../sandbox/guest/intrinsics/intrinsics.ts';

t.test('what is assigned on inheriting objects becomes their own', (t) => {
  const prototype = { toString: () => 'old', other: 1 };
  new Freezer().freeze([{ object: prototype, assigned: keysOf('toString', 'absent'), open: null }]);
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
  new Freezer().freeze([{ object: constructor, assigned: null, open: keysOf('stackTraceLimit') }]);
  constructor.stackTraceLimit = 5;
  t.equal(constructor.stackTraceLimit, 5);
  t.throws(() => {
    constructor.fixed = 2;
  }, TypeError);
  t.equal(Object.getOwnPropertyDescriptor(constructor, 'computed')?.configurable, false);
  const all = { a: 1, b: 2 };
  new Freezer().freeze([{ object: all, assigned: 'all', open: null }]);
  t.strictSame(
    Object.values(Object.getOwnPropertyDescriptors(all)).map(({ get }) => typeof get),
    ['function', 'function'],
  );
  t.end();
});

t.test('methods are frozen with the object that they are on, and so is what stands in for them', (t) => {
  const descriptorsOf = (object: object) => Object.values(Object.getOwnPropertyDescriptors(object));
  const functionsOf = (object: object) =>
    descriptorsOf(object)
      .flatMap(({ value, get, set }) => [value, get, set] as unknown[])
      .filter((one) => typeof one === 'function');
  const make = () => ({
    method: () => 1,
    toString: () => 'x',
    get read() {
      return 1;
    },
    set written(_: number) {},
  });
  const whole = make();
  new Freezer().freeze([{ object: whole, assigned: keysOf('toString'), open: null }]);
  t.equal(functionsOf(whole).length, 5, 'with a getter and a setter for toString');
  const constructor = Object.assign(() => 1, { prototype: () => 2 });
  new Freezer().freeze([{ object: { constructor, prototype: constructor.prototype }, assigned: null, open: null }]);
  t.notOk(Object.isFrozen(constructor), 'a class is frozen in its own way');
  t.notOk(Object.isFrozen(constructor.prototype));
  const open = make();
  new Freezer().freeze([{ object: open, assigned: null, open: 'all' }]);
  t.ok(Object.isExtensible(open), 'where the object itself is left open');
  t.equal(Object.getOwnPropertyDescriptor(open, 'toString')?.writable, true);
  for (const one of [...functionsOf(whole), ...functionsOf(open)]) t.ok(Object.isFrozen(one), String(one));
  t.end();
});

t.test('two objects of one key keep their own values, and neither takes another', (t) => {
  const base = { name: 'base' };
  const derived = Object.assign(Object.create(base) as { name: string }, { name: 'derived' });
  const freezer = new Freezer();
  freezer.freeze([{ object: base, assigned: keysOf('name'), open: null }]);
  freezer.freeze([{ object: derived, assigned: keysOf('name'), open: null }]);
  t.strictSame([base.name, derived.name], ['base', 'derived']);
  for (const shared of [base, derived]) {
    t.throws(() => {
      shared.name = 'mine';
    }, /Cannot assign to read only property 'name'/);
  }
  const heir = Object.create(derived) as { name: string };
  heir.name = 'heir';
  t.strictSame([base.name, derived.name, heir.name], ['base', 'derived', 'heir']);
  t.end();
});
