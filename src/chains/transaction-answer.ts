import { z } from 'zod';
import type { WireObject, WireValue } from '../domain/json/json.ts';
import { type Transaction, transactionRecord } from '../features/transactions/records/transaction.ts';

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

/** The fields of all families: the columns that the record marks as shown. `absent` stands for what is not known yet. */
export function transactionFields(absent: null | undefined) {
  const fields = Object.entries(transactionRecord.shown).map(
    ([name, [schema, valueIn]]): [string, AnswerField<Source>] => [
      name,
      [
        absent === undefined && schema instanceof z.ZodNullable ? z.optional(schema.unwrap()) : schema,
        ({ transaction }) => valueIn(transaction) ?? absent,
      ],
    ],
  );
  return Object.fromEntries(fields) as Record<keyof typeof transactionRecord.shown, AnswerField<Source>>;
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
