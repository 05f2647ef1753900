import assert from 'node:assert';
import t from 'tap';
import { type Comparison, isDeepEqual } from '../../../../../../sandbox/guest/node/deep-equal.ts';

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
  ...[() => ({ a: { b: [1, { c: 2 }] } }), () => ({ a: { b: [1, { c: 3 }] } }), () => A, () => Object.create({ a: 1 })],
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
