import t from 'tap';
import { Freezer } from '../../../../../sandbox/guest/intrinsics/freeze.ts';

t.test('what is assigned on inheriting objects becomes their own', (t) => {
  const prototype = { toString: () => 'old', other: 1 };
  new Freezer().freeze([{ object: prototype, assigned: ['toString', 'absent'], open: [] }]);
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
  new Freezer().freeze([{ object: constructor, assigned: [], open: ['stackTraceLimit'] }]);
  constructor.stackTraceLimit = 5;
  t.equal(constructor.stackTraceLimit, 5);
  t.throws(() => {
    constructor.fixed = 2;
  }, TypeError);
  t.equal(Object.getOwnPropertyDescriptor(constructor, 'computed')?.configurable, false);
  const all = { a: 1, b: 2 };
  new Freezer().freeze([{ object: all, assigned: 'all', open: [] }]);
  t.strictSame(
    Object.values(Object.getOwnPropertyDescriptors(all)).map(({ get }) => typeof get),
    ['function', 'function'],
  );
  t.end();
});

t.test('two objects of one key keep their own values, and neither takes another', (t) => {
  const base = { name: 'base' };
  const derived = Object.assign(Object.create(base) as { name: string }, { name: 'derived' });
  const freezer = new Freezer();
  freezer.freeze([{ object: base, assigned: ['name'], open: [] }]);
  freezer.freeze([{ object: derived, assigned: ['name'], open: [] }]);
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
