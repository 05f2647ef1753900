import { COMPUTE_BUDGET_PROGRAM } from '../programs.ts';
import type { CompiledMessage } from './compiled-message.ts';

/** The first byte of an instruction of the ComputeBudget program (solana-sdk, compute-budget-interface). */
const SET_LIMIT = 2;
const SET_PRICE = 3;

/** The compute limit and price that a message sets. */
export interface ComputeBudget {
  /** Compute units for the whole message. The runtime lowers a higher limit to 1,400,000. */
  limit: number | undefined;
  /** Micro-lamports for each unit of the limit. */
  price: bigint | undefined;
}

/** The kinds of which the runtime takes one each: heap frame, limit, price, size of loaded accounts. */
const ONCE = new Set([1, SET_LIMIT, SET_PRICE, 4]);

/** Why the runtime would refuse a message: it sets something twice (`DuplicateInstruction`). */
export function computeBudgetFault({ keys, instructions }: CompiledMessage): string | undefined {
  const kinds = instructions.map(({ program, data: [kind = -1] }) =>
    keys[program] === COMPUTE_BUDGET_PROGRAM && ONCE.has(kind) ? kind : undefined,
  );
  const again = kinds.findIndex((kind, index) => kind !== undefined && kinds.indexOf(kind) < index);
  if (again < 0) return undefined;
  return (
    `Instruction ${again + 1} (program ${COMPUTE_BUDGET_PROGRAM}) sets what instruction ` +
    `${kinds.indexOf(kinds[again]) + 1} has set already, and Solana refuses that (DuplicateInstruction)`
  );
}

/**
 * Reads what the runtime reads, whatever the package makes of it: bytes after a value are ignored. The runtime refuses
 * a message that sets a value twice or incompletely. Here the first complete value counts.
 */
export function readComputeBudget({ keys, instructions }: CompiledMessage): ComputeBudget {
  const budgets = instructions
    .filter(({ program }) => keys[program] === COMPUTE_BUDGET_PROGRAM)
    .map(({ data }) => data);
  return {
    limit: budgets.find((data) => data[0] === SET_LIMIT && data.length >= 5)?.readUInt32LE(1),
    price: budgets.find((data) => data[0] === SET_PRICE && data.length >= 9)?.readBigUInt64LE(1),
  };
}
