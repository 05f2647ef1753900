import t from 'tap';
import { readPolicy } from '../../../../../../src/chains/solana/configuration/policy.ts';
import { SYSTEM_PROGRAM, WRAPPED_SOL } from '../../../../../../src/chains/solana/programs.ts';
import { worth } from '../../../../../../src/chains/solana/sponsor/price.ts';
import { NO_MARKET } from '../../../../../support/no-market.ts';
import { keypair } from '../../../../../support/solana-messages.ts';

const MINT = keypair(1).publicKey.toBase58();
const DEVNET = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
const TESTNET = '4uhcVJyU9pJkvQyUS88uRDiswHXSCkY3zQawwpjk2NsNY';

t.test('the coin is worth itself, and so is all on chains without a market, by their genesis', async (t) => {
  const policy = readPolicy({});
  for (const mint of [WRAPPED_SOL, SYSTEM_PROGRAM]) {
    t.equal(await worth({ market: NO_MARKET, genesis: 'any' }, mint, 7n, policy), 7n);
  }
  for (const genesis of [DEVNET, TESTNET]) t.equal(await worth({ market: NO_MARKET, genesis }, MINT, 7n, policy), 7n);
  await t.rejects(worth({ market: NO_MARKET, genesis: 'devnet' }, MINT, 7n, policy), { name: 'MarketFailure' });
});

t.test('a token’s own slippage is asked for, else one percent', async (t) => {
  const asked: (string | undefined)[] = [];
  const market = {
    ...NO_MARKET,
    get: async (_path: string, query: Readonly<Record<string, string>>) => {
      asked.push(query['slippageBps']);
      return { inputMint: WRAPPED_SOL, inAmount: '7', outputMint: MINT, outAmount: '9' };
    },
  };
  const listed = readPolicy({ allowed_tokens: [{ mint: MINT, swap_config: { slippage_percentage: 0.5 } }] });
  t.equal(await worth({ market, genesis: 'any' }, MINT, 7n, listed), 10n);
  t.equal(await worth({ market, genesis: 'any' }, MINT, 7n, readPolicy({})), 10n);
  t.strictSame(asked, ['50', '100']);
});
