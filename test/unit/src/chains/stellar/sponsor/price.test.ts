import { Asset } from '@stellar/stellar-sdk';
import t from 'tap';
import { readPolicy } from '../../../../../../src/chains/stellar/configuration/policy.ts';
import { readEnvelope } from '../../../../../../src/chains/stellar/message/transaction-envelope.ts';
import { feeTokenOf } from '../../../../../../src/chains/stellar/sponsor/asset.ts';
import { priceOf } from '../../../../../../src/chains/stellar/sponsor/price.ts';
import { CLIENT, envelopeText, payOp } from '../../../../../support/stellar-envelopes.ts';
import { knowing } from '../../../../../support/stellar-ledger.ts';

const { transaction } = readEnvelope(envelopeText(CLIENT, [payOp('1')]));
const books = { network: 'testnet', horizon: null };
const price = (policies: object = {}, usual = 100) => {
  const policy = readPolicy({ fee_payment_strategy: 'user', ...policies });
  return priceOf(knowing({ usual }), transaction, feeTokenOf('native', policy), policy, books);
};

t.test('the operations, the payment and the bump, at what places cost', async (t) => {
  t.ok(Asset.native().isNative());
  t.strictSame(await price(), { inner: 200n, stroops: 300n, tokens: 300n });
  t.strictSame(await price({}, 1), { inner: 200n, stroops: 300n, tokens: 300n }, 'no less than the network asks');
  t.strictSame(await price({}, 700), { inner: 1_400n, stroops: 2_100n, tokens: 2_100n });
  t.strictSame(await price({ fee_margin_percentage: 10 }), { inner: 200n, stroops: 330n, tokens: 330n });
});

t.test('the policies’ limits hold', async (t) => {
  await t.rejects(price({ max_fee: 299 }), { code: 'INVALID_REQUEST', message: 'Max fee exceeded: 299' });
  const allowed_tokens = [{ asset: 'native', max_allowed_fee: 298 }];
  await t.rejects(price({ allowed_tokens }), { message: 'Max fee exceeded: 298' });
});
