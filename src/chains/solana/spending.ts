import { amountOf } from '../../domain/amount.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import type { Spend, Spent } from '../../domain/transaction/spending.ts';
import type { Transaction } from '../../domain/transaction/transaction.ts';
import type { ChainSpending } from '../chain.ts';
import { isAddress } from './address.ts';
import { decodeTransaction } from './message/transaction.ts';
import { COMPUTE_BUDGET_PROGRAM, MEMO_PROGRAMS } from './programs.ts';
import { readFields, readRequest } from './schema.ts';
import { costOf } from './signing.ts';

/** How many bytes of an instruction's data select a method in Anchor. */
const SELECTOR_BYTES = 8;

/** Programs that say nothing about the purpose of a transaction. */
const ASIDE = new Set([COMPUTE_BUDGET_PROGRAM, ...MEMO_PROGRAMS]);

interface Call {
  program: string;
  data: Buffer;
}

/**
 * What a request moves from the relayer: only the fee, since a request that could take more is refused. The recipient
 * is the called program. The selector is the first bytes of the instruction's data.
 */
function spendOf(request: JsonObject): Spend {
  const [first, ...others] = callsOf(request).filter(({ program }) => !ASIDE.has(program));
  return {
    recipient: first?.program ?? null,
    selector: first === undefined ? null : `0x${first.data.subarray(0, SELECTOR_BYTES).toString('hex')}`,
    value: 0n,
    fee: null,
    beyond: others.length === 0 ? null : `another instruction, of ${others[0]?.program}`,
  };
}

function callsOf(request: JsonObject): Call[] {
  const { transaction, instructions = [] } = readRequest(request);
  if (transaction === undefined) {
    return instructions.map(({ program_id: program, data }) => ({ program, data: Buffer.from(data, 'base64') }));
  }
  const { message } = decodeTransaction(transaction);
  return message.instructions.map(({ program, data }) => ({ program: message.keys[program] ?? '', data }));
}

/**
 * What a final transaction took. A failed transaction has paid its fee too. A transaction in no block has paid nothing.
 */
function spentBy({ fields }: Pick<Transaction, 'fields'>): Spent {
  const receipt = readFields(fields)?.receipt;
  if (receipt === undefined) return { value: 0n, fee: 0n };
  return { value: 0n, fee: receipt.fee === undefined ? costOf(fields) : amountOf(receipt.fee) };
}

/** How plugins' limits measure a transaction, and how operators name what they allow. */
export const spending: ChainSpending = {
  spendOf,
  spentBy,
  recipient: { read: (text) => (isAddress(text) ? text : undefined), expected: 'a program of Solana' },
  selector: {
    read: (text) => (/^0x([0-9a-fA-F]{2}){0,8}$/.test(text) ? text.toLowerCase() : undefined),
    expected: 'the first 8 bytes of an instruction’s data, as 0x and hexadecimal',
  },
  withoutRecipient: 'a transaction that calls no program',
};
