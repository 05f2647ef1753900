import { Asset } from '@stellar/stellar-sdk';
import t from 'tap';
import { readPolicy } from '../../../../../../src/chains/stellar/configuration/policy.ts';
import { assertWithinLimit, feeTokenOf, paidToken } from '../../../../../../src/chains/stellar/sponsor/asset.ts';
import { OTHER } from '../../../../../support/stellar-envelopes.ts';

const USD = `USD:${OTHER.publicKey()}`;
const CONTRACT = 'CDLZFC3SYJYDZT7K67VZ75HPJVIEUVNIXF47ZG2FB2RMQQVU2HHGCYSC';
const policy = (tokens?: object[]) =>
  readPolicy({ fee_payment_strategy: 'user', ...(tokens && { allowed_tokens: tokens as never }) });

t.test('the coin has three names, and tokens one', (t) => {
  for (const name of ['native', 'XLM', '']) t.match(feeTokenOf(name, policy()), { name: 'native' });
  const { name, asset } = feeTokenOf(USD, policy());
  t.match({ name, code: asset.code, issuer: asset.issuer }, { name: USD, code: 'USD', issuer: OTHER.publicKey() });
  t.throws(() => feeTokenOf('USD', policy()), { message: /^Invalid fee_token structure: Invalid asset identifier: / });
  t.throws(() => feeTokenOf(CONTRACT, policy()), { message: /No configured strategy can handle asset: C/ });
  t.end();
});

t.test('the policies say which are taken, and how much of each', (t) => {
  const some = policy([{ asset: 'XLM' }, { asset: USD, max_allowed_fee: 5, swap_config: { slippage_percentage: 2 } }]);
  t.match(feeTokenOf('native', some).allowed, { asset: 'native', maxFee: null, slippage: null });
  const token = paidToken(new Asset('USD', OTHER.publicKey()), some);
  t.match(token.allowed, { asset: USD, maxFee: 5n, slippage: 2 });
  t.throws(() => paidToken(new Asset('EUR', OTHER.publicKey()), some), { message: /EUR:G\w+ is not allowed for fees/ });
  t.match(paidToken(Asset.native(), policy()), { name: 'native' });
  t.doesNotThrow(() => assertWithinLimit(token, 5n));
  t.throws(() => assertWithinLimit(token, 6n), { message: 'Max fee exceeded: 5' });
  t.end();
});
