import type { z } from 'zod';
import type { JsonObject } from '../domain/json/json.ts';

/** A body as clients send it, and what comes of it. */
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

/** What a family says of itself in the description of the API. Parts that it does not have are absent. */
export interface ChainDescription {
  /** In the names of its schemas, for instance `Evm`. */
  name: string;
  /** Some of its policies, as an update sends them. */
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
  /** What users pay for having the relayer pay: what is asked, and what a quote and what is built are. */
  sponsorship?: DescribedBody & { quote: z.ZodType; built: z.ZodType };
  /** What is answered where a part is asked for that it does not have, in the reference's words. */
  refusals?: Partial<Record<'message' | 'typedData' | 'sponsorship', string>>;
  /** JSON-RPC methods of its own, in words; begins with the family's name. */
  methods?: string;
}
