import { Ed25519Program, Secp256k1Program } from '@solana/web3.js';
import type { ReadFromEndpoint } from '../../egress/rpc/rpc-client.ts';
import { programsOf } from './guard/policies.ts';
import type { CompiledMessage } from './message/compiled-message.ts';
import { readComputeBudget } from './message/compute-budget.ts';
import { COMPUTE_BUDGET_PROGRAM } from './programs.ts';
import { getMessageFee, recentPrices } from './rpc-calls.ts';

/** In lamports (solana-fee-structure). */
const LAMPORTS_PER_SIGNATURE = 5_000n;

/**
 * In compute units: what the runtime gives each instruction where a message names no limit, and the most of a
 * transaction.
 */
const DEFAULT_UNITS = 200_000;
export const MAX_COMPUTE_UNITS = 1_400_000;

const MICRO = 1_000_000n;

/** A compute limit with room above what a simulation used: the chain's state changes until the transaction executes. */
export function computeLimitFor(used: bigint): number {
  const roomy = (used * 11n + 9n) / 10n + 1_000n;
  return Math.min(Number(roomy), MAX_COMPUTE_UNITS);
}

/**
 * A price per compute unit that was enough in three of four recent slots in which these accounts were written to. Zero
 * where no slot asked for a price, or the node does not tell: a price is optional.
 */
export async function priorityPrice(read: ReadFromEndpoint, accounts: readonly string[]): Promise<bigint> {
  const recent = await recentPrices(read, accounts);
  const prices = recent.toSorted((one, other) => (one < other ? -1 : 1));
  return prices[Math.ceil(prices.length * 0.75) - 1] ?? 0n;
}

/** The least price of an attempt whose predecessor got into no block, in micro-lamports per compute unit. */
const MIN_FURTHER_PRICE = 10_000n;

/**
 * The price of an attempt. One whose predecessor got into no block offers twice as much as that one, whatever others
 * paid: a congested network often tells low prices, or none.
 * @param usual what others paid
 * @param last what the last attempt offered; undefined for the first
 */
export function attemptPriorityPrice(usual: bigint, last: bigint | undefined): bigint {
  if (last === undefined) return usual;
  const raised = last * 2n > MIN_FURTHER_PRICE ? last * 2n : MIN_FURTHER_PRICE;
  return usual > raised ? usual : raised;
}

/** The highest price per compute unit at which a transaction stays within a fee. */
export function priorityPriceWithin(fee: bigint, signatures: number, units: number): bigint {
  const left = fee - LAMPORTS_PER_SIGNATURE * BigInt(signatures);
  return left <= 0n ? 0n : (left * MICRO) / BigInt(units);
}

/**
 * What a message costs, in lamports: the node's figure, or the runtime's formula where the node cannot tell. For a
 * message that names limit and price itself, the higher of the two figures counts.
 */
export async function messageFee(read: ReadFromEndpoint, message: CompiledMessage, bytes: Uint8Array): Promise<bigint> {
  const reported = await getMessageFee(read, Buffer.from(bytes).toString('base64'));
  const formula = formulaFee(message);
  if (reported === undefined) return formula;
  const { limit, price } = readComputeBudget(message);
  return limit !== undefined && price !== undefined && formula > reported ? formula : reported;
}

function formulaFee(message: CompiledMessage): bigint {
  const { limit, price } = readComputeBudget(message);
  const counted = programsOf(message).filter((program) => program !== COMPUTE_BUDGET_PROGRAM);
  const units = limit ?? Math.min(DEFAULT_UNITS * counted.length, MAX_COMPUTE_UNITS);
  const priority = ((price ?? 0n) * BigInt(units) + MICRO - 1n) / MICRO;
  return LAMPORTS_PER_SIGNATURE * BigInt(message.signers + checkedSignatures(message)) + priority;
}

/** The programs that check signatures in their data. The chain asks the price of a signature for each of them. */
const CHECKERS: ReadonlySet<string> = new Set([
  Ed25519Program.programId.toBase58(),
  Secp256k1Program.programId.toBase58(),
  'Secp256r1SigVerify1111111111111111111111111',
]);

/** How many signatures those programs check: the first byte of their data says it. */
function checkedSignatures({ keys, instructions }: CompiledMessage): number {
  return instructions
    .filter(({ program }) => CHECKERS.has(keys[program] ?? ''))
    .reduce((sum, { data: [count = 0] }) => sum + count, 0);
}
