import { amountOf, jsonAmount } from '../../domain/amount.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import type { ActualSpend, RequestedSpend } from '../../features/plugins/records/spending.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import type { ChainSpending } from '../chain.ts';
import { isAddress } from './address.ts';
import { createsAssociatedAccount, feePayerLoss } from './guard/fee-payer.ts';
import type { CompiledMessage } from './message/compiled-message.ts';
import { decodeTransaction } from './message/transaction.ts';
import { ASSOCIATED_TOKEN_PROGRAM, COMPUTE_BUDGET_PROGRAM, MEMO_PROGRAMS, TOKEN_PROGRAM } from './programs.ts';
import { readChainFields, readStoredRequest, type SolanaRequest } from './schema.ts';
import { preparedCostOf } from './signing.ts';
import { MAX_TOKEN_ACCOUNT_SIZE } from './tokens/mint.ts';
import { TOKEN_ACCOUNT_SIZE } from './tokens/token-account.ts';
import { readLamportsTransfer } from './tokens/transfer.ts';

/** How many bytes of an instruction's data select a method in Anchor. */
const SELECTOR_BYTES = 8;

/** Programs that say nothing about the purpose of a transaction. */
const ASIDE = new Set([COMPUTE_BUDGET_PROGRAM, ...MEMO_PROGRAMS]);

interface Call {
  program: string;
  /** Accounts from lookup tables are empty. */
  named: readonly string[];
  data: Buffer;
}

/** What a request of a relayer's own transaction takes from its account. */
export type OwnFundsSpend = NonNullable<SolanaRequest['spends']>;

/**
 * What the relayer's own transaction takes from its account: lamports by transfers of the System program and as rent of
 * token accounts, which a limit can count, and whatever else could take something. Undefined where it takes nothing but
 * the fee.
 */
export function ownFundsSpend(message: CompiledMessage): OwnFundsSpend | undefined {
  const { keys, instructions } = message;
  const lamports = instructions.reduce((sum, { program, accounts, data }) => {
    if (accounts[0] !== 0) return sum;
    if (keys[program] === ASSOCIATED_TOKEN_PROGRAM && createsAssociatedAccount(data))
      return sum + mostRent(keys[accounts[5] ?? -1]);
    const transfer = readLamportsTransfer(keys[program] ?? '', [], data);
    return sum + (transfer?.lamports ?? 0n);
  }, 0n);
  // What a lookup table names is not known here, so it counts as what is not allowed.
  const uncounted = feePayerLoss(message, { paysRent: true, paysTransfers: true, lookedUp: [] });
  if (lamports === 0n && uncounted === undefined) return undefined;
  return { lamports: jsonAmount(lamports), ...(uncounted === undefined ? {} : { uncounted }) };
}

/** The rent of an account, in lamports: of each byte, and of the 128 that every account counts (solana-rent). */
const LAMPORTS_PER_BYTE = 6_960n;
const ACCOUNT_OVERHEAD = 128;

/** The most that an associated account costs on a chain with the usual rent. */
function mostRent(tokenProgram: string | undefined): bigint {
  const size = tokenProgram === TOKEN_PROGRAM ? TOKEN_ACCOUNT_SIZE : MAX_TOKEN_ACCOUNT_SIZE;
  return LAMPORTS_PER_BYTE * BigInt(ACCOUNT_OVERHEAD + size);
}

/**
 * What a request moves from the relayer. The recipient is who gets the relayer's lamports, or else the called program.
 * The selector is the first bytes of the instruction's data.
 */
function spendOf(request: JsonObject): RequestedSpend {
  const { spends } = readStoredRequest(request);
  const [first, ...others] = callsOf(request).filter(({ program }) => !ASIDE.has(program));
  return {
    recipient: first === undefined ? null : ((spends && paidBy(first)) ?? first.program),
    selector: first === undefined ? null : `0x${first.data.subarray(0, SELECTOR_BYTES).toString('hex')}`,
    value: amountOf(spends?.lamports ?? 0),
    fee: null,
    beyond: others.length === 0 ? null : `another instruction, of ${others[0]?.program}`,
    ...(spends?.uncounted === undefined ? {} : { uncounted: spends.uncounted }),
  };
}

/** Who gets lamports by an instruction of the relayer's own transaction; undefined where it pays nobody. */
function paidBy({ program, named, data }: Call): string | undefined {
  if (program === ASSOCIATED_TOKEN_PROGRAM) return named[2];
  return readLamportsTransfer(program, named, data)?.to;
}

function callsOf(request: JsonObject): Call[] {
  const { transaction, instructions = [] } = readStoredRequest(request);
  if (transaction === undefined) {
    return instructions.map(({ program_id: program, accounts, data }) => ({
      program,
      named: accounts.map(({ pubkey }) => pubkey),
      data: Buffer.from(data, 'base64'),
    }));
  }
  const { message } = decodeTransaction(transaction);
  return message.instructions.map(({ program, accounts, data }) => ({
    program: message.keys[program] ?? '',
    named: accounts.map((place) => message.keys[place] ?? ''),
    data,
  }));
}

/**
 * What a final transaction took. A failed transaction has paid its fee and moved nothing. A transaction in no block has
 * done neither.
 */
function spentBy({ request, fields }: Pick<Transaction, 'request' | 'fields'>): ActualSpend {
  const known = readChainFields(fields);
  const receipt = known?.receipt;
  if (known === undefined || receipt === undefined) return { value: 0n, fee: 0n };
  const fee = amountOf(receipt.fee ?? known.fee);
  if (!receipt.succeeded) return { value: 0n, fee };
  const value = amountOf(readStoredRequest(request).spends?.lamports ?? 0);
  const rest = preparedCostOf(fields) - value;
  return { value, fee: rest > fee ? rest : fee };
}

/** How plugins' limits measure a transaction, and how operators name what they allow. */
export const chainSpending: ChainSpending = {
  spendOf,
  spentBy,
  recipient: { read: (text) => (isAddress(text) ? text : undefined), expected: 'a program or an account of Solana' },
  selector: {
    read: (text) => (/^0x([0-9a-fA-F]{2}){0,8}$/.test(text) ? text.toLowerCase() : undefined),
    expected: 'the first 8 bytes of an instruction’s data, as 0x and hexadecimal',
  },
  withoutRecipient: 'a transaction that calls no program',
};
