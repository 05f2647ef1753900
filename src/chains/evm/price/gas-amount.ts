import type { EvmRequest } from '../schema.ts';

/** EIP-3860: no node takes longer init code, and each of its words costs gas. */
export const MAX_INIT_CODE = 49_152;
const INIT_CODE_WORD = 2;

const TRANSACTION = 21_000;
const CREATION = 32_000;
/** EIP-2028: a zero byte is one token of 4 gas, any other four. */
const TOKEN = 4;
/** EIP-7623: what a token costs at least, whatever is executed. */
const FLOOR_TOKEN = 10;
/** EIP-2930. */
const ACCESS_ADDRESS = 2_400;
const ACCESS_KEY = 1_900;
/** EIP-7702: the price of an account that does not exist yet, part of which may come back. */
const AUTHORIZATION = 25_000;

/** The parts of a request that cost gas before its first instruction. */
export type IntrinsicGasParts = Pick<EvmRequest, 'to' | 'data' | 'accessList' | 'authorizationList'>;

/**
 * The least gas limit with which a node takes a transaction: what is charged before its first instruction (Yellow Paper
 * appendix G; EIP-2028, 2930, 3860, 7702), or the floor of its data (EIP-7623) where that is more.
 */
export function intrinsicGas({ to, data, accessList, authorizationList }: IntrinsicGasParts): bigint {
  const bytes = callData(data);
  const tokens = tokensOf(bytes);
  const creation = to === null ? CREATION + INIT_CODE_WORD * Math.ceil(bytes.length / 32) : 0;
  const access = accessList.reduce((sum, { storage_keys: keys }) => sum + ACCESS_ADDRESS + ACCESS_KEY * keys.length, 0);
  const intrinsic = TRANSACTION + TOKEN * tokens + creation + access + AUTHORIZATION * authorizationList.length;
  return BigInt(Math.max(intrinsic, TRANSACTION + FLOOR_TOKEN * tokens));
}

/** What the bytes of a transaction cost as call data (EIP-2028). */
export function calldataGas(bytes: Buffer): bigint {
  return BigInt(TOKEN * tokensOf(bytes));
}

function tokensOf(bytes: Buffer): number {
  let tokens = 0;
  // A loop, because `reduce` would make a call for each byte of up to a megabyte.
  for (let at = 0; at < bytes.length; at += 1) tokens += bytes[at] === 0 ? 1 : 4;
  return tokens;
}

/** Call data as bytes; empty if it is absent. */
export function callData(data: string | null): Buffer {
  return Buffer.from((data ?? '').replace(/^0x/, ''), 'hex');
}
