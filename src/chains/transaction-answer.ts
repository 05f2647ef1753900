import { z } from 'zod';
import type { WireObject, WireValue } from '../domain/json/json.ts';
import { wireTime } from '../domain/wire-time.ts';
import type { Transaction } from '../features/transactions/records/transaction.ts';
import { transactionStatusSchema } from '../features/transactions/records/transaction-state.ts';

/** What answers are made from: a transaction, with what its family reads out of it. */
interface Source {
  transaction: Transaction;
}

/** A field: how it is described, and its value. Undefined: the answer has no such field. */
type AnswerField<From> = readonly [schema: z.ZodType, valueIn: (from: From) => WireValue];

export type AnswerFields<From> = Readonly<Record<string, AnswerField<From>>>;

/** Declares the fields of an answer, in their order. Its description and its view derive from them. */
export function answerOf<From>(fields: AnswerFields<From>): {
  schema: z.ZodType;
  view(from: From): WireObject;
} {
  const entries = Object.entries(fields);
  return {
    schema: z.object(Object.fromEntries(entries.map(([name, [schema]]) => [name, schema]))),
    view(from) {
      const view: WireObject = {};
      for (const [name, [, valueIn]] of entries) {
        const value = valueIn(from);
        if (value !== undefined) view[name] = value;
      }
      return view;
    },
  };
}

const moment = z.string().meta({ description: 'Date and time (RFC 3339)' });

/** The fields of all families. `absent` stands for what is not known yet. */
export function transactionFields<Absent extends null | undefined>(absent: Absent) {
  const optional = (schema: z.ZodType) => (absent === null ? schema.nullable() : schema.optional());
  const momentOf = (at: number | null) => (at === null ? absent : wireTime(at));
  return {
    id: [z.string(), ({ transaction }: Source) => transaction.id],
    hash: [optional(z.string()), ({ transaction }: Source) => transaction.hash ?? absent],
    status: [transactionStatusSchema, ({ transaction }: Source) => transaction.status],
    status_reason: [optional(z.string()), ({ transaction }: Source) => transaction.statusReason ?? absent],
    created_at: [moment, ({ transaction }: Source) => wireTime(transaction.createdAt)],
    sent_at: [optional(moment), ({ transaction }: Source) => momentOf(transaction.sentAt)],
    confirmed_at: [optional(moment), ({ transaction }: Source) => momentOf(transaction.confirmedAt)],
    relayer_id: [z.string(), ({ transaction }: Source) => transaction.relayerId],
  } as const satisfies AnswerFields<Source>;
}

/**
 * What the chain shows of a transaction that is in a block. A transaction that was taken back from its block may still
 * have its old receipt.
 */
export function receiptIn<Receipt>(
  { status }: Pick<Transaction, 'status'>,
  fields: { receipt?: Receipt | undefined } | undefined,
): Receipt | undefined {
  return status === 'sent' || status === 'submitted' ? undefined : fields?.receipt;
}
