import type { ReadOne } from '../../egress/rpc/rpc-client.ts';
import { readComputeBudget } from './message/compute-budget.ts';
import type { Message } from './message/message.ts';
import { feeFor, recentPrices } from './provider.ts';

/** In lamports (solana-fee-structure). */
const LAMPORTS_PER_SIGNATURE = 5_000n;

/** What the runtime gives an instruction that names no limit, and a whole transaction at most, in compute units. */
const DEFAULT_UNITS = 200_000;
export const MOST_UNITS = 1_400_000;

const MICRO = 1_000_000n;

/** A limit of compute units for what a simulation used: state moves on until it is executed. */
export function limitFor(used: bigint): number {
  return Math.min(Math.ceil(Number(used) * 1.1) + 1_000, MOST_UNITS);
}

/**
 * A price per compute unit that blocks took lately where these accounts were written to: what three of four such slots
 * asked at most. Zero where nobody asked anything.
 */
export async function priorityPrice(read: ReadOne, accounts: readonly string[]): Promise<bigint> {
  const prices = (await recentPrices(read, accounts)).toSorted((one, other) => (one < other ? -1 : 1));
  return prices[Math.floor(prices.length * 0.75)] ?? 0n;
}

/** The highest price per compute unit at which a transaction stays within a fee. */
export function priceWithin(fee: bigint, signatures: number, units: number): bigint {
  const left = fee - LAMPORTS_PER_SIGNATURE * BigInt(signatures);
  return left <= 0n ? 0n : (left * MICRO) / BigInt(units);
}

/** What a message costs, in lamports: the node's figure, or the runtime's formula where the node cannot tell. */
export async function feeOf(read: ReadOne, message: Message, bytes: Uint8Array): Promise<bigint> {
  return (await feeFor(read, Buffer.from(bytes).toString('base64'))) ?? formulaFee(message);
}

function formulaFee(message: Message): bigint {
  const { limit, price } = readComputeBudget(message);
  const units = limit ?? Math.min(DEFAULT_UNITS * message.instructions.length, MOST_UNITS);
  const priority = ((price ?? 0n) * BigInt(units) + MICRO - 1n) / MICRO;
  return LAMPORTS_PER_SIGNATURE * BigInt(message.signers) + priority;
}
