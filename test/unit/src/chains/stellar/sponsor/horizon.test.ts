// A false price here sells fees too cheaply. So an answer that does not name exactly this asset is refused.
import { Asset } from '@stellar/stellar-sdk';
import t from 'tap';
import { quoteTokensFor } from '../../../../../../src/chains/stellar/sponsor/horizon.ts';
import type { Json } from '../../../../../../src/domain/json/json.ts';
import { MarketFailure } from '../../../../../../src/egress/market-client.ts';
import { NO_MARKET } from '../../../../../support/no-market.ts';
import { OTHER } from '../../../../../support/stellar-envelopes.ts';

const asset = new Asset('USD', OTHER.publicKey());
const record = (amount: unknown, over = {}) => ({
  destination_asset_code: 'USD',
  destination_asset_issuer: OTHER.publicKey(),
  destination_amount: amount,
  ...over,
});

async function told(answer: unknown, asked: object[] = []) {
  const get = async (path: string, query: object) => {
    asked.push({ path, query });
    return answer as Json;
  };
  return quoteTokensFor({ network: 'testnet', horizon: { ...NO_MARKET, get } }, asset, 300n);
}

t.test('the first path is the best', async (t) => {
  const asked: object[] = [];
  t.equal(await told({ _embedded: { records: [record('0.000015'), record('0.00001')] } }, asked), 150n);
  t.strictSame(asked, [
    {
      path: '/paths/strict-send',
      query: {
        source_amount: '0.00003',
        source_asset_type: 'native',
        destination_assets: `USD:${OTHER.publicKey()}`,
      },
    },
  ]);
  t.equal(await quoteTokensFor({ network: 'testnet', horizon: null }, Asset.native(), 300n), 300n, 'nobody is asked');
});

t.test('no path is the client’s to know, and no answer is not', async (t) => {
  const none = { code: 'INVALID_REQUEST', message: 'No path found for conversion' };
  await t.rejects(told({ _embedded: { records: [] } }), none);
  await t.rejects(told({ _embedded: { records: [record('0.0000000')] } }), none, 'nothing is no price');
  for (const answer of [
    {},
    { _embedded: {} },
    { _embedded: { records: ['a'] } },
    { _embedded: { records: [record(5)] } },
    { _embedded: { records: [record('1', { destination_asset_code: 'EUR' })] } },
    { _embedded: { records: [record('1', { destination_asset_issuer: 'GA' })] } },
  ]) {
    await t.rejects(told(answer), { code: 'PROVIDER_FAILED' }, JSON.stringify(answer));
  }
  await t.rejects(quoteTokensFor({ network: 'testnet', horizon: null }, asset, 300n), {
    message: /has no horizon_url/,
  });
  await t.rejects(quoteTokensFor({ network: 'testnet', horizon: NO_MARKET }, asset, 300n), { code: 'PROVIDER_FAILED' });
  const get = () => Promise.reject(new RangeError('ours'));
  await t.rejects(quoteTokensFor({ network: 'testnet', horizon: { ...NO_MARKET, get } }, asset, 300n), RangeError);
  t.ok(new MarketFailure('a') instanceof Error);
});
