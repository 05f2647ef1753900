import t from 'tap';
import { contractValueSchema } from '../../../../../../src/chains/stellar/form/contract-value.ts';

t.test('a value stays as it was written, and its fault has a place', (t) => {
  const value = { vec: [{ i128: { hi: '0', lo: 7 } }, 'void'] };
  t.strictSame(contractValueSchema.parse(value), value);
  t.match(contractValueSchema.safeParse({ vec: [{ u32: 'x' }] }).error?.issues, [
    { path: ['vec', 0, 'u32'], message: /^expected an integer from 0 to 4294967295/ },
  ]);
  t.end();
});
