import t from 'tap';
import { bindable } from '../../../../src/store/bindable.ts';

t.test('text, null and exact integers pass', async (t) => {
  for (const value of ['', 'x', null, 0, -1, Number.MAX_SAFE_INTEGER]) t.equal(bindable(value), value);
});

t.test('anything else is refused, and not shown', async (t) => {
  for (const value of [undefined, true, 1n, new Date(0), Number.NaN, 1.5, 2 ** 53, Infinity, {}, new Uint8Array(1)]) {
    t.throws(() => bindable(value), { name: 'TypeError', message: /cannot be stored as it is/ });
  }
});
