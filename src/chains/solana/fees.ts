import { isNodeError, type ReadOne } from '../../egress/rpc/rpc-client.ts';
import { programsOf } from './guard/policies.ts';
import type { Message } from './message/compiled-message.ts';
import { readComputeBudget } from './message/compute-budget.ts';
import { COMPUTE_BUDGET_PROGRAM } from './programs.ts';
import { feeFor, recentPrices } from './provider.ts';

/** In lamports (solana-fee-structure). */
const LAMPORTS_PER_SIGNATURE = 5_000n;

/**
 * In compute units: what the runtime gives each instruction where a message names no limit, and the most of a
 * transaction.
 */
const DEFAULT_UNITS = 200_000;
export const MOST_UNITS = 1_400_000;

const MICRO = 1_000_000n;

/** A compute limit with room above what a simulation used: the chain's state changes until the transaction executes. */
export function limitFor(used: bigint): number {
  const roomy = (used * 11n + 9n) / 10n + 1_000n;
  return Math.min(Number(roomy), MOST_UNITS);
}

/**
 * A price per compute unit that was enough in three of four recent slots in which these accounts were written to. Zero
 * where no slot asked for a price, or the node does not tell: a price is optional.
 */
export async function priorityPrice(read: ReadOne, accounts: readonly string[]): Promise<bigint> {
  const told = await recentPrices(read, accounts).catch(untold);
  const prices = told.toSorted((one, other) => (one < other ? -1 : 1));
  return prices[Math.ceil(prices.length * 0.75) - 1] ?? 0n;
}

function untold(error: unknown): bigint[] {
  if (isNodeError(error)) return [];
  throw error;
}

/** The highest price per compute unit at which a transaction stays within a fee. */
export function priceWithin(fee: bigint, signatures: number, units: number): bigint {
  const left = fee - LAMPORTS_PER_SIGNATURE * BigInt(signatures);
  return left <= 0n ? 0n : (left * MICRO) / BigInt(units);
}

/**
 * What a message costs, in lamports: the node's figure, or the runtime's formula where the node cannot tell. For a
 * message that names limit and price itself, the higher of the two figures counts.
 */
export async function feeOf(read: ReadOne, message: Message, bytes: Uint8Array): Promise<bigint> {
  const told = await feeFor(read, Buffer.from(bytes).toString('base64'));
  const formula = formulaFee(message);
  if (told === null) return formula;
  const { limit, price } = readComputeBudget(message);
  return limit !== undefined && price !== undefined && formula > told ? formula : told;
}

function formulaFee(message: Message): bigint {
  const { limit, price } = readComputeBudget(message);
  const counted = programsOf(message).filter((program) => program !== COMPUTE_BUDGET_PROGRAM);
  const units = limit ?? Math.min(DEFAULT_UNITS * counted.length, MOST_UNITS);
  const priority = ((price ?? 0n) * BigInt(units) + MICRO - 1n) / MICRO;
  return LAMPORTS_PER_SIGNATURE * BigInt(message.signers) + priority;
}
