import t from 'tap';
import { supportedTokens } from '../../../../../../src/chains/solana/sponsor/supported.ts';
import { keyOf, openSolana } from '../../../../../support/solana-node.ts';
import { relayerAccount } from '../../../../../support/solana-relayer.ts';
import { MINT, TOKENS } from '../../../../../support/sponsor-scene.ts';

const account = relayerAccount({
  allowed_tokens: [
    { mint: MINT, decimals: 2, symbol: 'USD', max_allowed_fee: '18446744073709551615' },
    { mint: keyOf(50), swap_config: { slippage_percentage: 0.5 } },
  ],
});

t.test('tokens are as the chain knows them, else as the policies say', async (t) => {
  const { rpc } = await openSolana(t, { accounts: TOKENS });
  const [first, second] = (await supportedTokens(rpc, account))['tokens'] as unknown[];
  t.strictSame(first, {
    mint: MINT,
    symbol: 'USD',
    decimals: 6,
    max_allowed_fee: 2n ** 64n - 1n,
    conversion_slippage_percentage: 1,
  });
  t.strictSame(second, {
    mint: keyOf(50),
    symbol: '',
    decimals: 0,
    max_allowed_fee: null,
    conversion_slippage_percentage: 0.5,
  });
  t.strictSame(await supportedTokens(rpc, relayerAccount()), { tokens: [] });
});

t.test('where no node answers the policies still do', async (t) => {
  const { rpc } = await openSolana(t, () => ({ status: 503 }));
  t.match(await supportedTokens(rpc, account), { tokens: [{ symbol: 'USD', decimals: 2 }, { decimals: 0 }] });
});
