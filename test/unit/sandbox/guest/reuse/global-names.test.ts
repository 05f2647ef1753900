import t from 'tap';
import { GlobalNames, note } from '../../../../../sandbox/guest/reuse/global-names.ts';

function open(target: Record<string, unknown> = Object.create({ inherited: 1 })) {
  let changes = 0;
  // What it inherits from is frozen with it, and is this process's own otherwise.
  if (Reflect.getPrototypeOf(target) === Object.prototype) Object.setPrototypeOf(target, {});
  const names = new GlobalNames(target, () => {
    changes += 1;
  });
  const made: string[] = [];
  const define = (...given: string[]) =>
    names.define(given, (name, index) => {
      made.push(name);
      return `${name} ${index + 1}`;
    });
  return { target, names, made, define, changes: () => changes };
}

t.test('a name is an ordinary property from the first read on, or what was written', (t) => {
  const { target, made, define } = open();
  define('read', 'written', 'deleted');
  t.equal(target['read'], 'read 1');
  t.strictSame(Object.getOwnPropertyDescriptor(target, 'read'), {
    value: 'read 1',
    writable: true,
    enumerable: false,
    configurable: true,
  });
  target['written'] = 'mine';
  Reflect.deleteProperty(target, 'deleted');
  t.strictSame([target['written'], 'deleted' in target, made], ['mine', false, ['read']]);
  t.end();
});

t.test('who inherits from the object writes a property of its own, sealed or not', (t) => {
  const { target, names, define, changes } = open();
  define('name', 'read');
  t.equal(target['read'], 'read 2');
  const heirs = () => {
    const heir = Object.create(target) as Record<string, unknown>;
    for (const name of ['name', 'read']) {
      heir[name] = 'own';
      t.ok(Object.getOwnPropertyDescriptor(heir, name)?.enumerable, 'as an assignment makes it');
    }
    const other = Object.create(target) as Record<string, unknown>;
    t.strictSame([other['name'], Object.hasOwn(other, 'name')], ['name 1', false]);
  };
  heirs();
  names.seal();
  heirs();
  t.equal(changes(), 0);
  t.end();
});

t.test('once sealed, what was read, written or not read yet is there, and each change is told', (t) => {
  const { target, names, made, define, changes } = open({ own: 'plain' });
  define('read', 'unread', 'written', 'late');
  t.equal(target['read'], 'read 1');
  target['written'] = 'by the module';
  Object.defineProperty(target, 'computed', { get: () => 'by the module', configurable: true });
  names.seal();
  t.ok(Object.isFrozen(target));
  t.strictSame(
    [target['read'], target['unread'], target['unread'], target['written'], target['own'], target['computed']],
    ['read 1', 'unread 2', 'unread 2', 'by the module', 'plain', 'by the module'],
  );
  t.strictSame(made, ['read', 'unread'], 'each once');
  t.equal(changes(), 0);
  for (const name of ['read', 'unread', 'written', 'own', 'late']) target[name] = `${name} by a call`;
  t.equal(changes(), 5);
  t.equal(target['late'], 'late by a call');
  t.strictSame([target['read'], target['own']], ['read by a call', 'own by a call']);
  for (const name of Reflect.ownKeys(target)) {
    t.throws(() => Object.defineProperty(target, name, { get: () => 1, set: () => {} }), TypeError, String(name));
    t.throws(() => Reflect.deleteProperty(target, name) || Reflect.apply(fail, null, []), TypeError);
    const { get, set } = Object.getOwnPropertyDescriptor(target, name) ?? {};
    for (const one of [get, set]) t.ok(one === undefined || name === 'computed' || Object.isFrozen(one), String(name));
  }
  t.end();
});

t.test('what a call adds is there for the call, and told', (t) => {
  const { target, names, changes } = open();
  names.seal();
  const seen = { ...target };
  target['added'] = 1;
  target['added'] = 2;
  t.equal(target['added'], 2);
  t.ok('added' in target);
  t.equal(changes(), 2);
  t.equal(target['inherited'], 1);
  t.strictSame({ ...target }, seen, 'the object itself has no more of it');
  t.throws(() => Object.defineProperty(target, 'defined', { value: 1 }), TypeError);
  const beneath = Reflect.getPrototypeOf(target) as Record<string, unknown>;
  Reflect.deleteProperty(beneath, 'added');
  Object.defineProperty(beneath, 'defined', { value: 3, configurable: true });
  t.equal(changes(), 4);
  t.strictSame([target['added'], target['defined']], [undefined, 3]);
  t.notOk(Reflect.setPrototypeOf(beneath, null));
  t.notOk(Reflect.preventExtensions(beneath));
  t.throws(() => Object.setPrototypeOf(target, null), TypeError);
  t.end();
});

t.test('the names of the language stay what they are', (t) => {
  class Mine {}
  const { target, names, changes } = open({ Array, Map: Mine });
  names.seal();
  for (const name of ['Array', 'Map']) {
    t.throws(() => {
      target[name] = 1;
    }, TypeError);
  }
  t.strictSame(
    [target['Array'] === Array, target['Map'] === Mine],
    [true, true],
    'or what the module has made of them',
  );
  t.equal(changes(), 0);
  t.end();
});

t.test('a property whose changes are told', (t) => {
  const object = { kept: 1 };
  let changes = 0;
  note(object, 'kept', object.kept, () => changes++, true);
  t.strictSame({ ...object }, { kept: 1 });
  object.kept = 2;
  const heir = Object.create(object) as typeof object;
  heir.kept = 3;
  t.strictSame([object.kept, heir.kept, changes], [2, 3, 1]);
  t.end();
});

function fail(): never {
  throw new TypeError('it cannot be deleted');
}
