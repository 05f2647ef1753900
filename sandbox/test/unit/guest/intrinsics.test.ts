import vm from 'node:vm';
import t from 'tap';
import { Freezer } from '../../../guest/intrinsics/freeze.ts';
import { freezeSegments, IntrinsicsFreezer } from '../../../guest/intrinsics/frozen-intrinsics.ts';
import {
  collectIntrinsics,
  intrinsicsBehind,
  type NamedIntrinsics,
  propertyNames,
} from '../../../guest/intrinsics/intrinsics.ts';
import * as primordials from '../../../guest/intrinsics/primordials.ts';
import { defineLazily } from '../../../guest/lazy-property.ts';
import { GlobalNames } from '../../../guest/reuse/global-names.ts';

t.test('what was captured does not follow later changes', (t) => {
  const map = new primordials.SafeMap([['a', 1]]);
  const weak = new primordials.SafeWeakMap<object, number>();
  const key = {};
  weak.set(key, 2);
  // Put back before anything is asserted: the test's own tools use these as well.
  const { slice } = String.prototype;
  const { get } = Map.prototype;
  String.prototype.slice = () => 'poisoned';
  Map.prototype.get = () => 'poisoned';
  const seen = [primordials.stringSlice('abc', 1), map.get('a'), map.size, weak.get(key)];
  String.prototype.slice = slice;
  Map.prototype.get = get;
  t.strictSame(seen, ['bc', 1, 1, 2]);
  t.end();
});

t.test('quotes text and knows raw JSON', (t) => {
  t.equal(primordials.quoteJson('a"\n\ud800'), '"a\\"\\n\\ud800"');
  t.equal(primordials.isRawJson({}), false);
  t.equal(primordials.isRawJson((JSON as unknown as { rawJSON(text: string): object }).rawJSON('1')), true);
  t.end();
});

t.test('the methods take their receiver first', async (t) => {
  t.equal(primordials.regExpExec(/b/, 'abc')?.index, 1);
  t.equal(primordials.isPrototypeOf(primordials.ErrorPrototype, new TypeError()), true);
  const seen: unknown[] = [];
  primordials.mapForEach(new Map([[1, 2]]), (value, key) => seen.push([key, value]));
  primordials.setForEach(new Set([3]), (value) => seen.push(value));
  t.strictSame(seen, [[1, 2], 3]);
  t.equal(await new Promise((resolve) => primordials.promiseThen(Promise.resolve(4), resolve)), 4);
});

t.test('what is assigned on inheriting objects becomes their own', (t) => {
  const prototype = { toString: () => 'old', other: 1 };
  new Freezer().freeze([{ object: prototype, assigned: propertyNames('toString', 'absent'), open: null }]);
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
  new Freezer().freeze([{ object: constructor, assigned: null, open: propertyNames('stackTraceLimit') }]);
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
  new Freezer().freeze([{ object: whole, assigned: propertyNames('toString'), open: null }]);
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
  freezer.freeze([{ object: base, assigned: propertyNames('name'), open: null }]);
  freezer.freeze([{ object: derived, assigned: propertyNames('name'), open: null }]);
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

t.test('intrinsics', async (t) => {
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
});

/** Threat: what one call puts on an object that all code of an isolate shares, and the next call meets. */
t.test('frozen intrinsics', async (t) => {
  function world(mentioned: string[] = []) {
    const context = vm.createContext();
    // Whoever looks first has it made, in a realm of their own.
    const global = vm.runInContext('Temporal; globalThis', context) as typeof globalThis;
    const shared = new IntrinsicsFreezer(global, new GlobalNames(global, () => {}), mentioned);
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
    const property = (name: string) =>
      run(`Object.keys(Object.getOwnPropertyDescriptor(globalThis, '${name}')).join()`);
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
});

t.test('what a segmenter gives leads to nothing that is not frozen, and is what it always was', (t) => {
  const intl = vm.runInNewContext('Intl') as typeof Intl;
  freezeSegments(intl as never, new Freezer());
  const segmenter = new intl.Segmenter('en', { granularity: 'word' });
  const segments = segmenter.segment('two words');
  t.strictSame(
    Array.from(segments, ({ segment }) => segment),
    ['two', ' ', 'words'],
  );
  t.ok(Object.isFrozen(Object.getPrototypeOf(segments)));
  t.ok(Object.isFrozen(Object.getPrototypeOf(segments[Symbol.iterator]())));
  t.equal(intl.Segmenter.prototype.segment.name, 'segment');
  t.throws(() => intl.Segmenter.prototype.segment.call({} as never, 'a'), { name: 'TypeError' });
  freezeSegments({}, new Freezer());
  t.end();
});

t.test('who inherits from the object writes a property of its own', (t) => {
  const target: Record<string, unknown> = {};
  defineLazily(target, ['name'], () => 'made');
  const heir = Object.create(target) as Record<string, unknown>;
  heir['name'] = 'own';
  t.strictSame([heir['name'], target['name']], ['own', 'made']);
  t.ok(Object.getOwnPropertyDescriptor(heir, 'name')?.enumerable, 'as an assignment makes it');
  const other = Object.create(target) as Record<string, unknown>;
  t.equal(other['name'], 'made');
  t.notOk(Object.hasOwn(other, 'name'));
  t.end();
});

t.test('a name is an ordinary property from the first read on, or what was written', (t) => {
  let made = 0;
  const target: Record<string, unknown> = {};
  defineLazily(target, ['read', 'written', 'deleted'], (name, index) => {
    made += 1;
    return `${name} ${index + 1}`;
  });
  t.equal(target['read'], 'read 1');
  t.strictSame(Object.getOwnPropertyDescriptor(target, 'read'), {
    value: 'read 1',
    writable: true,
    enumerable: false,
    configurable: true,
  });
  target['written'] = 'mine';
  delete target['deleted'];
  t.strictSame([target['written'], 'deleted' in target, made], ['mine', false, 1]);
  t.end();
});

t.test('on an object that is frozen meanwhile a name is made once, and stays', (t) => {
  let made = 0;
  const target: Record<string, unknown> = {};
  defineLazily(target, ['name'], () => {
    made += 1;
    return {};
  });
  Object.freeze(target);
  t.equal(target['name'], target['name']);
  t.equal(made, 1);
  t.throws(
    () => {
      target['name'] = 1;
    },
    { name: 'TypeError', message: /read only property 'name'/ },
  );
  t.end();
});
