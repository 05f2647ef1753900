import { amountOf } from '../../../domain/amount.ts';
import type { Json, JsonObject } from '../../../domain/json/json.ts';
import { isNodeError, type ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import { askOptionalFigure } from '../../optional-figure.ts';
import type { EvmNetworkSettings } from '../configuration/network.ts';
import { classifyEstimateError } from '../errors.ts';
import { gasPrice, parseGasPrice } from '../rpc-calls.ts';
import type { EvmFields } from '../schema.ts';
import { unsignedBytes } from '../signing.ts';
import { calldataGas } from './gas-amount.ts';

/** An attempt that is priced and not yet signed, whose fee beside gas is asked for. */
export interface UnsignedAttempt {
  request: JsonObject;
  fields: EvmFields;
  /** Null before it has a nonce. */
  sequence: bigint | null;
  /** The attempt in the form that `eth_estimateGas` takes. */
  call: JsonObject;
}

/**
 * The most that a rollup takes beside gas limit times price, in wei. Zero on other chains, and where the chain has no
 * such fee.
 */
export async function rollupDataFee(
  read: ReadFromEndpoint,
  settings: EvmNetworkSettings,
  attempt: UnsignedAttempt,
): Promise<bigint> {
  if (settings.isOptimism) return optimismFees(read, attempt);
  return settings.isZkEvm ? zkEvmSurcharge(read, attempt) : 0n;
}

/** The predeployed GasPriceOracle of the OP Stack (ethereum-optimism/specs, protocol/predeploys.md). */
const GAS_PRICE_ORACLE = '0x420000000000000000000000000000000000000F';

/** Selectors of the oracle's functions. Only the first two know what every later upgrade charges. */
const ORACLE = {
  getL1Fee: '0x49948e0e',
  getOperatorFee: '0x275aedd2',
  l1BaseFee: '0x519b4bd3',
  baseFeeScalar: '0xc5985918',
  blobBaseFee: '0xf8206140',
  blobBaseFeeScalar: '0x68d5dca6',
};

/**
 * Stands for a nonce that is not known yet. It is as long as nonces get, so that the bytes are not counted too short.
 */
const LONG_NONCE = 0xffff_ffffn;

async function optimismFees(read: ReadFromEndpoint, attempt: UnsignedAttempt): Promise<bigint> {
  const [data, operator] = await Promise.all([optimismDataFee(read, attempt), operatorFee(read, attempt)]);
  return data + operator;
}

/**
 * The fee of the chain's operator since the Isthmus upgrade, by the rule of the chain's own version. It is charged for
 * the whole gas limit before the first instruction (ethereum-optimism/specs, protocol/isthmus/exec-engine.md, Operator
 * Fee). Chains before that upgrade do not have the function.
 */
async function operatorFee(read: ReadFromEndpoint, { fields }: UnsignedAttempt): Promise<bigint> {
  return (await wordFrom(read, `${ORACLE.getOperatorFee}${word(amountOf(fields.gas_limit))}`)) ?? 0n;
}

async function optimismDataFee(
  read: ReadFromEndpoint,
  { request, fields, sequence }: UnsignedAttempt,
): Promise<bigint> {
  const unsigned = unsignedBytes({ request }, fields, sequence ?? LONG_NONCE).slice(2);
  return (await wordFrom(read, `${ORACLE.getL1Fee}${bytesArgument(unsigned)}`)) ?? (await ecotoneFee(read, unsigned));
}

/** Bytes that a signature adds. All of them count as non-zero. */
const SIGNATURE_BYTES = 68n;

/** The formula of the Ecotone upgrade (ethereum-optimism/specs, protocol/ecotone/l1-attributes.md). */
async function ecotoneFee(read: ReadFromEndpoint, unsigned: string): Promise<bigint> {
  const { l1BaseFee, baseFeeScalar, blobBaseFee, blobBaseFeeScalar } = ORACLE;
  const selectors = [l1BaseFee, baseFeeScalar, blobBaseFee, blobBaseFeeScalar];
  const [base, baseScalar, blob, blobScalar] = await Promise.all(selectors.map((selector) => wordFrom(read, selector)));
  if (base == null || baseScalar == null || blob == null || blobScalar == null) return 0n;
  const gas = calldataGas(Buffer.from(unsigned, 'hex')) + SIGNATURE_BYTES * 16n;
  return (gas * (16n * base * baseScalar + blob * blobScalar)) / 16_000_000n;
}

/** The one argument of a function that takes `bytes`, by the contract ABI. */
function bytesArgument(hex: string): string {
  const padded = hex.padEnd(Math.ceil(hex.length / 64) * 64, '0');
  return `${word(32n)}${word(BigInt(hex.length / 2))}${padded}`;
}

function word(value: bigint): string {
  return value.toString(16).padStart(64, '0');
}

/** A figure of the oracle; null when it reverts, does not know the function or is not there. */
async function wordFrom(read: ReadFromEndpoint, data: string): Promise<bigint | null> {
  try {
    return await read('eth_call', [{ to: GAS_PRICE_ORACLE, data }, 'latest'], firstWord);
  } catch (error) {
    if (isWithout(error)) return null;
    throw error;
  }
}

/**
 * Whether a node says that its chain has no such figure: the contract reverts, or the method is missing. Budgets and
 * the balance count these fees, so any other failure means that the figure is not known yet.
 */
function isWithout(error: unknown): boolean {
  if (!isNodeError(error)) return false;
  return classifyEstimateError(error) === 'fails' || error.code === -32_601 || error.code === -32_004;
}

function firstWord(answer: Json): bigint | null {
  if (typeof answer !== 'string' || !/^0x([0-9a-fA-F]{2})*$/.test(answer)) throw new TypeError('not bytes');
  return answer.length < 66 ? null : parseGasPrice(answer.slice(0, 66));
}

/**
 * The price that Polygon zkEVM nodes ask for a legacy transaction. It follows the cost of proving the transaction. If a
 * node does not say, the usual price.
 */
export async function zkEvmGasPrice(read: ReadFromEndpoint): Promise<bigint> {
  const cost = 'The price is that of eth_gasPrice, which leaves out the cost of the proof';
  const estimate = await askOptionalFigure(read, {
    method: 'zkevm_estimateGasPrice',
    params: [],
    parse: parseGasPrice,
    cost,
  });
  return estimate ?? (await gasPrice(read));
}

/** By how much a Polygon zkEVM node's figure for the whole fee exceeds gas limit times price. */
async function zkEvmSurcharge(read: ReadFromEndpoint, { fields, call }: UnsignedAttempt): Promise<bigint> {
  const perGas = amountOf(fields.max_fee_per_gas ?? fields.gas_price ?? 0);
  const paid = perGas * amountOf(fields.gas_limit);
  try {
    const fee = await read('zkevm_estimateFee', [call], parseGasPrice);
    return fee > paid ? fee - paid : 0n;
  } catch (error) {
    if (isWithout(error)) return 0n;
    throw error;
  }
}
