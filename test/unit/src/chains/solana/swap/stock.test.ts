import t, { type Test } from 'tap';
import { readPolicy } from '../../../../../../src/chains/solana/configuration/policy.ts';
import { WRAPPED_SOL } from '../../../../../../src/chains/solana/programs.ts';
import { stocksOf } from '../../../../../../src/chains/solana/swap/stock.ts';
import { keyOf, openSolana } from '../../../../../support/solana-node.ts';
import { MINT, relayerAddress } from '../../../../../support/sponsor-scene.ts';
import { SOMEBODY, SOURCE, SWAP_ACCOUNTS } from '../../../../../support/swap-scene.ts';
import { tokensAccount } from '../../../../../support/token-accounts.ts';

const stocks = async (t: Test, config: object, accounts = SWAP_ACCOUNTS) => {
  const { rpc } = await openSolana(t, { accounts });
  const mints = [keyOf(99), WRAPPED_SOL, MINT].map((mint) => ({ mint, swap_config: { ...config } }));
  const { allowedTokens } = readPolicy({ allowed_tokens: mints });
  return rpc.onOne((read) => stocksOf(read, relayerAddress, allowedTokens));
};

t.test('all of a token is swapped, within its bounds', async (t) => {
  t.match(await stocks(t, {}), [{ account: SOURCE, held: 1_000n, swapped: 1_000n }]);
  t.match(await stocks(t, { retain_min_amount: 400 }), [{ swapped: 600n }]);
  t.match(await stocks(t, { retain_min_amount: 400, max_amount: 500, min_amount: 500 }), [{ swapped: 500n }]);
  for (const none of [{ min_amount: 1_001 }, { max_amount: 0 }, { retain_min_amount: 1_000 }])
    t.strictSame(await stocks(t, none), [], JSON.stringify(none));
});

t.test('an account that is not there, or not the relayer’s, has nothing', async (t) => {
  const { [SOURCE]: _, ...others } = SWAP_ACCOUNTS;
  t.strictSame(await stocks(t, {}, others), []);
  t.strictSame(await stocks(t, {}, { ...SWAP_ACCOUNTS, [SOURCE]: tokensAccount(MINT, SOMEBODY, 5n) }), []);
});
