import { z } from 'zod';
import type { Json } from '../../../domain/json/json.ts';
import { contractValueOf } from '../message/contract-value.ts';
import { ValueFault } from '../message/value-fault.ts';

/** A contract's argument as clients write it: one key, which names the type. */
export const contractValueSchema = z
  .unknown()
  .transform((value) => value as Json)
  .superRefine((value, context) => {
    try {
      contractValueOf(value);
    } catch (error) {
      if (!(error instanceof ValueFault)) throw error;
      context.addIssue({ code: 'custom', message: error.message, path: [...error.path] });
    }
  })
  .meta({
    description: 'Object with the type as its only key: {"u32": 7}, {"i128": {"hi": 0, "lo": "7"}}, {"address": "C…"}',
    anyOf: [{ type: 'object', minProperties: 1, maxProperties: 1 }, { const: 'void' }],
  });
