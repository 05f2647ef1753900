import * as node from 'node:util';
import t from 'tap';
import { callbackify, deprecate, inherits, promisify } from '../../../../../../sandbox/guest/node/util.ts';
import { sameAsNode } from '../../../../../support/same-as-node.ts';

type Module = Pick<typeof node, 'promisify' | 'callbackify' | 'deprecate' | 'inherits'>;
const ours = { promisify, callbackify, deprecate, inherits } as unknown as Module;
type Callback = (error: unknown, value?: unknown) => void;

t.test('functions of the one kind become the other as in Node', async (t) => {
  await sameAsNode<Module>(t, ours, node, {
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
