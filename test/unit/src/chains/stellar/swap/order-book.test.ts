import { Asset, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { orderBookTrade } from '../../../../../../src/chains/stellar/swap/order-book.ts';
import type { Json } from '../../../../../../src/domain/json/json.ts';
import { NO_MARKET } from '../../../../../support/no-market.ts';
import { CLIENT } from '../../../../../support/stellar-envelopes.ts';
import { RELAYER } from '../../../../../support/stellar-relayer.ts';
import { exchangesWith, swappingOf, USD, USD_ASSET } from '../../../../../support/stellar-swap-scene.ts';

const [EVIL, issuer] = ['EVIL', CLIENT.publicKey()];
const hop = { asset_type: 'credit_alphanum4', asset_code: EVIL, asset_issuer: issuer };
const record = (amount: string, path: object[] = []) => ({
  destination_asset_type: 'native',
  destination_amount: amount,
  path,
});

function trade(records: object[], asked: object[] = []) {
  const get = async (_path: string, query: object) => {
    asked.push(query);
    return { _embedded: { records } } as unknown as Json;
  };
  return orderBookTrade(swappingOf(USD, { exchanges: exchangesWith({ ...NO_MARKET, get }) }));
}

t.test('a payment to itself by the best way, for no less than the price may move', async (t) => {
  const asked: object[] = [];
  const { operation, promised, least } = await trade([record('0.00019'), record('0.0002')], asked);
  t.strictSame([promised, least], [2_000n, 1_980n]);
  t.match(asked, [{ source_amount: '0.0001', source_asset_code: 'USD', destination_assets: 'native' }]);
  const made = new xdr.PathPaymentStrictSendOp({
    sendAsset: USD_ASSET.toXdrObject(),
    sendAmount: 1_000n,
    destAsset: Asset.native().toXdrObject(),
    destination: RELAYER.xdrMuxedAccount(),
    destMin: 1_980n,
    path: [],
  });
  t.equal(
    operation.toXdr('base64'),
    new xdr.Operation({
      sourceAccount: null,
      body: xdr.OperationBody.pathPaymentStrictSend(made),
    }).toXdr('base64'),
  );
});

t.test('over an asset that nobody has allowed no way leads', async (t) => {
  const { promised } = await trade([record('9', [hop]), record('0.0002')]);
  t.equal(promised, 2_000n);
  await t.rejects(trade([record('9', [hop])]), { name: 'MarketFailure', message: /allowed_tokens does not name/ });
  await t.rejects(trade([record('0')]), { message: /^No path found/ });
  await t.rejects(trade([]), { message: 'No path found for conversion' });
});
