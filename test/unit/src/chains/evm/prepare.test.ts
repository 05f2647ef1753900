import { Wallet } from 'ethers';
import t, { type Test } from 'tap';
import { networkSchema, readNetworkSettings } from '../../../../../src/chains/evm/configuration/network.ts';
import {
  openPrepareParts,
  preparedCostOf,
  prepareTransaction as prepareWith,
} from '../../../../../src/chains/evm/prepare.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import type { JsonObject } from '../../../../../src/domain/json/json.ts';
import type { Network } from '../../../../../src/features/networks/record.ts';
import { openRpc, storedTransaction } from '../../../../support/evm.ts';
import { answersByMethod, type DoubleHandler, startRpcDouble } from '../../../../support/rpc-double.ts';

const FROM = '0x00000000000000000000000000000000000000a1';
const TO = '0x00000000000000000000000000000000000000b0';
const GWEI = 1_000_000_000n;
const quantity = (value: bigint) => `0x${value.toString(16)}`;

interface World {
  tips?: bigint;
  balance?: bigint;
  baseFee?: bigint | null;
  gasPrice?: bigint;
  blockGasLimit?: bigint;
  estimate?: DoubleHandler;
}

function answersOf(world: World): DoubleHandler {
  const { balance = 10n ** 18n, baseFee = GWEI, gasPrice = 2n * GWEI, blockGasLimit = 30_000_000n } = world;
  const block = {
    number: '0x1',
    hash: `0x${'1'.repeat(64)}`,
    gasLimit: quantity(blockGasLimit),
    ...(baseFee === null ? {} : { baseFeePerGas: quantity(baseFee) }),
  };
  return answersByMethod(
    {
      eth_chainId: '0x7a69',
      eth_getBalance: quantity(balance),
      eth_gasPrice: quantity(gasPrice),
      eth_getBlockByNumber: block,
      eth_feeHistory: {
        reward: world.tips === undefined ? [] : [Array.from({ length: 4 }, () => quantity(world.tips ?? 0n))],
      },
    },
    world.estimate ?? (() => ({ result: '0x5208' })),
  );
}

/** Doubles with states that a real node cannot be put into: one for `world`, and one for each of `others`. */
async function open(t: Test, world: World = {}, settings: JsonObject = {}, others: readonly World[] = []) {
  const double = await startRpcDouble(answersOf(world));
  const more = await Promise.all(others.map((other) => startRpcDouble(answersOf(other))));
  const rpc = openRpc([double, ...more].map(({ url }) => url));
  t.teardown(() => Promise.all([rpc.close(), ...[double, ...more].map((one) => one.stop())]));
  const known = networkSchema.parse({ average_blocktime_ms: 90_001, ...settings });
  const network: Network = { type: 'evm', name: 'testnet', rpcUrls: [], settings: known };
  const parts = openPrepareParts(rpc, readNetworkSettings(network), 31_337n, systemClock);
  /** `later`: the policies at preparation, if they changed after the request was accepted. */
  const prepare = (body: JsonObject, policies: JsonObject = {}, committed = 0n, later = policies) => {
    const transaction = storedTransaction({ address: FROM, policies }, body);
    return prepareWith(parts, transaction, { address: FROM, policies: later }, { committed });
  };
  return { prepare, double, more };
}

const TRANSFER = { to: TO, value: 5, speed: 'fast' };

t.test('gas limit, price and cost of a transfer', async (t) => {
  const { prepare, double } = await open(t);
  const tip = 850_000_000n;
  t.same(await prepare(TRANSFER), {
    kind: 'ready',
    fields: {
      chain_id: 31_337,
      from: FROM,
      gas_limit: 23_100,
      max_fee_per_gas: Number(GWEI + tip),
      max_priority_fee_per_gas: Number(tip),
    },
    cost: 23_100n * (GWEI + tip) + 5n,
    // The least balance that the policy keeps is 1 wei.
    spare: 10n ** 18n - (23_100n * (GWEI + tip) + 5n) - 1n,
  });
  const estimate = double.calls.find(({ method }) => method === 'eth_estimateGas');
  t.same(estimate?.params, [{ from: FROM, to: TO, value: '0x5' }]);
});

t.test('what was prepared knows its cost again', async (t) => {
  const { prepare } = await open(t);
  const account = { address: FROM, policies: {} };
  const pending = storedTransaction(account, TRANSFER);
  t.equal(preparedCostOf(pending), 0n);
  const prepared = await prepare(TRANSFER);
  t.ok(prepared.kind === 'ready' && preparedCostOf({ ...pending, fields: prepared.fields }) === prepared.cost);
  const legacy = { ...pending, fields: { chain_id: 1, from: FROM, gas_limit: 10, gas_price: '3' } };
  t.equal(preparedCostOf(legacy), 35n);
});

t.test('a creation is estimated without `to`, a call with its data', async (t) => {
  const { prepare, double } = await open(t);
  await prepare({ value: 0, data: '6001', speed: 'fast' });
  await prepare({ ...TRANSFER, data: '0xabcd' });
  const estimates = double.calls.filter(({ method }) => method === 'eth_estimateGas').map(({ params }) => params[0]);
  t.same(estimates, [
    { from: FROM, value: '0x0', data: '0x6001' },
    { from: FROM, to: TO, value: '0x5', data: '0xabcd' },
  ]);
});

t.test('a call that cannot be estimated takes the reference’s limits', async (t) => {
  const reverting: DoubleHandler = () => ({ error: { code: 3, message: 'execution reverted' } });
  const { prepare } = await open(t, { estimate: reverting });
  for (const [data, gas] of [
    [null, 21_000],
    ['0xa9059cbb00', 65_000],
    ['0x23b872dd00', 80_000],
    ['0x', 200_000],
    ['0xdeadbeef', 200_000],
  ] as const) {
    t.match(await prepare({ ...TRANSFER, data }), { kind: 'ready', fields: { gas_limit: gas } });
  }
  const down = await open(t, { estimate: () => ({ status: 503 }) });
  const failure = await down.prepare(TRANSFER).catch((error: unknown) => error);
  t.match(failure, { kind: 'http' }, 'no answer is not a revert');
  const { prepare: withData } = await open(t, { estimate: reverting });
  const long = { ...TRANSFER, data: 'ff'.repeat(10_000) };
  t.match(await withData(long), { fields: { gas_limit: 421_000 } }, 'never less than nodes take (EIP-7623)');
});

t.test('a call that the account cannot pay for cannot be estimated, and waits for money', async (t) => {
  const estimate: DoubleHandler = () => ({ error: { code: -32_000, message: 'insufficient funds for transfer' } });
  const { prepare } = await open(t, { estimate });
  const reason = 'Gas cannot be estimated: insufficient funds for transfer';
  t.match(await prepare(TRANSFER), { kind: 'parked', cause: 'balance', reason });
  const poor = await open(t, { estimate, balance: 4n });
  t.match(await poor.prepare(TRANSFER), { kind: 'parked', cause: 'balance', reason: /^Insufficient balance/ });
});

t.test('one endpoint that takes a call to fail does not decide beside another', async (t) => {
  const reverting: DoubleHandler = () => ({ error: { code: 3, message: 'execution reverted' } });
  const known: DoubleHandler = () => ({ result: quantity(300_000n) });
  for (const [first, second] of [
    [reverting, known],
    [known, reverting],
  ] as const) {
    const { prepare } = await open(t, { estimate: first }, {}, [{ estimate: second }]);
    for (let time = 0; time < 3; time += 1)
      t.match(await prepare({ ...TRANSFER, data: '0xdeadbeef' }), {
        fields: { gas_limit: 330_000 },
        remark: undefined,
      });
  }
  const both = await open(t, { estimate: reverting }, {}, [{ estimate: reverting }]);
  t.match(await both.prepare({ ...TRANSFER, data: '0xdeadbeef' }), {
    fields: { gas_limit: 200_000 },
    remark: 'Its gas limit is 200000, as nodes could not estimate it: execution reverted',
  });
});

t.test('policies that were changed since it was accepted hold, and no node is asked', async (t) => {
  const { prepare, double } = await open(t);
  for (const [later, reason] of [
    [{ whitelist_receivers: [FROM] }, /^Policy whitelist_receivers: /],
    [{ gas_limit_estimation: false }, /^Policy gas_limit_estimation: /],
    [{ private_transactions: true }, /^Policy private_transactions: /],
  ] as const) {
    t.match(await prepare(TRANSFER, {}, 0n, later as JsonObject), { kind: 'refused', reason });
  }
  t.equal(double.calls.length, 0);
  t.match(await prepare(TRANSFER, {}, 0n, { whitelist_receivers: [TO] }), { kind: 'ready' });
});

t.test('a limit beyond the block’s can never be mined', async (t) => {
  const { prepare } = await open(t, { blockGasLimit: 100_000n });
  t.same(await prepare({ ...TRANSFER, gas_limit: 100_001 }), {
    kind: 'refused',
    reason: 'Transaction gas limit (100001) exceeds block gas limit (100000)',
  });
  t.match(await prepare({ ...TRANSFER, gas_limit: 100_000 }), { kind: 'ready', fields: { gas_limit: 100_000 } });
});

t.test('the reserve on an estimate never exceeds the block', async (t) => {
  const { prepare } = await open(t, { blockGasLimit: 100_000n, estimate: () => ({ result: quantity(95_000n) }) });
  t.match(await prepare(TRANSFER), { kind: 'ready', fields: { gas_limit: 100_000 } });
  const large = await open(t, { blockGasLimit: 100_000n, estimate: () => ({ result: quantity(100_001n) }) });
  const reason = 'Transaction gas limit (100001) exceeds block gas limit (100000)';
  t.same(await large.prepare(TRANSFER), { kind: 'refused', reason }, 'with less it would only run out of gas');
  const silent = await open(t, { blockGasLimit: 0n });
  t.match(await silent.prepare(TRANSFER), { fields: { gas_limit: 23_100 } }, 'a block without a limit says nothing');
});

t.test('the type follows request, network and policy', async (t) => {
  const legacy = { gas_price: Number(3n * GWEI), max_fee_per_gas: undefined };
  const modern = await open(t);
  t.match(await modern.prepare(TRANSFER, { eip1559_pricing: false }), { fields: legacy });
  t.match(await modern.prepare({ to: TO, value: 0, gas_price: 1_000_000_007 }), {
    fields: { gas_price: 1_000_000_007 },
  });
  t.match(await modern.prepare({ to: TO, value: 0, max_fee_per_gas: 2_000_000_009, max_priority_fee_per_gas: 8 }), {
    fields: { max_fee_per_gas: 2_000_000_009, max_priority_fee_per_gas: 8 },
  });
  const old = await open(t, { baseFee: null });
  t.match(await old.prepare(TRANSFER), { fields: legacy });
  const declared = await open(t, {}, { chain_id: 31_337 });
  t.match(await declared.prepare(TRANSFER), { fields: legacy }, 'a whole entry without features');
});

t.test('authorizations are refused where the network has no fees for them', async (t) => {
  const { r, s, yParity } = Wallet.createRandom().authorizeSync({ address: TO, nonce: 0, chainId: 31_337 }).signature;
  const list = [{ chain_id: 31_337, address: TO, nonce: 0, y_parity: yParity, r, s }];
  const body = { ...TRANSFER, authorization_list: list };
  const old = await open(t, { baseFee: null });
  const reason = 'authorization_list requires EIP-1559 fees, and the network has none';
  t.same(await old.prepare(body), { kind: 'refused', reason });
  const modern = await open(t);
  t.match(await modern.prepare(body), { kind: 'ready' });
});

t.test('prices are lowered to the cap, and wait while the network asks for more', async (t) => {
  const { prepare } = await open(t, { baseFee: 2n * GWEI });
  const cap = Number(2n * GWEI) + 10;
  t.match(await prepare(TRANSFER, { gas_price_cap: cap }), {
    kind: 'ready',
    fields: { max_fee_per_gas: cap, max_priority_fee_per_gas: 850_000_000 },
  });
  t.match(await prepare(TRANSFER, { gas_price_cap: Number(2n * GWEI) - 1 }), {
    kind: 'parked',
    reason: "Policy gas_price_cap: the network's gas price 2000000000 exceeds gas price cap 1999999999",
    retryInMs: 10_000,
  });
  const legacy = await open(t, { baseFee: null, gasPrice: 5n * GWEI });
  t.match(await legacy.prepare(TRANSFER, { gas_price_cap: Number(5n * GWEI) }), {
    fields: { gas_price: Number(5n * GWEI) },
  });
  t.match(await legacy.prepare(TRANSFER, { gas_price_cap: Number(4n * GWEI) }), { kind: 'parked' });
});

t.test('a transaction that the account cannot pay, gas included, waits for money', async (t) => {
  const cost = 21_000n * 10n + 5n;
  const body = { to: TO, value: 5, gas_limit: 21_000, gas_price: 10 };
  const withBalance = async (balance: bigint) => (await open(t, { balance, baseFee: null })).prepare;

  const exact = await withBalance(cost);
  t.match(await exact(body, { min_balance: 0 }), { kind: 'ready', cost });
  const waits = { kind: 'parked', cause: 'balance', retryInMs: 10_000 };
  t.same(await exact(body), {
    ...waits,
    reason: `Insufficient balance: Relayer balance ${cost} is insufficient to cover ${cost}, with an enforced minimum balance of 1`,
  });
  const short = await withBalance(cost - 1n);
  t.same(await short(body, { min_balance: 0 }), {
    ...waits,
    reason: `Insufficient balance: Relayer balance ${cost - 1n} is insufficient to cover ${cost}`,
  });
});

t.test('money under way is not there, but may come back', async (t) => {
  const body = { to: TO, value: 5, gas_limit: 21_000, gas_price: 10 };
  const { prepare } = await open(t, { balance: 300_000n, baseFee: null });
  t.match(await prepare(body, {}, 89_000n), { kind: 'ready' });
  t.match(await prepare(body, {}, 90_000n), {
    kind: 'parked',
    reason: /^Insufficient balance: .* while up to 90000 may be taken by transactions under way$/,
  });
});

t.test('a burst asks for the market once and for the balance at most twice', async (t) => {
  const { prepare, double } = await open(t);
  const body = { ...TRANSFER, gas_limit: 21_000 };
  const all = await Promise.all(Array.from({ length: 200 }, () => prepare(body)));
  t.ok(all.every(({ kind }) => kind === 'ready'));
  const count = (wanted: string) => double.calls.filter(({ method }) => method === wanted).length;
  t.match(
    { blocks: count('eth_getBlockByNumber'), histories: count('eth_feeHistory'), balances: count('eth_getBalance') },
    { blocks: 1, histories: 1, balances: 2 },
  );
});

t.test('a price below the base fee waits for it, without a nonce', async (t) => {
  const { prepare } = await open(t, { baseFee: 10n });
  const parked = { kind: 'parked', reason: /base fee is 10 wei per gas, more than the 9 that were offered$/ };
  t.match(await prepare({ to: TO, value: 5, gas_price: 9 }), parked);
  t.match(await prepare({ to: TO, value: 5, max_fee_per_gas: 9, max_priority_fee_per_gas: 9 }), parked);
  t.match(await prepare({ to: TO, value: 5, gas_price: 10 }), { kind: 'ready' });
  const free = await open(t, { baseFee: null });
  t.match(await free.prepare({ to: TO, value: 5, gas_price: 0 }), { kind: 'ready' }, 'without base fee it may be free');
});

t.test('what one node makes up about a block ends nothing', async (t) => {
  const { prepare, double } = await open(t, { blockGasLimit: 1n });
  const body = { ...TRANSFER, gas_limit: 100_000 };
  let blocks = 0;
  const honest = answersOf({});
  const lying = answersOf({ blockGasLimit: 1n });
  double.answer((call) => {
    if (call.method !== 'eth_getBlockByNumber') return honest(call);
    blocks += 1;
    return blocks === 1 ? lying(call) : honest(call);
  });
  t.match(await prepare(body), { kind: 'ready' });
  t.equal(blocks, 2, 'asked anew, past what was kept');
});

t.test('for what one node makes up about a balance nobody waits', async (t) => {
  const { prepare } = await open(t, { balance: 0n }, {}, [{}]);
  t.match(await prepare({ ...TRANSFER, gas_limit: 21_000 }), { kind: 'ready' }, 'another one knows of more');
  const poor = await open(t, { balance: 0n }, {}, [{ balance: 7n }]);
  t.match(await poor.prepare({ ...TRANSFER, gas_limit: 21_000 }), {
    kind: 'parked',
    reason: /^Insufficient balance: Relayer balance 7 is insufficient/,
  });
});

t.test('what one of two nodes makes up ends nothing and is not paid', async (t) => {
  const absurd: DoubleHandler = () => ({ result: '0xffffffff' });
  const lies: readonly World[] = [
    { blockGasLimit: 20_000n },
    { estimate: absurd },
    { tips: 10n ** 30n },
    { baseFee: 10n ** 17n },
    { gasPrice: 10n ** 17n, tips: 10n ** 17n },
  ];
  for (const lie of lies) {
    const { prepare } = await open(t, lie, {}, [{}]);
    for (let turn = 0; turn < 3; turn += 1) {
      const made = await prepare(TRANSFER);
      t.match(made, { kind: 'ready', fields: { gas_limit: 23_100 } });
      t.ok(made.kind === 'ready' && made.cost < 23_100n * 20n * GWEI);
    }
  }
  const beyond = { estimate: absurd };
  const { prepare } = await open(t, beyond, {}, [beyond]);
  t.match(await prepare(TRANSFER), { kind: 'refused', reason: /exceeds block gas limit/ }, 'what both say counts');
});

t.test('what one node refuses while the other hangs waits, and is sent when that one can', async (t) => {
  const { prepare, more } = await open(t, { blockGasLimit: 1n }, {}, [{}]);
  const body = { ...TRANSFER, gas_limit: 100_000 };
  for (const other of more) other.answer(() => 'silence');
  t.match(await prepare(body), { kind: 'parked', reason: /exceeds block gas limit \(1\) \(by one endpoint/ });
  for (const other of more) other.answer(answersOf({}));
  t.match(await prepare(body), { kind: 'ready' });
  for (const other of more) other.answer(answersOf({ blockGasLimit: 1n }));
  t.match(await prepare(body), { kind: 'refused' }, 'both');
});

t.test('an only node’s leap of prices waits until it says so again', async (t) => {
  const { prepare, double } = await open(t, {}, { average_blocktime_ms: 1 });
  t.match(await prepare(TRANSFER), { kind: 'ready' });
  double.answer(answersOf({ baseFee: 10n ** 17n, gasPrice: 10n ** 17n }));
  await new Promise((resolve) => setTimeout(resolve, 5));
  t.match(await prepare(TRANSFER), { kind: 'parked', reason: /tells of a price of \d{18} wei per gas/ });
  t.match(await prepare({ to: TO, value: 5, gas_limit: 21_000, gas_price: Number(2n * GWEI) }), { kind: 'ready' });
});

t.test('a speed pays its gas from the balance as well', async (t) => {
  const { prepare } = await open(t, { balance: 6n });
  t.match(await prepare(TRANSFER), { kind: 'parked', reason: /^Insufficient balance: Relayer balance 6/ });
});

t.test('the fees of a rollup for data and operator are part of the cost', async (t) => {
  const half = 5n * 10n ** 14n;
  const fee = 2n * half;
  const estimate: DoubleHandler = ({ method }) => ({
    result: method === 'eth_call' ? `0x${half.toString(16).padStart(64, '0')}` : '0x5208',
  });
  const gas = 23_100n * (GWEI + 850_000_000n);
  const { prepare } = await open(t, { estimate }, { tags: ['optimism-based'] });
  const prepared = await prepare(TRANSFER);
  t.match(prepared, { kind: 'ready', cost: gas + 5n + fee, fields: { data_fee: Number(fee) } });
  const account = { address: FROM, policies: {} };
  const { fields } = prepared.kind === 'ready' ? prepared : { fields: {} };
  t.equal(preparedCostOf({ ...storedTransaction(account, TRANSFER), fields }), gas + 5n + fee, 'and is known again');
  const poor = await open(t, { estimate, balance: gas + fee }, { tags: ['optimism-based'] });
  t.match(await poor.prepare(TRANSFER), { kind: 'parked', reason: new RegExp(`cover ${gas + 5n + fee}`) });
});

t.test('a zkEVM node’s fee comes on top of the value', async (t) => {
  const fee = 10n ** 15n;
  const estimate: DoubleHandler = ({ method }) => {
    if (method === 'zkevm_estimateFee') return { result: quantity(fee) };
    if (method === 'zkevm_estimateGasPrice') return { result: '0x2' };
    return { result: '0x5208' };
  };
  const zk = { tags: ['polygon-zkevm-based'], chain_id: 31_337 };
  const { prepare } = await open(t, { estimate, baseFee: null }, zk);
  t.match(await prepare(TRANSFER), { kind: 'ready', fields: { gas_price: 3 }, cost: fee + 5n });
  const unsupported: DoubleHandler = ({ method }) =>
    method.startsWith('zkevm') ? { error: { code: -32_601, message: 'no such method' } } : { result: '0x5208' };
  const plain = await open(t, { estimate: unsupported, baseFee: null, gasPrice: 4n }, zk);
  t.match(await plain.prepare(TRANSFER), { kind: 'ready', fields: { gas_price: 6 }, cost: 6n * 23_100n + 5n });
});

t.test('prices come from the cache that the network asks for', async (t) => {
  const gas_price_cache = { enabled: true, stale_after_ms: 3_600_000, expire_after_ms: 7_200_000 };
  const { prepare, double } = await open(t, {}, { average_blocktime_ms: 1, gas_price_cache });
  const body = { ...TRANSFER, gas_limit: 21_000 };
  const first = await prepare(body);
  double.answer(answersOf({ baseFee: 5n * GWEI }));
  t.same(await prepare(body), first);
});
