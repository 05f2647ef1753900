import { COMPUTE_BUDGET_PROGRAM } from '../programs.ts';
import type { Instruction } from './compile.ts';
import type { Message } from './compiled-message.ts';

/** The first byte of an instruction of the ComputeBudget program (solana-sdk, compute-budget-interface). */
const SET_LIMIT = 2;
const SET_PRICE = 3;

/** What a message says of its computation. */
export interface ComputeBudget {
  /** Compute units for all of it; the runtime cuts what is more than 1,400,000. */
  limit: number | undefined;
  /** Micro-lamports for each unit of the limit. */
  price: bigint | undefined;
}

/**
 * What the runtime reads in a message: bytes after a value are nothing to it. It refuses a message that says a thing
 * twice, or half of it; here the first whole one counts.
 */
export function readComputeBudget({ keys, instructions }: Message): ComputeBudget {
  const said = instructions.filter(({ program }) => keys[program] === COMPUTE_BUDGET_PROGRAM).map(({ data }) => data);
  return {
    limit: said.find((data) => data[0] === SET_LIMIT && data.length >= 5)?.readUInt32LE(1),
    price: said.find((data) => data[0] === SET_PRICE && data.length >= 9)?.readBigUInt64LE(1),
  };
}

/** @throws RangeError for units that are not of 32 bits */
export function setLimit(units: number): Instruction {
  const data = Buffer.from([SET_LIMIT, 0, 0, 0, 0]);
  data.writeUInt32LE(units, 1);
  return { program: COMPUTE_BUDGET_PROGRAM, accounts: [], data };
}

/** @throws RangeError for a price that is not of 64 bits */
export function setPrice(microLamports: bigint): Instruction {
  const data = Buffer.from([SET_PRICE, 0, 0, 0, 0, 0, 0, 0, 0]);
  data.writeBigUInt64LE(microLamports, 1);
  return { program: COMPUTE_BUDGET_PROGRAM, accounts: [], data };
}
