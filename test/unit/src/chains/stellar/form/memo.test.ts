import t from 'tap';
import { memoSchema } from '../../../../../../src/chains/stellar/form/memo.ts';

t.test('a memo is one of five kinds, and no longer than the protocol takes', async (t) => {
  const hash = 'ab'.repeat(32);
  for (const memo of [
    { type: 'none' },
    { type: 'text', value: 'x'.repeat(28) },
    { type: 'id', value: '18446744073709551615' },
    { type: 'hash', value: hash },
    { type: 'return', value: hash },
  ]) {
    t.ok(memoSchema.safeParse(memo).success, memo.type);
  }
  for (const memo of [
    { type: 'text', value: 'ä'.repeat(15) },
    { type: 'id', value: '18446744073709551616' },
    { type: 'hash', value: 'ab' },
    { type: 'other' },
    { type: 'none', value: 1 },
  ]) {
    t.notOk(memoSchema.safeParse(memo).success, JSON.stringify(memo));
  }
});
