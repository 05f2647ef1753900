import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import t from 'tap';
import { nativeCurve } from '../../../../../src/signers/secp256k1/native-curve.ts';
import { ethersCurve, saidBy } from '../../../../support/curves.ts';

t.test('it is there where the package has it built, and ethers agrees with all that it says', async (t) => {
  const folder = dirname(createRequire(import.meta.url).resolve('secp256k1/package.json'));
  const built = readdirSync(join(folder, 'prebuilds'));
  t.ok(built.includes('linux-x64'));
  const curve = nativeCurve();
  t.equal(curve !== undefined, built.includes(`${process.platform}-${process.arch}`));
  t.same(saidBy(curve ?? ethersCurve), saidBy(ethersCurve));
});
