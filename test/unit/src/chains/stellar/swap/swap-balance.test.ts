import t from 'tap';
import { readPolicy } from '../../../../../../src/chains/stellar/configuration/policy.ts';
import { amountValue } from '../../../../../../src/chains/stellar/message/contract.ts';
import { swapBalanceOf, swapRequestsOf } from '../../../../../../src/chains/stellar/swap/swap-balance.ts';
import { RELAYER, relayerAccount } from '../../../../../support/stellar-relayer.ts';
import {
  endpointsOf,
  nodeWith,
  SWAP_POLICIES,
  TOKEN,
  USD,
  USD_ASSET,
} from '../../../../../support/stellar-swap-scene.ts';

const node = nodeWith({ balance: () => ({ value: amountValue(300n) }) }, { lines: [[RELAYER, USD_ASSET, 1_005n]] });

async function swapped(asset: string, swap_config: object = {}) {
  const policies = { fee_payment_strategy: 'user', allowed_tokens: [{ asset, swap_config: { ...swap_config } }] };
  const [token] = readPolicy(policies).allowedTokens;
  return token && (await swapBalanceOf(node, RELAYER.publicKey(), token))?.swapped;
}

t.test('all that can be given is swapped, and what offers promise is not there', async (t) => {
  t.equal(await swapped(USD), 1_000n);
  t.equal(await swapped(TOKEN), 300n);
});

t.test('within the bounds of its token', async (t) => {
  t.equal(await swapped(USD, { max_amount: 600 }), 600n);
  t.equal(await swapped(USD, { retain_min_amount: 300 }), 700n);
  t.equal(await swapped(USD, { min_amount: 1_000 }), 1_000n);
  for (const bounds of [{ min_amount: 1_001 }, { retain_min_amount: 1_000 }, { max_amount: 0 }]) {
    t.equal(await swapped(USD, bounds), undefined, JSON.stringify(bounds));
  }
  t.equal(await swapped(`EUR:${RELAYER.publicKey()}`), undefined, 'nor what it holds none of');
});

t.test('wanted', async (t) => {
  const node = nodeWith({ balance: () => ({ value: amountValue(3n) }) }, { lines: [[RELAYER, USD_ASSET, 50n]] });
  const wanted = (over: object = {}) =>
    swapRequestsOf(endpointsOf(node), relayerAccount({ ...SWAP_POLICIES, ...over }));

  t.test('each asset of which there is something is swapped for itself', async (t) => {
    const common = { validUntil: null, anchorKind: 'sequence', onDeath: 'renew' } as const;
    t.strictSame(await wanted(), [
      { request: { swap: { asset: USD } }, contentKey: `swap:${USD}`, ...common },
      { request: { swap: { asset: TOKEN } }, contentKey: `swap:${TOKEN}`, ...common },
    ]);
  });

  t.test('what no strategy handles, or is lumens already, is not', async (t) => {
    t.match(await wanted({ swap_config: { strategies: ['soroswap'] } }), [{ contentKey: `swap:${TOKEN}` }]);
    t.strictSame(await wanted({ allowed_tokens: [{ asset: 'native' }, { asset: 'XLM' }] }), []);
    t.strictSame(await wanted({ swap_config: null }), []);
  });
});
