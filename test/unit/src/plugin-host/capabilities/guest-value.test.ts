import t from 'tap';
import { assertSize, guestValue, TooLarge } from '../../../../../src/plugin-host/capabilities/guest-value.ts';

t.test('integers beyond 2^53 become decimal strings, smaller ones numbers', async (t) => {
  t.same(guestValue({ nonce: 7n, value: 2n ** 70n, list: [-1n, 2n ** 53n] }, 1000), {
    nonce: 7,
    value: '1180591620717411303424',
    list: [-1, '9007199254740992'],
  });
});

t.test('absent fields go, an absent value is null', async (t) => {
  t.strictSame(guestValue({ a: undefined, b: null }, 1000), { b: null });
  t.equal(guestValue(undefined, 1000), null);
  t.equal(guestValue('text', 1000), 'text');
  t.equal(guestValue(false, 1000), false);
});

t.test('a key named __proto__ stays a key', async (t) => {
  const value = guestValue(JSON.parse('{"__proto__":{"polluted":true}}'), 1000);
  t.equal(JSON.stringify(value), '{"__proto__":{"polluted":true}}');
  t.equal(Object.getPrototypeOf(value), Object.prototype);
});

t.test('what is too large is refused, either way', async (t) => {
  const large = 'é'.repeat(600);
  t.throws(() => guestValue({ large }, 1000), TooLarge);
  t.throws(() => guestValue({ [large]: 1 }, 1000), new TooLarge(1000));
  t.throws(() => assertSize([large], 1000), TooLarge);
  t.throws(() => assertSize({ [large]: true }, 1000), TooLarge);
  t.throws(
    () =>
      assertSize(
        Array.from({ length: 200 }, () => 1),
        1000,
      ),
    TooLarge,
  );
  t.doesNotThrow(() => assertSize({ a: ['x', 1, null, { b: false }] }, 1000));
});
