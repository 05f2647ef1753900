import t from 'tap';
import { accountOfLane, chainOfLane, familyOfLane, laneKey } from '../../../../../src/domain/transaction/lane.ts';

t.test('a lane is named by family, chain and account', async (t) => {
  t.equal(laneKey('evm', '31337', '0xab'), 'evm:31337:0xab');
});

t.test('the key tells what it was made with', async (t) => {
  for (const [family, chain, account] of [
    ['evm', '31337', '0xab'],
    ['evm', '31337@0123456789abcdef', '0xab'],
    ['stellar', 'A network ; 2015: mine', 'GAB'],
  ] as const) {
    const key = laneKey(family, chain, account);
    t.strictSame([familyOfLane(key), chainOfLane(key), accountOfLane(key)], [family, chain, account]);
  }
  t.throws(() => familyOfLane('lost:1:0xab'));
});
