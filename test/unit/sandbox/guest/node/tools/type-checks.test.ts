import { types } from 'node:util';
import t from 'tap';
import { createTypeChecks } from '../../../../../../sandbox/guest/node/type-checks.ts';

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
