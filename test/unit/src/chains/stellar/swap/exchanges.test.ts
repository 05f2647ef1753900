import t from 'tap';
import {
  lumensContract,
  routerVariable,
  swapExchangesOf,
  swapStrategyFor,
} from '../../../../../../src/chains/stellar/swap/exchanges.ts';
import { NO_MARKET } from '../../../../../support/no-market.ts';
import { ROUTER, TOKEN, USD } from '../../../../../support/stellar-swap-scene.ts';

const network = (settings: object) => ({ type: 'stellar' as const, name: 'n', rpcUrls: [], settings: { ...settings } });

t.test('each network has the router that the operator names for its kind', async (t) => {
  const contracts = { STELLAR_TESTNET_SOROSWAP_ROUTER_ADDRESS: ROUTER };
  const test = swapExchangesOf(network({ is_testnet: true }), NO_MARKET, { contracts, routes: NO_MARKET });
  t.match(test, { books: { network: 'n' }, soroswap: { router: ROUTER, network: 'testnet' } });
  t.equal(swapExchangesOf(network({}), null, { contracts, routes: null }).soroswap, null, 'that is not of this one');
  t.equal(swapExchangesOf(network({}), null).soroswap, null);
  t.equal(routerVariable(network({})), 'STELLAR_MAINNET_SOROSWAP_ROUTER_ADDRESS');
});

t.test('an asset has the first strategy that can handle it', async (t) => {
  t.equal(swapStrategyFor(USD, ['soroswap', 'order-book']), 'order-book');
  t.equal(swapStrategyFor(TOKEN, ['order-book', 'soroswap']), 'soroswap');
  t.equal(swapStrategyFor(TOKEN, ['order-book']), undefined);
  t.equal(swapStrategyFor('native', ['order-book', 'soroswap']), undefined, 'lumens are what all else becomes');
});

t.test('lumens have the contract that Stellar publishes', async (t) => {
  const mainnet = 'CAS3J7GYLGXMF6TDJBBYYSE3HQ6BBSMLNUQ34T6TZMYMW2EVH34XOWMA';
  t.equal(lumensContract('Public Global Stellar Network ; September 2015'), mainnet);
});
