import t from 'tap';
import { laneKey } from '../../../../src/domain/lane.ts';

t.test('a lane is named by family, chain and account', async (t) => {
  t.equal(laneKey('evm', '31337', '0xab'), 'evm:31337:0xab');
});
