import { scValToNative } from '@stellar/stellar-sdk';
import t from 'tap';
import { amountValue, listValue } from '../../../../../../src/chains/stellar/message/contract.ts';
import { soroswapTrade } from '../../../../../../src/chains/stellar/swap/soroswap.ts';
import type { SwapTrade } from '../../../../../../src/chains/stellar/swap/trade.ts';
import type { Json, JsonObject } from '../../../../../../src/domain/json/json.ts';
import { NO_MARKET } from '../../../../../support/no-market.ts';
import { RELAYER } from '../../../../../support/stellar-relayer.ts';
import {
  endpointsOf,
  exchangesWith,
  NATIVE,
  nodeWith,
  OTHER_TOKEN,
  ROUTER,
  swappingOf,
  TOKEN,
} from '../../../../../support/stellar-swap-scene.ts';

/** A node whose router offers this many stroops for the whole amount. */
const quoting = (amount: bigint) =>
  nodeWith({
    router_get_amounts_out: ([given, path], contract) =>
      contract === ROUTER
        ? {
            value: listValue([
              ...(path as string[]).slice(1).map(() => amountValue(given as bigint)),
              amountValue(amount),
            ]),
          }
        : 'not the router',
  });

const quote = (over: JsonObject = {}): JsonObject => ({
  assetIn: TOKEN,
  assetOut: NATIVE,
  amountIn: '1000',
  amountOut: '2000',
  rawTrade: { amountIn: '1000', amountOutMin: '1990', path: [TOKEN, NATIVE] },
  ...over,
});

function trade(rpc = endpointsOf(quoting(2_000n)), answer?: Json, asked: unknown[] = []) {
  const post = async (path: string, body: JsonObject) => {
    asked.push(path, body);
    return answer as Json;
  };
  const routes = answer === undefined ? null : { ...NO_MARKET, post };
  return soroswapTrade(swappingOf(TOKEN, { rpc, exchanges: exchangesWith(null, routes) }));
}

function callIn({ operation }: SwapTrade) {
  const { body } = operation;
  const asked = body.type === 'invokeHostFunction' ? body.invokeHostFunctionOp.hostFunction : undefined;
  if (asked?.type !== 'hostFunctionTypeInvokeContract') throw new Error('it is a call');
  const { functionName, args } = asked.invokeContract;
  return { name: functionName.toString(), args: args.map((arg) => scValToNative(arg) as unknown) };
}

t.test('without an API the way is the direct one, at the router’s price', async (t) => {
  const made = await trade();
  t.strictSame([made.promised, made.least], [2_000n, 1_980n]);
  t.strictSame(callIn(made), {
    name: 'swap_exact_tokens_for_tokens',
    args: [1_000n, 1_980n, [TOKEN, NATIVE], RELAYER.publicKey(), 1_000n],
  });
});

t.test('an API is asked in its form, and of two prices the better one holds', async (t) => {
  const asked: unknown[] = [];
  t.equal((await trade(endpointsOf(quoting(1_500n)), quote(), asked)).promised, 2_000n);
  const form = { assetIn: TOKEN, assetOut: NATIVE, amount: '1000', tradeType: 'EXACT_IN' };
  t.match(asked, ['/quote?network=testnet', { ...form, protocols: ['soroswap'], parts: 1 }]);
  t.equal((await trade(endpointsOf(quoting(2_500n)), quote({ amountOut: 5 }))).promised, 2_500n);
});

t.test('of several nodes the middle one’s price holds', async (t) => {
  const nodes = endpointsOf(quoting(1n), quoting(2_000n), quoting(2_100n));
  t.equal((await trade(nodes)).promised, 2_000n);
  const [lost] = [nodeWith({})];
  t.equal((await trade(endpointsOf(lost, quoting(2_000n)))).promised, 2_000n);
});

t.test('what nobody trades, or somebody else should, is no trade', async (t) => {
  const fails = (name: string, message: RegExp) => ({ name, message });
  await t.rejects(trade(endpointsOf(nodeWith({}))), fails('MarketFailure', /the router cannot trade it/));
  await t.rejects(trade(endpointsOf(quoting(0n))), fails('MarketFailure', /No path found/));
  const odd = nodeWith({ router_get_amounts_out: () => ({ value: amountValue(5n) }) });
  await t.rejects(trade(endpointsOf(odd)), fails('MarketFailure', /returned no quote/));
  const stray = { ...quote(), rawTrade: { path: [TOKEN, OTHER_TOKEN, NATIVE] } };
  await t.rejects(trade(undefined, stray), fails('MarketFailure', /leads over C\w+, which allowed_tokens/));
  await t.rejects(trade(undefined, 'x'), fails('MarketFailure', /its quote is invalid/));
  const none = { ...exchangesWith(null), soroswap: null };
  await t.rejects(soroswapTrade(swappingOf(TOKEN, { exchanges: none })), fails('MarketFailure', /no router/));
});
