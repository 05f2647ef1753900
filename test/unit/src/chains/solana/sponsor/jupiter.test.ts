import t from 'tap';
import { tokensFor } from '../../../../../../src/chains/solana/sponsor/jupiter.ts';
import { createMarketClient, createMarketHttp } from '../../../../../../src/egress/market-client.ts';
import { startJupiter } from '../../../../../support/jupiter.ts';
import { keypair } from '../../../../../support/solana-messages.ts';

const MINT = keypair(1).publicKey.toBase58();

const jupiter = await startJupiter(t);
const http = createMarketHttp();
t.teardown(() => http.close());
const market = createMarketClient({ url: jupiter.url, apiKey: 'k', http, timeoutMs: 300 });

t.test('lamports are worth what the market says, at the slippage that was asked for', async (t) => {
  jupiter.price(MINT, 2);
  t.equal(await tokensFor(market, MINT, 1_000n, 0.5), 2_000n);
  const query = new URL(jupiter.requests.at(-1) ?? '', jupiter.url).searchParams;
  t.strictSame(Object.fromEntries(query), {
    inputMint: 'So11111111111111111111111111111111111111112',
    outputMint: MINT,
    amount: '1000',
    slippageBps: '50',
    swapMode: 'ExactIn',
  });
});

t.test('a token that nobody trades, or too few lamports, have no price', async (t) => {
  const other = keypair(2).publicKey.toBase58();
  await t.rejects(tokensFor(market, other, 1_000n, 1), { name: 'MarketFailure', code: 'TOKEN_NOT_TRADABLE' });
  jupiter.price(MINT, 1e-9);
  await t.rejects(tokensFor(market, MINT, 1_000n, 1), { code: 'COULD_NOT_FIND_ANY_ROUTE' });
});

t.test('a market that asks for a key, or has trouble, tells no price', async (t) => {
  jupiter.price(MINT, 2);
  jupiter.requireKey('another');
  await t.rejects(tokensFor(market, MINT, 1n, 1), { message: 'it answered with status 401: Unauthorized' });
  jupiter.requireKey('k');
  t.equal(await tokensFor(market, MINT, 1n, 1), 3n, 'a unit that was rounded away is paid');
  const failures = [
    ['silence', 'no answer within 300 ms'],
    ['error', 'it answered with status 500: Internal server error'],
    ['limit', 'it answered with status 429: Too many requests'],
    ['nonsense', 'its answer is not JSON'],
    ['other', 'its quote is for something else'],
  ] as const;
  for (const [how, message] of failures) {
    jupiter.fail(how);
    await t.rejects(tokensFor(market, MINT, 1n, 1), { name: 'MarketFailure', message });
  }
  jupiter.fail(null);
});

t.test('an answer of another form is none', async (t) => {
  const answering = (answer: object) => ({ get: async () => answer as never, post: async () => null });
  await t.rejects(tokensFor(answering({}), MINT, 1n, 1), { message: 'its quote is invalid' });
  const empty = { inputMint: 'So11111111111111111111111111111111111111112', inAmount: '1', outputMint: MINT };
  await t.rejects(tokensFor(answering({ ...empty, outAmount: '0' }), MINT, 1n, 1), {
    message: `1 lamports are worth less than the least amount of ${MINT}`,
  });
});
