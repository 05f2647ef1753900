import t from 'tap';
import { chainOfLane, laneKey } from '../../../../src/domain/lane.ts';

t.test('a lane is named by family, chain and account', async (t) => {
  t.equal(laneKey('evm', '31337', '0xab'), 'evm:31337:0xab');
});

t.test('the key tells the chain', async (t) => {
  t.equal(chainOfLane(laneKey('evm', '31337', '0xab')), '31337');
  t.equal(chainOfLane(laneKey('stellar', 'A network ; 2015: mine', 'GAB')), 'A network ; 2015: mine');
});
