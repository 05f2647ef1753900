import { z } from 'zod';
import { MAX_OPERATIONS } from '../message/transaction-envelope.ts';
import { createContractSchema, invokeContractSchema, uploadWasmSchema } from './contract.ts';
import { paymentSchema } from './payment-operation.ts';

/** An operation as clients write it. */
const operationSchema = z.discriminatedUnion('type', [
  paymentSchema,
  invokeContractSchema,
  createContractSchema,
  uploadWasmSchema,
]);

/**
 * The operations of a request. By the protocol an operation of a contract comes alone. Faults are in the reference's
 * words.
 */
export const operationsSchema = z
  .array(operationSchema)
  .max(MAX_OPERATIONS, {
    error: ({ input }) =>
      `Transaction has ${(input as unknown[]).length} operations, but maximum allowed is ${MAX_OPERATIONS}`,
  })
  .superRefine((operations, context) => {
    const contracts = operations.filter(isOfContract).length;
    if (contracts > 1) {
      context.addIssue({ code: 'custom', message: 'Transaction can contain at most one Soroban operation' });
    } else if (contracts === 1 && operations.length > 1) {
      const message = 'Soroban operations must be exclusive - no other operations allowed in the same transaction';
      context.addIssue({ code: 'custom', message });
    }
  })
  .meta({ description: 'Operations, which all take effect or none; a contract operation must be the only one' });

/** Whether an operation is one of contracts. */
export function isOfContract({ type }: { type: string }): boolean {
  return type !== 'payment';
}
