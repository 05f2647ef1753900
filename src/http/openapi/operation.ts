import type { z } from 'zod';
import type { DescribedBody, DescribedSigning } from '../../chains/description.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Json } from '../../domain/json/json.ts';
import type { RelayerAnswers } from './relayer-answers.ts';

/** What the chain families take and answer: any of their own. */
export interface ChainBodies {
  policies: DescribedBody;
  /** What makes relayers. */
  relayer: DescribedBody;
  /** What makes signers. */
  signer: DescribedBody;
  /** What makes and changes networks. */
  networks: { create: DescribedBody; update: DescribedBody };
  /** About relayers. */
  answers: RelayerAnswers;
  /** What stands for a family in examples: the first one's. */
  example: { networkType: string; unit: string };
  /** What is sent. */
  request: DescribedBody;
  /** What was sent, as answers show it. */
  transaction: z.ZodType;
  message: Pick<DescribedSigning, 'text' | 'answer'>;
  typedData: DescribedSigning;
  /** A transaction that is signed and not sent. */
  unsent: DescribedSigning;
  /** What users pay a relayer for its fees. */
  sponsorship: DescribedBody & { quote: z.ZodType; built: z.ZodType };
  /** The JSON-RPC methods that families answer themselves. */
  methods: string;
}

/** The groups in which the operations are shown. */
export const TAGS = {
  Plugins: 'Scripts that were dropped in, each an endpoint of its own.',
  Relayers: 'Accounts that send, each with its network, signer and policies.',
  Transactions: 'What relayers were asked to send, and what became of it.',
  Signing: 'Signatures over what is not sent, and calls that are passed through to a node.',
  Notifications: 'Webhook targets. Events are delivered at least once, in order per transaction.',
  Signers: 'The keys that relayers sign with; what is secret of them goes in and never comes out.',
  Networks: 'The chains that relayers are on, and where they are reached.',
  'API keys': 'Who may ask for what.',
  Audit: 'Who changed which setting.',
  Operations: 'Probes, metrics and this description.',
} as const;

export type Tag = keyof typeof TAGS;

/** What the description says of a route beyond its path and query, which its own schemas say. */
export interface Operation {
  /** Names it in generated clients. */
  id: string;
  tag: Tag;
  summary: string;
  description?: string;
  /** Absent: the route reads no body. */
  body?: { schema: z.ZodType; required: boolean; example: Json };
  answer: Answer;
  /** Query parameters that the handler reads by itself. */
  query?: Readonly<Record<string, string>>;
  /** Headers of the request that the handler reads by itself. */
  headers?: Readonly<Record<string, string>>;
  /** The rows of the error table that this operation adds to those that any may end with. */
  errors: readonly ErrorCode[];
  /** Left out where people read: the same stands there under another path. */
  isAlias?: boolean;
  /** Whether it honours an idempotency key; the description says so of whatever may have an effect. */
  takesKey?: boolean;
  /** Failures that are not rows of the error table, by statuses that some of those rows have too. */
  otherFailures?: Readonly<Record<number, OtherFailure>>;
  /** The failure that any further status may have, for what is called chooses it. */
  anyFailure?: OtherFailure;
}

/** A failure with a shape of its own. */
export interface OtherFailure {
  /** Of its schema. */
  name: string;
  description: string;
  schema: z.ZodType;
}

/** A successful answer: JSON unless it says otherwise. */
export interface Answer {
  status: number;
  description: string;
  schema: z.ZodType;
  contentType?: string;
  /** The kinds of events in a stream, each with its data. */
  events?: Readonly<Record<string, { name: string; data: z.ZodType }>>;
}

/** What can be wrong with a body before anybody looks at what it says. */
export const BODY: readonly ErrorCode[] = [
  'INVALID_REQUEST',
  'REQUEST_TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
];
export const OF_RELAYER: readonly ErrorCode[] = ['RELAYER_NOT_FOUND'];
export const ACTING: readonly ErrorCode[] = ['RELAYER_PAUSED', 'RELAYER_DISABLED', 'RELAYER_LIMITED'];

/** The usual answer of an operation. */
export function found(description: string, schema: z.ZodType): Answer {
  return { status: 200, description, schema };
}
