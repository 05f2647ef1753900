/** Threat: an object of the runtime by which one call reaches the next. */
import t from 'tap';
import { Freezer } from '../../../../../sandbox/guest/intrinsics/freeze.ts';
import { ReachableObjects } from '../../../../../sandbox/guest/reuse/reachable-objects.ts';

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
