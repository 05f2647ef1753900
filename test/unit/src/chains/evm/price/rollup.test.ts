import { Transaction as EthersTransaction } from 'ethers';
import t from 'tap';
import { type EvmSettings, readSettings } from '../../../../../../src/chains/evm/configuration/network.ts';
import { dataFee, type UnsignedAttempt, zkEvmGasPrice } from '../../../../../../src/chains/evm/price/rollup.ts';
import type { Json, JsonObject } from '../../../../../../src/domain/json/json.ts';
import type { ReadOne } from '../../../../../../src/egress/rpc/rpc-client.ts';
import { startAnvil } from '../../../../../support/anvil.ts';
import { openRpc } from '../../../../../support/evm.ts';
import { answersByMethod, type DoubleHandler, startRpcDouble } from '../../../../../support/rpc-double.ts';

const FROM = '0x00000000000000000000000000000000000000a1';
const TO = '0x00000000000000000000000000000000000000b0';
const ORACLE = '0x420000000000000000000000000000000000000F';

const settingsOf = (tag: string): EvmSettings =>
  readSettings({ type: 'evm', name: 'rollup', rpcUrls: [], settings: { symbol: 'ETH', tags: [tag] } });
const OPTIMISM = settingsOf('optimism-based');
const ZKEVM = settingsOf('polygon-zkevm-based');

const request: JsonObject = {
  to: TO,
  value: '0x5',
  data: '0xabcd0000',
  gas_limit: null,
  gas_price: null,
  max_fee_per_gas: null,
  max_priority_fee_per_gas: null,
  speed: 'fast',
};
const fields = { chain_id: 31_337, from: FROM, gas_limit: 50_000, max_fee_per_gas: 7_000, max_priority_fee_per_gas: 9 };
const version: UnsignedAttempt = { request, fields, sequence: null, call: { from: FROM, to: TO, value: '0x5' } };

/** The transaction as ethers writes it, with a nonce of the greatest length. */
const unsigned = EthersTransaction.from({
  type: 2,
  chainId: 31_337,
  nonce: 0xffff_ffff,
  to: TO,
  value: 5,
  data: '0xabcd0000',
  gasLimit: 50_000,
  maxFeePerGas: 7_000,
  maxPriorityFeePerGas: 9,
}).unsignedSerialized;
const unsignedSize = BigInt(unsigned.length / 2 - 1);

/** EVM code that returns 1000 times the length of its one `bytes` argument, whatever the selector is. */
const BY_SIZE = '0x6024356103e8025f5260205ff3';

/** EVM code that returns the given number for each of these selectors, and reverts for every other. */
function oracleCode(figures: Readonly<Record<string, bigint>>): string {
  const cases = Object.entries(figures);
  const bodiesAt = 5 + 10 * cases.length + 3;
  const hex = (value: number | bigint, bytes: number) => value.toString(16).padStart(2 * bytes, '0');
  const jumps = cases.map(([selector], index) => `8063${selector}1460${hex(bodiesAt + 16 * index, 1)}57`);
  const bodies = cases.map(([, value]) => `5b67${hex(value, 8)}5f5260205ff3`);
  return `0x5f3560e01c${jumps.join('')}5f5ffd${bodies.join('')}`;
}

const ECOTONE = { '519b4bd3': 20_000_000_000n, c5985918: 1_368n, f8206140: 3_000_000n, '68d5dca6': 810_949n };

t.test('the data fee of an OP chain, by the oracle’s contract', async (t) => {
  const anvil = await startAnvil();
  const rpc = openRpc([anvil.url]);
  t.teardown(() => Promise.all([rpc.close(), anvil.stop()]));
  const fee = (of = version) => rpc.onOne((read) => dataFee(read, OPTIMISM, of));

  t.equal(await fee(), 0n, 'a chain without the contract');

  await anvil.rpc('anvil_setCode', [ORACLE, BY_SIZE]);
  t.equal(await fee(), unsignedSize * 1000n, 'the oracle gets the bytes that are going to be signed');
  t.equal(await fee({ ...version, sequence: 5n }), (unsignedSize - 4n) * 1000n, 'with the nonce, where there is one');

  await anvil.rpc('anvil_setCode', [ORACLE, oracleCode(ECOTONE)]);
  const bytes = [...Buffer.from(unsigned.slice(2), 'hex')];
  const gas = BigInt(bytes.reduce((sum, byte) => sum + (byte === 0 ? 4 : 16), 0)) + 68n * 16n;
  const scaled = 16n * 20_000_000_000n * 1_368n + 3_000_000n * 810_949n;
  t.equal(await fee(), (gas * scaled) / 16_000_000n, 'without getL1Fee by the figures of Ecotone');

  await anvil.rpc('anvil_setCode', [ORACLE, oracleCode({ ...ECOTONE, '275aedd2': 4_321n })]);
  t.equal(await fee(), (gas * scaled) / 16_000_000n + 4_321n, 'with what the operator takes');

  const { '68d5dca6': _, ...bedrock } = ECOTONE;
  await anvil.rpc('anvil_setCode', [ORACLE, oracleCode(bedrock)]);
  t.equal(await fee(), 0n, 'figures that are missing hold nothing up');
});

/** A reader over one double with this handler. */
async function reading(t: { teardown(end: () => unknown): void }, handler: DoubleHandler) {
  const double = await startRpcDouble(handler);
  const rpc = openRpc([double.url]);
  t.teardown(() => Promise.all([rpc.close(), double.stop()]));
  const read: ReadOne = (method, params, parse) => rpc.read(method, params, parse);
  return { read, double };
}

t.test('the operator’s fee is asked for the whole gas limit', async (t) => {
  const { read, double } = await reading(t, () => ({ result: `0x${'0'.repeat(63)}9` }));
  t.equal(await dataFee(read, OPTIMISM, version), 18n);
  const asked = double.calls.map(({ params }) => String((params[0] as JsonObject)['data']));
  t.ok(asked.includes(`0x275aedd2${50_000n.toString(16).padStart(64, '0')}`));
});

t.test('an oracle that cannot be reached, or answers nonsense, is not free', async (t) => {
  for (const [answer, kind] of [
    ['hang-up', 'transport'],
    [{ error: { code: -32_000, message: 'header not found' } }, 'node'],
    [{ error: { code: -32_000, message: 'execution aborted (timeout = 5s)' } }, 'node'],
    [{ result: 7 as Json }, 'malformed'],
    [{ result: `0x${'f'.repeat(64)}` }, 'malformed'],
  ] as const) {
    const { read } = await reading(t, () => answer);
    t.match(await dataFee(read, OPTIMISM, version).catch((error: unknown) => error), { kind });
  }
});

t.test('a zkEVM node’s figure counts where it is more than gas limit times price', async (t) => {
  const paid = 50_000n * 7_000n;
  const { read, double } = await reading(t, answersByMethod({ zkevm_estimateFee: `0x${(paid + 11n).toString(16)}` }));
  t.equal(await dataFee(read, ZKEVM, version), 11n);
  t.same(double.calls[0]?.params, [version.call]);
  double.answer(answersByMethod({ zkevm_estimateFee: '0x1' }));
  t.equal(await dataFee(read, ZKEVM, version), 0n);
  const legacy = { ...version, fields: { chain_id: 1, from: FROM, gas_limit: 10, gas_price: 10 } };
  double.answer(answersByMethod({ zkevm_estimateFee: '0x65' }));
  t.equal(await dataFee(read, ZKEVM, legacy), 1n);
  for (const code of [-32_601, -32_004, 3]) {
    double.answer(() => ({ error: { code, message: 'no' } }));
    t.equal(await dataFee(read, ZKEVM, version), 0n, `code ${code}`);
  }
  double.answer(() => ({ error: { code: -32_000, message: 'failed to fetch state: context canceled' } }));
  t.match(await dataFee(read, ZKEVM, version).catch((error: unknown) => error), { kind: 'node' }, 'not known yet');
  double.answer(() => ({ status: 503 }));
  t.match(await dataFee(read, ZKEVM, version).catch((error: unknown) => error), { kind: 'http' });
});

t.test('a zkEVM node’s own price, or the usual one where it has none', async (t) => {
  const { read, double } = await reading(t, answersByMethod({ zkevm_estimateGasPrice: '0x9', eth_gasPrice: '0x7' }));
  t.equal(await zkEvmGasPrice(read), 9n);
  double.answer(answersByMethod({ zkevm_estimateGasPrice: 'cheap', eth_gasPrice: '0x7' }));
  t.equal(await zkEvmGasPrice(read), 7n, 'an answer that is no price');
  double.answer(answersByMethod({ eth_gasPrice: '0x7' }));
  t.equal(await zkEvmGasPrice(read), 7n, 'no such method');
  double.answer(() => 'hang-up');
  t.match(await zkEvmGasPrice(read).catch((error: unknown) => error), { kind: 'transport' });
});

t.test('elsewhere nothing is asked', async (t) => {
  const { read, double } = await reading(t, () => 'hang-up');
  t.equal(await dataFee(read, settingsOf('arbitrum-based'), version), 0n);
  t.equal(double.calls.length, 0);
});
