import t from 'tap';
import { readPolicy } from '../../../../../../src/chains/stellar/configuration/policy.ts';
import { isAllowedHop, leastOf } from '../../../../../../src/chains/stellar/swap/trade.ts';
import { OTHER_TOKEN, SWAP_POLICIES, swappingOf, TOKEN, USD } from '../../../../../support/stellar-swap-scene.ts';

t.test('the least is the price less what it may move, of the token, the policy or one percent', async (t) => {
  const swapping = swappingOf(USD);
  t.equal(leastOf(1_000n, swapping), 990n);
  t.equal(leastOf(1_000n, { ...swapping, policy: { ...swapping.policy, slippage: 0.5 } }), 995n);
  const own = { ...swapping.stock, token: { ...swapping.stock.token, slippage: 2 } };
  t.equal(leastOf(1_000n, { ...swapping, stock: own }), 980n);
  t.equal(leastOf(1n, swapping), 1n);
  const all = { ...swapping.stock, token: { ...swapping.stock.token, slippage: 100 } };
  t.equal(leastOf(1_000n, { ...swapping, stock: all }), 1n, 'never for nothing');
});

t.test('a way leads over lumens and what the policies name', async (t) => {
  const policy = readPolicy(SWAP_POLICIES);
  for (const hop of ['native', USD, TOKEN]) t.ok(isAllowedHop(hop, policy));
  t.notOk(isAllowedHop(OTHER_TOKEN, policy));
});
