import t from 'tap';
import { WRAPPED_SOL } from '../../../../../../src/chains/solana/programs.ts';
import { execute, swapOffer, ultraOffer } from '../../../../../../src/chains/solana/swap/market-offers.ts';
import type { Json } from '../../../../../../src/domain/json/json.ts';
import { NO_MARKET } from '../../../../../support/no-market.ts';
import { built, memo } from '../../../../../support/solana-relayer.ts';
import { MINT, relayerAddress } from '../../../../../support/sponsor-scene.ts';
import { builtBy, stockOf, swappingOf } from '../../../../../support/swap-scene.ts';

const QUOTE = { inputMint: MINT, inAmount: '1000', outputMint: WRAPPED_SOL, outAmount: '2000' };
const BYTES = built([memo('swap')]);
const { swaps } = swappingOf(builtBy());
const failure = (text: string) => ({ name: 'MarketFailure', message: text });

/** A market with these answers by path, and the requests it received. */
function market(answers: Readonly<Record<string, Json>>) {
  const asked: unknown[] = [];
  const answer = async (path: string, about: unknown): Promise<Json> => {
    asked.push([path, about]);
    return answers[path] ?? null;
  };
  return { asked, client: { ...NO_MARKET, get: answer, post: answer } };
}

t.test('the Swap API is asked for a quote and for its transaction', async (t) => {
  const { client, asked } = market({ '/swap/v1/quote': QUOTE, '/swap/v1/swap': { swapTransaction: BYTES } });
  const priority = { level: 'high', most: 9n };
  t.match(await swapOffer(client, relayerAddress, stockOf(), { ...swaps, priority, isLimitDynamic: true }), {
    promised: 2_000n,
    least: 1_980n,
    transaction: { message: { signers: 1 } },
  });
  t.strictSame(asked[1], [
    '/swap/v1/swap',
    {
      ...{
        userPublicKey: relayerAddress,
        quoteResponse: QUOTE,
        wrapAndUnwrapSol: false,
        dynamicComputeUnitLimit: true,
      },
      prioritizationFeeLamports: { priorityLevelWithMaxLamports: { priorityLevel: 'high', maxLamports: 9 } },
    },
  ]);
});

t.test('what is no transaction is none', async (t) => {
  const offered = (answers: Readonly<Record<string, Json>>) =>
    swapOffer(market({ '/swap/v1/quote': QUOTE, ...answers }).client, relayerAddress, stockOf(), swaps);
  await t.rejects(offered({}), failure('it built no transaction'));
  await t.rejects(offered({ '/swap/v1/swap': { swapTransaction: 'AAAA' } }), {
    message: /its transaction is invalid: /,
  });
  const worthless = { '/swap/v1/quote': { ...QUOTE, outAmount: '0' }, '/swap/v1/swap': { swapTransaction: BYTES } };
  await t.rejects(offered(worthless), { message: /worth less than a lamport/ });
});

t.test('an order is for what was asked, and has a transaction', async (t) => {
  const order = { ...QUOTE, transaction: BYTES, requestId: 'r' };
  const ordered = (answer: Json) => ultraOffer(market({ '/ultra/v1/order': answer }).client, relayerAddress, stockOf());
  t.match(await ordered(order), { promised: 2_000n, least: 1_980n, requestId: 'r' });
  await t.rejects(ordered({ ...order, requestId: '' }), failure('its order is invalid'));
  await t.rejects(ordered({ ...order, inAmount: '1001' }), failure('its order is for something else'));
  await t.rejects(ordered({ ...order, outputMint: MINT }), failure('its order is for something else'));
  await t.rejects(ordered({ ...order, transaction: null }), failure('its order has no transaction'));
});

t.test('a signed order goes back with its id', async (t) => {
  const { client, asked } = market({ '/ultra/v1/execute': { status: 'Success' } });
  t.strictSame(await execute(client, 'bytes', 'r'), { status: 'Success' });
  t.strictSame(asked, [['/ultra/v1/execute', { signedTransaction: 'bytes', requestId: 'r' }]]);
});
