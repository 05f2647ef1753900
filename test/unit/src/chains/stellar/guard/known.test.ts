import { xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { unknownAllowed } from '../../../../../../src/chains/stellar/guard/known.ts';
import { NO_MARKET } from '../../../../../support/no-market.ts';
import { OTHER } from '../../../../../support/stellar-envelopes.ts';
import { relayerAccount } from '../../../../../support/stellar-relayer.ts';
import {
  endpointsOf,
  exchangesWith,
  nodeWith,
  SWAP_POLICIES,
  TOKEN,
  USD,
} from '../../../../../support/stellar-swap-scene.ts';

const whole = nodeWith({ decimals: () => ({ value: xdr.ScVal.scvU32(7) }) }, { accounts: [[OTHER, 1n]] });
const empty = nodeWith({});
const there = exchangesWith(NO_MARKET);
const account = relayerAccount({
  ...SWAP_POLICIES,
  allowed_tokens: [{ asset: 'native' }, { asset: USD }, { asset: TOKEN }],
});

t.test('what the network has is known, also where one endpoint does not have it', async (t) => {
  t.strictSame(await unknownAllowed(endpointsOf(whole), there, account), []);
  t.strictSame(await unknownAllowed(endpointsOf(empty, whole), there, account), []);
  t.strictSame(await unknownAllowed(endpointsOf(empty), there, relayerAccount({})), []);
});

t.test('what it does not have is named, with what to do', async (t) => {
  for (const nodes of [endpointsOf(empty), endpointsOf(empty, empty)]) {
    t.strictSame(await unknownAllowed(nodes, there, account), [
      `allowed_tokens: the issuer of ${USD} is not on this network; correct it, or take it out`,
      `allowed_tokens: ${TOKEN} is not a token on this network; correct it, or take it out`,
    ]);
  }
});

t.test('and so are swaps that it has no place for', async (t) => {
  const nowhere = { books: { network: 'n', horizon: null }, soroswap: null };
  t.match(await unknownAllowed(endpointsOf(whole), nowhere, account), [/order-book needs/, /soroswap has no router/]);
  const { swap_config: _, ...none } = account.policies;
  t.strictSame(await unknownAllowed(endpointsOf(whole), nowhere, { ...account, policies: none }), []);
});
