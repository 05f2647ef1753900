import t from 'tap';
import { curve } from '../../../../../src/signers/secp256k1/libsecp256k1.ts';
import { ethersCurve, saidBy } from '../../../../support/curves.ts';

t.test('ethers agrees with all that it says, however it was built', async (t) => {
  t.same(saidBy(curve), saidBy(ethersCurve));
});
