import t from 'tap';
import { wasmCurve } from '../../../../../src/signers/secp256k1/wasm-curve.ts';
import { ethersCurve, saidBy } from '../../../../support/curves.ts';

t.test('ethers agrees with all that it says', async (t) => {
  t.same(saidBy(wasmCurve()), saidBy(ethersCurve));
});
