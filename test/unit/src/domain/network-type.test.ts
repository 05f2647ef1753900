import t from 'tap';
import { networkTypeSchema } from '../../../../src/domain/network-type.ts';

t.test('the three families, in lower case', (t) => {
  t.same(networkTypeSchema.options, ['evm', 'solana', 'stellar']);
  t.notOk(networkTypeSchema.safeParse('EVM').success);
  t.end();
});
