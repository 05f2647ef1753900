import type { z } from 'zod';
import type { JsonObject } from '../domain/json/json.ts';

/** The schema of a body that clients send, with an example. */
export interface DescribedBody {
  schema: z.ZodType;
  example: JsonObject;
}

/** What one of the signing endpoints takes and answers in a family. */
export interface DescribedSigning extends DescribedBody {
  /** What is signed, and which rules hold; begins with the family's name. */
  text: string;
  answer: z.ZodType;
}

/** A family's part in the description of the API. Parts that the family does not have are absent. */
export interface ChainDescription {
  /** The family's name in the names of its schemas, for instance `Evm`. */
  name: string;
  /** Some of the family's policies, as an update sends them. */
  policies: JsonObject;
  /** The body of a send. */
  request?: DescribedBody;
  /** A transaction as answers show it. */
  transaction?: z.ZodType;
  signing: {
    message?: Omit<DescribedSigning, 'schema' | 'example'>;
    typedData?: DescribedSigning;
    transaction?: DescribedSigning;
  };
  /**
   * The sponsored endpoints, where users pay for having the relayer pay: the body, the quote and the built transaction.
   */
  sponsorship?: DescribedBody & { quote: z.ZodType; built: z.ZodType };
  /** The answers, in the reference's words, to requests for a part that the family does not have. */
  refusals?: Partial<Record<'message' | 'typedData' | 'sponsorship', string>>;
  /** Describes the family's own JSON-RPC methods; begins with the family's name. */
  methods?: string;
}
