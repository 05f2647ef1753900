import t from 'tap';
import { networkSchema, readSettings } from '../../../../../../src/chains/evm/configuration/network.ts';
import { readPolicy } from '../../../../../../src/chains/evm/configuration/policy.ts';
import {
  type PricePlan,
  payable,
  pricedFor,
  replacementFault,
} from '../../../../../../src/chains/evm/price/attempt-price.ts';
import type { Market } from '../../../../../../src/chains/evm/price/market.ts';
import { readRequest } from '../../../../../../src/chains/evm/schema.ts';
import type { JsonObject } from '../../../../../../src/domain/json/json.ts';
import { storedTransaction } from '../../../../../support/evm.ts';

const TO = '0x00000000000000000000000000000000000000b0';
const GWEI = 1_000_000_000n;
const account = { address: TO, policies: {} };
const settingsOf = (settings: JsonObject = {}) =>
  readSettings({
    type: 'evm',
    name: 'x',
    rpcUrls: [],
    settings: networkSchema.parse({ average_blocktime_ms: 90_001, ...settings }),
  });

const market = (baseFee: bigint, tip = 10n): Market => ({
  block: { number: 1n, hash: `0x${'1'.repeat(64)}`, gasLimit: 30_000_000n, baseFeePerGas: baseFee },
  gasPrice: baseFee,
  tips: { safeLow: tip, average: tip, fast: tip, fastest: tip },
});

/** The price plan of a transfer that has one signed version, with a fee of 10 gwei. */
function planOf(purpose: PricePlan['purpose'], body: JsonObject = {}, policies: JsonObject = {}): PricePlan {
  const request = readRequest(storedTransaction(account, { to: TO, value: 5, speed: 'fast', ...body }).request);
  return {
    purpose,
    request,
    latest: { chain_id: 1, from: TO, gas_limit: 21_000, max_fee_per_gas: Number(10n * GWEI) },
    highest: { fee: 10n * GWEI, tip: 100n },
    firstFee: 10n * GWEI,
    policy: readPolicy(policies),
  };
}

const fees = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => ({
  kind: 'price',
  price: { kind: 'eip1559', maxFeePerGas, maxPriorityFeePerGas },
});

t.test('a bump outbids by a tenth, and follows the market beyond that', async (t) => {
  t.same(pricedFor(planOf('bump'), market(GWEI), 21_000n, settingsOf()), fees(11n * GWEI, 110n));
  t.same(pricedFor(planOf('bump'), market(20n * GWEI), 21_000n, settingsOf()), fees(20n * GWEI + 110n, 110n));
});

t.test('what does nothing outbids no refused attempt, and none beyond a ceiling', async (t) => {
  const priceAt = (plan: Partial<PricePlan>) =>
    pricedFor({ ...planOf('noop'), ...plan }, market(GWEI), 21_000n, settingsOf());
  t.same(priceAt({ isRefused: true }), fees(10n * GWEI, 100n));
  const highest = { fee: 950n * GWEI, tip: 100n };
  t.match(priceAt({ highest }), { kind: 'parked', reason: /more than 100 times the first$/ });
  t.match(priceAt({ highest, isRefused: true }), { kind: 'price' });
  t.match(priceAt({ highest, highestAsked: highest.fee }), { kind: 'price' }, 'a price of the request is outbid');
});

t.test('under a cap it waits, while what does nothing goes beyond it by the least that counts', async (t) => {
  const capped = { gas_price_cap: Number(10n * GWEI) };
  t.match(pricedFor(planOf('bump', {}, capped), market(GWEI), 21_000n, settingsOf()), {
    kind: 'parked',
    reason: /the gas_price_cap is 10000000000$/,
  });
  t.same(pricedFor(planOf('noop', {}, capped), market(50n * GWEI), 21_000n, settingsOf()), fees(11n * GWEI, 110n));
});

t.test('without a pool it only goes on when the network asks for more', async (t) => {
  const poolless = settingsOf({ tags: ['no-mempool'] });
  t.match(pricedFor(planOf('bump'), market(GWEI), 21_000n, poolless), { kind: 'parked', reason: /is not above/ });
  t.match(pricedFor(planOf('bump'), market(20n * GWEI), 21_000n, poolless), { kind: 'price' });
});

t.test('a price that was asked for has to outbid where there is a pool, and keep the cap everywhere', async (t) => {
  const low = planOf('replace', { speed: null, gas_price: Number(10n * GWEI) });
  t.match(replacementFault(low, settingsOf()), /does not meet minimum bump/);
  t.equal(replacementFault(low, settingsOf({ tags: ['no-mempool'] })), undefined);
  const capped = { ...low, policy: readPolicy({ gas_price_cap: 1 }) };
  t.match(replacementFault(capped, settingsOf({ tags: ['no-mempool'] })), /^Gas price 10000000000 exceeds/);
});

t.test('what does nothing costs no more than there is, if that still outbids', async (t) => {
  const plan = planOf('noop');
  const price = { kind: 'legacy', gasPrice: 30n * GWEI } as const;
  const lowered = (funds: bigint) =>
    payable(plan, price, market(GWEI), { funds, gasLimit: 21_000n, cost: 30n * GWEI * 21_000n });
  t.same(lowered(10n ** 18n), price);
  t.same(lowered(20n * GWEI * 21_000n), { kind: 'legacy', gasPrice: 20n * GWEI - 1n }, 'the reserve is kept');
  t.same(lowered(11n * GWEI * 21_000n), { kind: 'legacy', gasPrice: 11n * GWEI }, 'rather than that, outbid');
});
