import { COMPUTE_BUDGET_PROGRAM } from '../programs.ts';
import type { Instruction } from './compile.ts';
import type { Message } from './compiled-message.ts';

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

/**
 * Reads what the runtime reads: bytes after a value are ignored. The runtime refuses a message that sets a value twice
 * or incompletely. Here the first complete value counts.
 */
export function readComputeBudget({ keys, instructions }: Message): ComputeBudget {
  const said = instructions.filter(({ program }) => keys[program] === COMPUTE_BUDGET_PROGRAM).map(({ data }) => data);
  return {
    limit: said.find((data) => data[0] === SET_LIMIT && data.length >= 5)?.readUInt32LE(1),
    price: said.find((data) => data[0] === SET_PRICE && data.length >= 9)?.readBigUInt64LE(1),
  };
}

/** @throws RangeError for units that do not fit into 32 bits */
export function setLimit(units: number): Instruction {
  const data = Buffer.from([SET_LIMIT, 0, 0, 0, 0]);
  data.writeUInt32LE(units, 1);
  return { program: COMPUTE_BUDGET_PROGRAM, accounts: [], data };
}

/** @throws RangeError for a price that does not fit into 64 bits */
export function setPrice(microLamports: bigint): Instruction {
  const data = Buffer.from([SET_PRICE, 0, 0, 0, 0, 0, 0, 0, 0]);
  data.writeBigUInt64LE(microLamports, 1);
  return { program: COMPUTE_BUDGET_PROGRAM, accounts: [], data };
}
