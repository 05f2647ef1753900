import { TransactionInstruction } from '@solana/web3.js';
import { z } from 'zod';
import { amountSchema, type JsonAmount } from '../../domain/amount.ts';
import { type JsonObject, memoizePerObject } from '../../domain/json/json.ts';
import { publicKeyOf } from './message/compiled-message.ts';

const instructionSchema = z.strictObject({
  program_id: z.string(),
  accounts: z.array(z.strictObject({ pubkey: z.string(), is_signer: z.boolean(), is_writable: z.boolean() })),
  /** Base64. */
  data: z.string(),
});

/** One instruction as clients write it. */
export type WireInstruction = z.output<typeof instructionSchema>;

const programErrorSchema = z.strictObject({ code: z.int(), name: z.string(), msg: z.string().exactOptional() });

/** What a program calls one of its own errors, as an Anchor IDL lists it. */
export type ProgramError = z.output<typeof programErrorSchema>;

/**
 * {@link import('../../features/transactions/records/transaction.ts').Transaction.request}: one of the first three fields is set.
 */
const requestSchema = z.strictObject({
  /** Base64, as the client signed it or left it unsigned. */
  transaction: z.string().exactOptional(),
  instructions: z.array(instructionSchema).exactOptional(),
  /**
   * Instead of both: a swap for SOL of as much of a token as may be swapped. Amount and price are found when it is
   * signed.
   */
  swap: z.strictObject({ mint: z.string() }).exactOptional(),
  /**
   * Of the relayer's own transaction: the lamports that it names to be taken from the account, and what else could take
   * something. Absent where nothing but the fee can be taken.
   */
  spends: z.strictObject({ lamports: amountSchema(128), uncounted: z.string().exactOptional() }).exactOptional(),
  /** The errors of an Anchor IDL; they name what failed. */
  errors: z.array(programErrorSchema).exactOptional(),
});

export type SolanaRequest = z.output<typeof requestSchema>;

/** Reads a request back from the store. */
export const readStoredRequest = memoizePerObject((request: JsonObject): SolanaRequest => requestSchema.parse(request));

/** Instructions in the form of Solana's package. */
export function toTransactionInstructions(instructions: readonly WireInstruction[]): TransactionInstruction[] {
  return instructions.map(
    ({ program_id: program, accounts, data }) =>
      new TransactionInstruction({
        programId: publicKeyOf(program),
        keys: accounts.map(({ pubkey, is_signer: isSigner, is_writable: isWritable }) => ({
          pubkey: publicKeyOf(pubkey),
          isSigner,
          isWritable,
        })),
        data: Buffer.from(data, 'base64'),
      }),
  );
}

const amount: z.ZodType<JsonAmount> = amountSchema(64);

const receiptSchema = z.strictObject({
  slot: amount,
  succeeded: z.boolean(),
  /** What the chain took, in lamports; absent where no node told. */
  fee: amount.exactOptional(),
  /** The last lines that programs logged, of a failed transaction. */
  logs: z.array(z.string()).exactOptional(),
  reason: z.string().exactOptional(),
});

export type SolanaReceipt = z.output<typeof receiptSchema>;

const swapFieldsSchema = z.strictObject({
  mint: z.string(),
  /** In the token's smallest unit. */
  given: amount,
  /** In lamports. */
  promised: amount,
  least: amount,
  /** The market's id of an order, where the market itself brings these very bytes to the chain. */
  request_id: z.string().exactOptional(),
});

const fieldsSchema = z.strictObject({
  /** The bytes that are signed, in base64; the blockhash or the nonce's value is among them. */
  message: z.string(),
  /** The signatures in base64, by place; the relayer's own place is empty. */
  signatures: z.array(z.string()),
  /** No block above this height takes the transaction. Null under a durable nonce, which has no such height. */
  last_valid_block_height: amount.nullable(),
  /** The chain's slot when the blockhash was read. The transaction is in no block of an earlier slot. */
  slot: amount,
  /** In lamports. */
  fee: amount,
  /** What the transaction pays for accounts that it makes, in lamports. */
  rent: amount.exactOptional(),
  /** What else the relayer's own transaction takes from the account, in lamports. */
  spent: amount.exactOptional(),
  /** The relayer has signed these very bytes before: they stay as they are. */
  is_signed: z.literal(true).exactOptional(),
  /** The account of the durable nonce, if the transaction has one. */
  nonce_account: z.string().exactOptional(),
  /** Of a swap: what it gives, what the market has promised for it, and the least that it executes for. */
  swap: swapFieldsSchema.exactOptional(),
  /** The whole signed transaction, in base64. */
  transaction: z.string().exactOptional(),
  receipt: receiptSchema.exactOptional(),
});

/** What the chain decided for a transaction: {@link import('../../features/transactions/records/attempt.ts').Attempt.fields}. */
export type SolanaFields = z.output<typeof fieldsSchema>;

/** Undefined before a transaction is prepared. */
export const readChainFields = memoizePerObject((fields: JsonObject): SolanaFields | undefined =>
  fields['message'] === undefined ? undefined : fieldsSchema.parse(fields),
);
