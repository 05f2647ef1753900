import t from 'tap';
import { integerUpTo, readInteger, rlpInteger } from '../../../../../../src/chains/evm/form/integer.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';

t.test('every form of an integer is read exactly', async (t) => {
  const property = fc.property(fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }), (value) =>
    [value.toString(), `0x${value.toString(16)}`, `0o${value.toString(8)}`, `0b${value.toString(2)}`].every(
      (text) => readInteger(text) === value,
    ),
  );
  fc.assert(property, { numRuns: runsOf(200) });
  t.equal(readInteger(''), 0n);
  t.equal(readInteger(Number.MAX_SAFE_INTEGER), 9_007_199_254_740_991n);
  for (const wrong of [2 ** 53, 1.5, '1e3', '-1', ' 1', '0x', `0x1${'0'.repeat(64)}`, null, true, {}, [1]]) {
    t.equal(readInteger(wrong), undefined, JSON.stringify(wrong));
  }
});

t.test('an integer up to a bound keeps its digits', async (t) => {
  const schema = integerUpTo(2n ** 64n, 'said');
  t.equal(schema.parse('0x10'), 16);
  t.equal(schema.parse('18446744073709551616'), '18446744073709551616');
  for (const wrong of ['18446744073709551617', -1, '', undefined, 'x']) {
    t.equal(schema.safeParse(wrong).error?.issues[0]?.message, 'said', String(wrong));
  }
});

t.test('RLP has neither leading zeros nor a zero', async (t) => {
  t.equal(rlpInteger(0n), '0x');
  t.equal(rlpInteger(1n), '0x01');
  t.equal(rlpInteger(0x100n), '0x0100');
});
