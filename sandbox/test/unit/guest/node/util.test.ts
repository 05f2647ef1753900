import assert from 'node:assert';
import * as nodeUtil from 'node:util';
import { types } from 'node:util';
import t from 'tap';
import { create } from '../../../../guest/lazy/inspect.ts';
import { type Comparison, isDeepEqual } from '../../../../guest/node/deep-equal.ts';
import { createTypeChecks } from '../../../../guest/node/type-checks.ts';
import { callbackify, createUtil, deprecate, inherits, promisify } from '../../../../guest/node/util.ts';
import { sameAsNode } from '../../../support/same-as-node.ts';

t.test('deep equal', async (t) => {
  class A {
    a = 1;
  }
  const cycle = () => {
    const object: Record<string, unknown> = { a: 1 };
    object['self'] = object;
    return object;
  };
  const error = (message: string, more: object = {}, cause?: unknown) =>
    Object.assign(new Error(message, cause === undefined ? {} : { cause }), more);

  const VALUES: (() => unknown)[] = [
    ...[() => 1, () => '1', () => true, () => Number.NaN, () => null, () => undefined, () => 0, () => -0, () => 1n],
    ...[
      () => ({}),
      () => [],
      () => ({ a: 1 }),
      () => ({ a: '1' }),
      () => ({ b: 1 }),
      () => ({ a: 1, b: undefined }),
      () => new A(),
    ],
    ...[
      () => [1, 2],
      () => [2, 1],
      () => [1, undefined],
      () => Object.assign([1, 2], { x: 1 }),
      () => ({ 0: 1, 1: 2, length: 2 }),
    ],
    ...[
      () => new Date(1),
      () => new Date(2),
      () => /a/g,
      () => /a/i,
      () => new Set([1, { a: 1 }]),
      () => new Set([{ a: 1 }, 1]),
    ],
    ...[() => new Set([1]), () => new Map([[{ a: 1 }, 2]]), () => new Map([[{ a: 1 }, 3]]), () => new Map([['a', 1]])],
    ...[() => Buffer.from('a'), () => new Uint8Array([97]), () => new Float32Array([-0]), () => new Float32Array([0])],
    ...[() => new Uint8Array([1]).buffer, () => new Uint8Array([2]).buffer, () => new DataView(new ArrayBuffer(1))],
    ...[
      () => error('x'),
      () => error('y'),
      () => error('x', { code: 1 }),
      () => error('x', {}, 'cause'),
      () => new TypeError('x'),
    ],
    ...[
      () => new AggregateError([1], 'x'),
      () => new AggregateError([2], 'x'),
      () => Object(1),
      () => Object('1'),
      cycle,
    ],
    ...[
      () => ({ [Symbol.for('s')]: 1 }),
      () => ({ [Symbol.for('s')]: 2 }),
      () => Object.create(null, { a: { value: 1, enumerable: true } }),
    ],
    ...[
      () => ({ a: { b: [1, { c: 2 }] } }),
      () => ({ a: { b: [1, { c: 3 }] } }),
      () => A,
      () => Object.create({ a: 1 }),
    ],
  ];

  function holds(check: (a: unknown, b: unknown) => void): (a: unknown, b: unknown) => boolean {
    return (a, b) => {
      try {
        check(a, b);
        return true;
      } catch {
        return false;
      }
    };
  }

  t.test('every two values are as equal as in Node', (t) => {
    const ways: [Comparison, (a: unknown, b: unknown) => boolean][] = [
      [{ strict: true }, holds(assert.deepStrictEqual)],
      [{ strict: false }, holds(assert.deepEqual)],
    ];
    for (const [how, node] of ways) {
      for (const [row, a] of VALUES.entries()) {
        const ours = VALUES.map((b) => isDeepEqual(a(), b(), how));
        const theirs = VALUES.map((b) => node(a(), b()));
        t.strictSame(ours, theirs, `${how.strict ? 'strict' : 'loose'} ${row}: ${String(a)}`);
      }
    }
    t.end();
  });

  t.test('a part of another, and prototypes that do not count', (t) => {
    const partial = (a: unknown, b: unknown) => isDeepEqual(a, b, { strict: true, partial: true });
    t.ok(partial({ a: 1, b: { c: 2, d: 3 } }, { b: { c: 2 } }));
    t.ok(partial([1, 2, 3], [1, 3]));
    t.ok(
      partial(
        new Map([
          ['a', 1],
          ['b', 2],
        ]),
        new Map([['b', 2]]),
      ),
    );
    t.ok(partial(new Set([1, 2]), new Set([2])));
    t.notOk(partial({ a: 1 }, { a: 1, b: 2 }));
    t.notOk(partial([1, 2], [2, 1]));
    t.notOk(partial([1], [1, 1]));
    t.ok(isDeepEqual(new A(), { a: 1 }, { strict: true, skipPrototype: true }));
    t.notOk(isDeepEqual(new WeakMap(), new WeakMap(), { strict: true }));
    t.end();
  });
});

t.test('function wrappers', async (t) => {
  type Module = Pick<typeof nodeUtil, 'promisify' | 'callbackify' | 'deprecate' | 'inherits'>;
  const ours = { promisify, callbackify, deprecate, inherits } as unknown as Module;
  type Callback = (error: unknown, value?: unknown) => void;

  t.test('functions of the one kind become the other as in Node', async (t) => {
    await sameAsNode<Module>(t, ours, nodeUtil, {
      resolves: (module) => module.promisify((a: number, callback: Callback) => callback(null, a + 1))(1),
      rejects: (module) => module.promisify((callback: Callback) => callback(new TypeError('mine')))(),
      'keeps this'(module) {
        const object = {
          value: 7,
          get: module.promisify(function (this: { value: number }, done: Callback) {
            done(null, this.value);
          }),
        };
        return object.get();
      },
      'a way of its own'(module) {
        const own = Object.assign(() => {}, { [Symbol.for('nodejs.util.promisify.custom')]: () => 'own' });
        return module.promisify(own as never)();
      },
      'again the same': (module) => {
        const promised = module.promisify((done: Callback) => done(null));
        return [module.promisify(promised as never) === (promised as unknown), promised.name];
      },
      'no function': (module) => module.promisify(5 as never),
      'a way that is none': (module) =>
        module.promisify(Object.assign(() => {}, { [Symbol.for('nodejs.util.promisify.custom')]: 5 }) as never),
      'calls back': (module) =>
        new Promise((resolve) => {
          const later = (a: number) => Promise.resolve(a * 2);
          module.callbackify(later)(4, (error, value) => resolve([error, value]));
        }),
      'calls back with the error': (module) =>
        new Promise((resolve) => {
          module.callbackify(async () => Promise.reject(new Error('mine')))((error) => resolve(error.message));
        }),
      'calls back with what is no error': (module) =>
        new Promise((resolve) => {
          module.callbackify(
            // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- that is what is tried
            async () => Promise.reject(null),
          )((error) => resolve([error.message, (error as { code?: string }).code]));
        }),
      'its name and length': (module) => {
        const called = module.callbackify(async function original(_: number) {});
        return [called.name, called.length];
      },
      'no callback': (module) => (module.callbackify(async () => {}) as unknown as (x: number) => void)(5),
      inherits(module) {
        function Child() {}
        class Parent {
          method() {
            return 'inherited';
          }
        }
        module.inherits(Child, Parent);
        const made = new (Child as unknown as new () => Parent)();
        return [made.method(), (Child as unknown as { super_: unknown }).super_ === Parent];
      },
      'inherits from nothing': (module) =>
        module.inherits(
          () => {},
          () => {},
        ),
    });
  });

  t.test('what is deprecated says so once', (t) => {
    const lines = t.capture(console, 'warn');
    const old = deprecate((a: number) => a + 1, 'use another', 'DEP1') as (a: number) => number;
    t.equal(old(1) + old(2), 5);
    const same = deprecate(class Old {}, 'use another', 'DEP1') as unknown as new () => object;
    t.ok(new same() instanceof same);
    (deprecate(() => 1, 'without a code') as () => number)();
    t.strictSame(
      lines().map(({ args }) => args[0]),
      ['[DEP1] DeprecationWarning: use another', 'DeprecationWarning: without a code'],
    );
    t.throws(() => deprecate(5, ''), { code: 'ERR_INVALID_ARG_TYPE' });
    t.throws(() => deprecate(() => {}, '', 5), { code: 'ERR_INVALID_ARG_TYPE' });
    t.end();
  });
});

t.test('tools', async (t) => {
  const ours = createUtil() as unknown as typeof nodeUtil;

  t.test('the smaller functions do as Node’s', async (t) => {
    await sameAsNode(t, ours, nodeUtil, {
      equal: (module) => [module.isDeepStrictEqual({ a: [1] }, { a: [1] }), module.isDeepStrictEqual([1], ['1'])],
      arrays: (module) => [module.isArray([]), module.isArray({})],
      extend: (module) =>
        (module as unknown as { _extend: (a: object, b: unknown) => object })._extend({ a: 1 }, { b: 2 }),
      text: (module) => module.toUSVString('a\ud800'),
      logs: (module) => [typeof module.debuglog('x'), module.debuglog('x').enabled, module.debuglog('x')('unsaid')],
      async aborted(module) {
        const controller = new AbortController();
        const waits = module.aborted(controller.signal, {});
        controller.abort();
        return [typeof (await waits), await module.aborted(AbortSignal.abort(), {})];
      },
      'no signal': (module) => module.aborted(5 as never, {}),
      types: (module) => module.types.isMap(new Map()),
      signals: (module) => [
        module.transferableAbortController() instanceof AbortController,
        module.transferableAbortSignal(AbortSignal.abort()).aborted,
      ],
    });
    t.equal(ours.isDeepStrictEqual({ a: 1 }, Object.create(null, { a: { value: 1, enumerable: true } })), false);
    (ours as unknown as { markPromiseAsHandled(p: unknown): void }).markPromiseAsHandled(
      Promise.reject(new Error('x')),
    );
    let told: unknown;
    ours.debuglog('x', (log) => {
      told = log;
    });
    t.type(told, 'function');
  });
});

t.test('type checks', async (t) => {
  const checks = createTypeChecks();
  /** Nothing but the engine can tell these. */
  const UNKNOWN = ['isProxy', 'isExternal', 'isSharedArrayBuffer', 'isEventTarget'];

  const VALUES: unknown[] = [
    ...[undefined, null, 5, 'x', true, 5n, Symbol('s'), {}, [], () => 1, class {}, async () => 1, function* () {}],
    ...[
      async function* () {},
      (function* () {})(),
      new Date(),
      /x/,
      RegExp.prototype,
      new Map(),
      new Set(),
      new WeakMap(),
    ],
    ...[new WeakSet(), new Map().keys(), new Set().values(), Promise.resolve(), new Error('x'), new TypeError('x')],
    ...[new ArrayBuffer(1), new DataView(new ArrayBuffer(1)), new Uint8Array(1), new Float64Array(1), Buffer.alloc(1)],
    ...[new BigInt64Array(1), Object(1), Object('x'), Object(false), Object(1n), Object(Symbol('s'))],
    (function (..._: unknown[]) {
      return arguments;
    })(1),
    ...[Object.create(Date.prototype), { [Symbol.toStringTag]: 'Map' }, Object.create(Error.prototype)],
  ];

  t.test('each kind is told as Node tells it', (t) => {
    const node = types as unknown as Record<string, (value: unknown) => boolean>;
    const missing = Object.keys(node).filter((name) => !(name in checks) && !UNKNOWN.includes(name));
    t.strictSame(missing, []);
    for (const [name, check] of Object.entries(checks)) {
      if (UNKNOWN.includes(name)) t.equal(check({}), false);
      else
        t.strictSame(
          VALUES.map(check),
          VALUES.map((value) => node[name]?.(value)),
          name,
        );
    }
    t.end();
  });
});

t.test('inspect', async (t) => {
  type Inspect = { (value: unknown): string; defaultOptions: { depth: number } };

  t.test('what a call sets in inspect.defaultOptions holds for that call', (t) => {
    for (const isInCall of [false, true]) {
      let reset = (_isAnew: boolean) => {};
      const made = create({
        isInCall: () => isInCall,
        atCall: (given) => {
          reset = given;
        },
      });
      const inspect = made['inspect'] as Inspect;
      inspect.defaultOptions.depth = isInCall ? 2 : 3;
      if (!isInCall) reset(false);
      inspect.defaultOptions.depth = 9;
      reset(false);
      t.equal(inspect.defaultOptions.depth, 3, 'as the module left it');
    }
    t.end();
  });
});
