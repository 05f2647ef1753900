import type { z } from 'zod';
import type { BodyDescription, SigningDescription } from '../../chains/chain.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Json } from '../../domain/json/json.ts';
import type { RelayerAnswers } from './relayer-answers.ts';

/** The bodies and answers that depend on the chain family. Each is a union over all families. */
export interface ChainBodies {
  policies: BodyDescription;
  /** The body that creates a relayer. */
  relayer: BodyDescription;
  /** The body that creates a signer. */
  signer: BodyDescription;
  /** The bodies that create and change a network. */
  networks: { create: BodyDescription; update: BodyDescription };
  /** The answers about relayers. */
  answers: RelayerAnswers;
  /** The family of the examples: the first one. */
  example: { networkType: string; unit: string };
  /** The body that sends a transaction. */
  request: BodyDescription;
  /** A transaction in answers. */
  transaction: z.ZodType;
  message: Pick<SigningDescription, 'text' | 'answer'>;
  typedData: SigningDescription;
  /** A transaction that is signed but not sent. */
  unsent: SigningDescription;
  /** A transaction whose fees a relayer pays, and the user's payment for them. */
  sponsorship: BodyDescription & { quote: z.ZodType; built: z.ZodType };
  /** The JSON-RPC methods that families answer themselves. */
  methods: string;
}

/** The groups in which the operations are shown. */
export const TAGS = {
  Plugins: 'Scripts that run in the service, each with its own endpoint.',
  Relayers: 'Accounts that send transactions, each with its network, signer and policies.',
  Transactions: 'Transactions that relayers send, and their history.',
  Signing: 'Signing without sending, and JSON-RPC calls that are passed to a node.',
  Notifications: 'Webhook targets. Events are delivered at least once, in order per transaction.',
  Signers: 'Keys that relayers sign with. Responses never contain their secrets.',
  Networks: 'Chains that relayers use, with their RPC endpoints.',
  'API keys': 'Keys for this API, with their permissions.',
  Audit: 'Records of changes, transactions and signatures, with the API key of each.',
  Operations: 'Probes, metrics, events and this API description.',
} as const;

export type Tag = keyof typeof TAGS;

/** The description of a route, except its path and query. Those come from the route's schemas. */
export interface Operation {
  /** The operation's name in generated clients. */
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
  /** The errors of this operation, beyond those that every operation has. */
  errors: readonly ErrorCode[];
  /** Hidden in rendered documentation: the same operation is shown there under another path. */
  isAlias?: boolean;
  /**
   * Whether the operation honours an idempotency key. `operations` sets this for every operation that may have an
   * effect.
   */
  takesKey?: boolean;
  /** Failures outside of the error table, by status. Errors of the table may have the same status. */
  otherFailures?: Readonly<Record<number, OtherFailure>>;
  /** The failure of all other statuses. For instance a plugin chooses its own. */
  anyFailure?: OtherFailure;
}

/** A failure with a shape of its own. */
export interface OtherFailure {
  /** The name of the schema. */
  name: string;
  description: string;
  schema: z.ZodType;
}

/** A successful answer. It is JSON unless `contentType` is set. */
export interface Answer {
  status: number;
  description: string;
  schema: z.ZodType;
  contentType?: string;
  /** The kinds of events in a stream, each with its data. */
  events?: Readonly<Record<string, { name: string; data: z.ZodType }>>;
}

/** The errors of every body, before its content is checked. */
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
