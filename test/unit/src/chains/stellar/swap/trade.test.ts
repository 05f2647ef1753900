import { Asset, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { readPolicy } from '../../../../../../src/chains/stellar/configuration/policy.ts';
import { isAllowedHop, minSwapReturn, orderBookTrade } from '../../../../../../src/chains/stellar/swap/trade.ts';
import type { Json } from '../../../../../../src/domain/json/json.ts';
import { NO_MARKET } from '../../../../../support/no-market.ts';
import { CLIENT } from '../../../../../support/stellar-envelopes.ts';
import { RELAYER } from '../../../../../support/stellar-relayer.ts';
import {
  exchangesWith,
  OTHER_TOKEN,
  SWAP_POLICIES,
  swappingOf,
  TOKEN,
  USD,
  USD_ASSET,
} from '../../../../../support/stellar-swap-scene.ts';

t.test('the least is the price less what it may move, of the token, the policy or one percent', async (t) => {
  const swapping = swappingOf(USD);
  t.equal(minSwapReturn(1_000n, swapping), 990n);
  t.equal(minSwapReturn(1_000n, { ...swapping, policy: { ...swapping.policy, slippagePercentage: 0.5 } }), 995n);
  const own = { ...swapping.stock, token: { ...swapping.stock.token, slippage: 2 } };
  t.equal(minSwapReturn(1_000n, { ...swapping, stock: own }), 980n);
  t.equal(minSwapReturn(1n, swapping), 1n);
  const all = { ...swapping.stock, token: { ...swapping.stock.token, slippage: 100 } };
  t.equal(minSwapReturn(1_000n, { ...swapping, stock: all }), 1n, 'never for nothing');
});

t.test('a way leads over lumens and what the policies name', async (t) => {
  const policy = readPolicy(SWAP_POLICIES);
  for (const hop of ['native', USD, TOKEN]) t.ok(isAllowedHop(hop, policy));
  t.notOk(isAllowedHop(OTHER_TOKEN, policy));
});

t.test('order book', async (t) => {
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
});
