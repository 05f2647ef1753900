import t from 'tap';
import { Freezer } from '../../../guest/intrinsics/freeze.ts';
import { defineLazily } from '../../../guest/lazy-property.ts';
import { GlobalNames, note } from '../../../guest/reuse/global-names.ts';
import { ReachableObjects } from '../../../guest/reuse/reachable-objects.ts';
import { OpenWorld, PropertyFingerprint, ReusedGlobals } from '../../../guest/reuse/reused-globals.ts';

t.test('global names', async (t) => {
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
      for (const one of [get, set])
        t.ok(one === undefined || name === 'computed' || Object.isFrozen(one), String(name));
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
});

/** Threat: an object of the runtime by which one call reaches the next. */
t.test('reachable objects', async (t) => {
  /** Those of this process, which must go on. */
  const OF_LANGUAGE = new Set<object>([Object.prototype, Function.prototype, Error, Error.prototype, Array.prototype]);

  function open() {
    const state = { changes: 0 };
    const objects = new ReachableObjects(
      new Freezer(),
      () => {
        state.changes += 1;
      },
      (object) => OF_LANGUAGE.has(object),
    );
    objects.open();
    return { objects, state };
  }

  class Base {
    inherited(): number {
      return 1;
    }
  }

  class Derived extends Base {
    static made = { deep: [{ deeper: true }] };

    get computed(): number {
      return 2;
    }

    override toString(): string {
      return 'derived';
    }
  }

  t.test('all that an object leads to is frozen, when the world is sealed', (t) => {
    const { objects } = open();
    const inner = { name: 'inner' };
    const bag = { Derived, inner, again: inner, method: () => 1, self: undefined as unknown };
    bag.self = bag;
    t.equal(objects.add(bag), bag);
    t.notOk(Object.isFrozen(bag));
    objects.seal();
    const { get } = Object.getOwnPropertyDescriptor(Derived.prototype, 'computed') ?? {};
    for (const one of [
      ...[bag, inner, bag.method, Derived, Derived.prototype, Derived.made, Derived.made.deep, Derived.made.deep[0]],
      ...[Base, Base.prototype, Base.prototype.inherited, get],
    ]) {
      t.ok(Object.isFrozen(one), String(one));
    }
    t.notOk(Object.isFrozen(Object.prototype), 'and nothing of the language');
    t.strictSame([new Derived().inherited(), new Derived().computed, `${new Derived()}`], [1, 2, 'derived']);

    class Own extends Derived {}
    (Own.prototype as { toString: unknown }).toString = () => 'own';
    const made = new Own();
    t.equal(`${made}`, 'own', 'classes of others are built on it by assignment');
    const late = objects.add({ made: { afterwards: {} } });
    t.ok(Object.isFrozen(late.made.afterwards), 'what comes later is frozen at once');
    t.end();
  });

  t.test('who breaks off anywhere and asks again gets nothing that is not frozen', (t) => {
    const freezer = new Freezer();
    const freezeOne = freezer.freezeOne.bind(freezer);
    let left = 0;
    freezer.freezeOne = (intrinsic) => {
      left -= 1;
      if (left < 0) throw new RangeError('Maximum call stack size exceeded');
      freezeOne(intrinsic);
    };
    const objects = new ReachableObjects(
      freezer,
      () => {},
      (object) => OF_LANGUAGE.has(object),
    );
    objects.open();
    objects.seal();
    for (let breaksAfter = 0; breaksAfter < 6; breaksAfter++) {
      const shared = { shared: {} };
      const root = { left: { shared, own: {} }, right: { shared } };
      left = breaksAfter;
      t.throws(() => objects.add(root), RangeError, `${breaksAfter}`);
      left = 100;
      objects.add(root);
      for (const one of [root, root.left, root.left.own, root.right, shared, shared.shared]) {
        t.ok(Object.isFrozen(one), `${breaksAfter}`);
      }
    }
    t.end();
  });

  t.test('what is noted may be replaced, and that is told; what is left is left', (t) => {
    for (const sealedFirst of [true, false]) {
      const { objects, state } = open();
      const env = { A: '1' };
      const process = { title: 'plugin', on: () => 1, versions: { node: '26' }, env };
      objects.leave(env);
      if (sealedFirst) objects.seal();
      objects.addNoted(process);
      if (!sealedFirst) objects.seal();
      t.strictSame({ ...process }.title, 'plugin');
      t.ok(Object.isFrozen(process.versions));
      t.ok(Object.isFrozen(process.on));
      (process.env as Record<string, string>)['B'] = '2';
      t.equal(state.changes, 0);
      process.title = 'mine';
      t.strictSame([process.title, state.changes], ['mine', 1]);
      Object.assign(process, { added: 1 });
      t.strictSame([(process as { added?: number }).added, state.changes], [1, 2]);
      t.throws(() => Object.defineProperty(process, 'title', { value: 1 }), TypeError);
    }
    t.end();
  });

  t.test('what the module puts on them is its own, and where nobody seals nothing is kept', (t) => {
    const { objects } = open();
    const bag: Record<string, unknown> = objects.add({ ours: {} });
    const noted: Record<string, unknown> = objects.addNoted({ ours: {} });
    const theirs = { counter: 0 };
    bag['theirs'] = theirs;
    noted['theirs'] = theirs;
    objects.seal();
    t.notOk(Object.isFrozen(theirs));
    for (const one of [bag, bag['ours'], noted['ours']]) t.ok(Object.isFrozen(one));
    const bytes = objects.add({ bytes: new Uint8Array(1) });
    t.ok(Object.isFrozen(bytes), 'bytes cannot be frozen, and what has them is');
    const unused = new ReachableObjects(new Freezer(), () => {});
    const left = unused.addNoted(unused.add({}));
    unused.seal();
    t.notOk(Object.isFrozen(left));
    t.end();
  });
});

t.test('fingerprint', async (t) => {
  const patterns = () => {
    const symbol = Symbol.for('fingerprint');
    return {
      exec: () => 1,
      data: Number.POSITIVE_INFINITY,
      [symbol]: 1,
      get flags() {
        return '';
      },
    };
  };

  t.test('an object is as it was, also after something was changed and put back', (t) => {
    const object = patterns();
    const fingerprint = new PropertyFingerprint(object);
    t.ok(fingerprint.matches());
    const { exec } = object;
    object.exec = () => 2;
    t.notOk(fingerprint.matches());
    object.exec = exec;
    t.ok(fingerprint.matches());
    t.ok(new PropertyFingerprint({}).matches());
    t.ok(new PropertyFingerprint(Object.freeze({ a: 1 })).matches(), 'one that was frozen before');
    t.end();
  });

  t.test('every way to change an object shows', (t) => {
    const changes: Record<string, (object: Record<string | symbol, unknown>) => void> = {
      'another property': (object) => Object.assign(object, { planted: 1 }),
      'one that is not listed': (object) => Object.defineProperty(object, 'planted', { value: 1 }),
      'one with a symbol': (object) => Object.assign(object, { [Symbol('planted')]: 1 }),
      'another value': (object) => Object.assign(object, { exec: 1 }),
      'another value under a symbol': (object) => Object.assign(object, { [Symbol.for('fingerprint')]: 2 }),
      'a getter for a value': (object) =>
        Object.defineProperty(object, 'data', { get: () => Number.POSITIVE_INFINITY }),
      'a value for a getter': (object) => Object.defineProperty(object, 'flags', { value: '' }),
      'another getter': (object) => Object.defineProperty(object, 'flags', { get: () => '' }),
      'a setter': (object) => Object.defineProperty(object, 'flags', { set: () => {} }),
      'one that cannot be written': (object) => Object.defineProperty(object, 'exec', { writable: false }),
      'one that is not listed any more': (object) => Object.defineProperty(object, 'exec', { enumerable: false }),
      'one that is gone': (object) => Reflect.deleteProperty(object, 'exec'),
      'another prototype': (object) => Object.setPrototypeOf(object, {}),
      'no further property': (object) => Object.preventExtensions(object),
      'another order': (object) => {
        const { exec } = object;
        Reflect.deleteProperty(object, 'exec');
        object['exec'] = exec;
      },
      'one for another': (object) => {
        Reflect.deleteProperty(object, 'exec');
        object['planted'] = 1;
      },
    };
    for (const [what, change] of Object.entries(changes)) {
      const object = patterns();
      const fingerprint = new PropertyFingerprint(object);
      change(object);
      t.notOk(fingerprint.matches(), what);
    }
    t.end();
  });
});

t.test('what a module changes in an open world shows, and what it only reads does not', (t) => {
  const open = () => {
    const object = { method: () => 1, nan: Number.NaN };
    defineLazily(object, ['late'], () => 'made');
    const later = { own: () => 1 };
    let watch: (object: object) => void = () => {};
    const world = new OpenWorld(
      { all: () => [] },
      {
        watch(given) {
          watch = given;
        },
      },
      [object],
    );
    watch(later);
    return { world, object: object as typeof object & { late: unknown }, later };
  };
  type Opened = ReturnType<typeof open>;
  const changes: Record<string, (opened: Opened) => void> = {
    'a method': ({ object }) => Reflect.set(object, 'method', () => 2),
    'a property of a method': ({ object }) => Reflect.set(object.method, 'mine', 1),
    'a property in place of one that was never read': ({ object }) => Reflect.set(object, 'late', 'mine'),
    'one that was read': ({ object }) => Reflect.set(object, 'late', [object.late]),
    'an object that was made later': ({ later }) => Reflect.set(later.own, 'mine', 1),
    'another property': ({ object }) => Reflect.defineProperty(object, 'mine', { value: 1 }),
  };
  for (const [what, change] of Object.entries(changes)) {
    const opened = open();
    change(opened);
    t.notOk(opened.world.isAsItWas(), what);
  }
  const { world, object } = open();
  t.ok(world.isAsItWas());
  t.equal(object.late, 'made');
  t.ok(world.isAsItWas(), 'read');
  t.end();
});

// The language is this process's own here: the real thing is tried in isolates, see isolate-reuse.test.ts.
t.test('what cannot be frozen is compared, and what was matched last is forgotten', (t) => {
  const sealed: string[] = [];
  const part = (name: string) => ({ seal: () => sealed.push(name) });
  const env: Record<string, string> = { A: '1' };
  const { stackTraceLimit } = Error;
  const [intrinsics, objects, names] = [part('intrinsics'), part('objects'), part('names')];
  const world = new ReusedGlobals({ names, objects, intrinsics, env });
  world.seal();
  t.strictSame(sealed, ['intrinsics', 'objects', 'names'], 'what belongs to the language first');
  t.ok(world.beginCall(), 'the first');
  /secret/.exec('a secret');
  const isServed = world.beginCall();
  const { lastMatch } = RegExp as unknown as { lastMatch: string };
  t.ok(isServed);
  t.equal(lastMatch, '');
  const changes: [change: () => void, restore: () => void][] = [
    [() => Object.assign(env, { B: '2' }), () => Reflect.deleteProperty(env, 'B')],
    [
      () => {
        Error.stackTraceLimit = stackTraceLimit + 1;
      },
      () => {
        Error.stackTraceLimit = stackTraceLimit;
      },
    ],
    [
      () => Object.defineProperty(RegExp.prototype, 'planted', { value: 1, configurable: true }),
      () => Reflect.deleteProperty(RegExp.prototype, 'planted'),
    ],
  ];
  for (const [change, restore] of changes) {
    change();
    t.notOk(world.beginCall());
    restore();
    t.ok(world.beginCall());
  }
  t.equal(Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace')?.configurable, false);
  t.end();
});
