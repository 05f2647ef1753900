import t from 'tap';
import { amountOf, amountSchema, amountUpTo, jsonAmount } from '../../../../src/domain/amount.ts';

t.test('amounts keep every digit in the form that JSON keeps exact', async (t) => {
  const u128 = amountSchema(128);
  const largest = (1n << 128n) - 1n;
  for (const [given, kept] of [
    [0, 0],
    ['0', 0],
    ['007', 7],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    ['9007199254740992', '9007199254740992'],
    [String(largest), String(largest)],
  ] as const) {
    const parsed = u128.parse(given);
    t.equal(parsed, kept);
    t.equal(amountOf(parsed), BigInt(given));
    t.equal(jsonAmount(amountOf(parsed)), kept);
  }
});

t.test('what is not such an amount is refused', async (t) => {
  const u64 = amountSchema(64);
  for (const given of [1.5, '1.5', '0x10', '', ' 1', '1e3', null, true, {}, [], 2 ** 53, '18446744073709551616']) {
    t.match(u64.safeParse(given).error?.issues[0]?.message, /^expected an integer of at most 64 bits/, String(given));
  }
  for (const given of [-1, '-1']) {
    t.equal(u64.safeParse(given).error?.issues[0]?.message, 'must not be negative');
  }
});

t.test('a bound can be any number', async (t) => {
  const percent = amountUpTo(100n);
  for (const [given, kept] of [
    [0, 0],
    ['100', 100],
  ] as const) {
    t.equal(percent.parse(given), kept);
  }
  t.equal(amountUpTo(1n << 63n).parse('9223372036854775808'), '9223372036854775808');
  for (const given of [101, '101', -1, 1.5, '', null, undefined, {}]) {
    t.equal(percent.safeParse(given).error?.issues[0]?.message, 'expected an integer from 0 to 100', String(given));
  }
});
