import t from 'tap';
import { Reflect as Plain, globalThis as scope } from '../../../../../sandbox/guest/node/plain-intrinsics.ts';

t.test('what is missing is there, and an accessor of ours is the property that it was', (t) => {
  const world = scope as unknown as Record<string, unknown>;
  for (const name of ['Atomics', 'WeakRef', 'FinalizationRegistry', 'Array', 'Reflect']) t.ok(world[name], name);
  const { getOwnPropertyDescriptor } = Plain as unknown as typeof Reflect;
  const frozen = Object.defineProperty({}, 'a', { get: () => 5, set: () => {}, enumerable: true });
  t.strictSame(getOwnPropertyDescriptor(frozen, 'a'), {
    value: 5,
    writable: true,
    enumerable: true,
    configurable: true,
  });
  t.equal(typeof getOwnPropertyDescriptor(Map.prototype, 'size')?.get, 'function', 'the language’s own stay');
  t.equal(typeof getOwnPropertyDescriptor(Object.prototype, '__proto__')?.get, 'function');
  t.strictSame(getOwnPropertyDescriptor({ b: 1 }, 'b')?.value, 1);
  t.equal(getOwnPropertyDescriptor({}, 'c'), undefined);
  t.end();
});
