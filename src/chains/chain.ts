import { z } from 'zod';
import type { JsonObject, WireObject } from '../domain/json/json.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { MarketClient } from '../egress/market-client.ts';
import type { RpcClient } from '../egress/rpc/rpc-client.ts';
import type { RpcDialect } from '../egress/rpc/rpc-verdict.ts';
import type { Network } from '../features/networks/record.ts';
import type { ActualSpend, SpendingForms } from '../features/plugins/records/spending.ts';
import type { AnchorKind } from '../features/transactions/records/anchor.ts';
import type { Attempt } from '../features/transactions/records/attempt.ts';
import type { Timestamp, Transaction } from '../features/transactions/records/transaction.ts';
import type { WebhookEventName } from '../features/webhooks/records/webhook-event.ts';
import type { Curve, Signer } from '../signers/signer.ts';
import type { ChainClient, ParsedRequest, RelayerAccount } from './chain-client.ts';

/**
 * One chain family. Code above `chains/` uses this interface only, so the differences between families stay behind it.
 * Stateless: the live side of one network is a {@link ChainClient}.
 */
export interface Chain extends ChainFamily {
  /** The unit of balances, as the balance endpoint names it. */
  readonly unit: string;
  /** How clients see the sequence of an account. Absent in a family whose accounts have none. */
  readonly sequence?: SequenceView;
  readonly description: ChainDescription;

  readonly pace: ChainPace;
  /** How to read errors of the family's nodes. Absent: they say nothing beyond what every gateway says. */
  readonly dialect?: RpcDialect;
  /**
   * The name of a chain that can be started anew, such as a chain for development. Two identities with the same name
   * are two starts of that chain. Undefined for other chains, absent in a family that has no such chain.
   */
  restartable?(identity: string): string | undefined;

  /** The account of a public key, in the form that the API shows. */
  addressOf(publicKey: Uint8Array): string;
  /** Policies as the API shows them: defaults filled in, integers as the reference writes them. */
  policyView(policies: JsonObject): WireObject | undefined;
  /**
   * The fault, in the reference's words, if checked policies ask for something that the named network lacks; null if
   * there is none. Absent in a family whose policies fit every network.
   */
  policyFault?(policies: JsonObject, network: string, settings?: JsonObject): string | null;
  /** The balance, in the smallest unit, that the health check asks for; null when it does not look at the balance. */
  minimumBalance(policies: JsonObject): bigint | null;
  /**
   * Checks the body of a send request against the account's policy, without touching the network.
   * @throws AppError `INVALID_REQUEST` with the reference's text
   */
  parseRequest(body: unknown, account: RelayerAccount, now: Timestamp): ParsedRequest;
  /** A transaction as the API and the webhooks show it, keys in the reference's order. */
  transactionView(transaction: Transaction): WireObject;
  /**
   * A short view of what one attempt does and offers to pay, for anyone who asks how a transaction went. Absent:
   * nothing to show.
   */
  attemptView?(attempt: Attempt): WireObject;
  /** The block that a transaction is in, and what the transaction used up there; null while it is in no block. */
  inclusionView?(transaction: Transaction): WireObject | null;
  /** The block in a few words, for instance `block 12 (0xabc…)`; undefined while the transaction is in none. */
  placeOf?(transaction: Transaction): string | undefined;
  /**
   * Whether the block that a transaction was last seen in shows that it failed. Absent: every transaction in a block
   * succeeded.
   */
  failedInBlock?(transaction: Transaction): boolean;
  /** {@link ReadyPreparation.cost} of an attempt that was prepared before. */
  costOf(attempt: Pick<Attempt, 'request' | 'fields'>): bigint;
  /**
   * How plugins' spending limits apply. Absent in a family that cannot tell what a request moves: limits are refused
   * there.
   */
  readonly spending?: ChainSpending;
  /**
   * Returns fields with the same meaning and price whose signed bytes differ. Otherwise two equal payments in one block
   * would become one.
   */
  withDistinctBytes(fields: JsonObject): JsonObject;
  /**
   * What the next attempt has to know of the fields of the last one, when a transaction is signed anew. Absent: nothing.
   */
  renewedFields?(fields: JsonObject): JsonObject;
  /**
   * When a relayer swaps its collected tokens for the coin, by its checked policies; undefined: never. Absent, like
   * `swapEvent`, in a family without swaps.
   */
  swapSchedule?(policies: JsonObject): SwapSchedule | undefined;
  /**
   * The webhook event for what became of a swap, by its status. Undefined for a transaction that is no swap, and for a
   * status without an event.
   */
  swapEvent?(transaction: Transaction): { event: WebhookEventName; payload: WireObject } | undefined;
  /**
   * Signs a text. Body and answer have the form of the sign endpoint. Absent, like `signTypedData`, in a family without
   * such signatures.
   * @throws AppError `INVALID_REQUEST`, `SIGNER_FAILED`
   */
  signMessage?(body: unknown, account: RelayerAccount, signer: Signer): Promise<WireObject>;
  /**
   * Signs typed data. Body and answer have the form of the sign-typed-data endpoint.
   * @throws AppError `INVALID_REQUEST`, `SIGNER_FAILED`
   */
  signTypedData?(body: unknown, account: RelayerAccount, signer: Signer): Promise<WireObject>;
  /**
   * Whether a JSON-RPC method of the family's nodes takes bytes that are already signed. The chain executes such bytes
   * once, however often they arrive.
   */
  takesSignedBytes?(method: string): boolean;
  /**
   * Opens the live side of a network over the given endpoints.
   * @param market the network's own market if it names one, else that of the service
   * @param relays clients for the network's {@link ChainFamily.relays}, by their method
   */
  connect(
    network: Network,
    rpc: RpcClient,
    market: MarketClient,
    deployments?: ContractDeployments,
    relays?: ReadonlyMap<string, RpcClient>,
  ): ChainClient;
}

/** An endpoint that takes transactions and keeps them private, and the method with which it does. */
export interface PrivateRelay {
  url: string;
  method: string;
}

/** The families' contracts and the service that finds trade routes. The operator sets them for all networks. */
export interface ContractDeployments {
  /** Addresses, by the names of the variables that give them. */
  contracts: Readonly<Record<string, string>>;
  /** The service that finds the route of a trade; null without a key for it. */
  routes: MarketClient | null;
}

/** The sequence of an account, as clients meet it. */
export interface SequenceView {
  /** The name in texts, for instance `nonce`. */
  name: string;
  /** Whether clients see the last used sequence. Absent: they see the next one. */
  showsLast?: boolean;
  /** Its key in the status answer, and what the description of the API says of it there. */
  statusKey: string;
  description: string;
  /** What disables a relayer while its sequence cannot be read: the type of the reason, and its text. */
  failure: { type: string; text: string };
  /**
   * Whether an account's sequences may begin anew, as on a chain that is started anew under its old name. Allowed only
   * where bytes under a past sequence do no harm: a chain that has passed the sequence never executes them, and they
   * are soon too old for any other chain.
   */
  beginsAnew?: boolean;
  /** Whether the route `by-nonce` finds transactions by it. */
  isLookedUp: boolean;
}

/** How fast a family's chains go, in milliseconds. The engine chooses what is absent. */
export interface ChainPace {
  /** How long to try a request that sets no end itself. */
  lifetimeMs: number;
  /** The family's kinds of anchors. For each kind: how many transactions of an account may wait for a block. */
  anchors: Partial<Record<AnchorKind, number>>;
  /** The time after which the same bytes are offered again. */
  reofferMs?: number;
  /** The shortest pause between two looks at a transaction. */
  lookMs?: number;
}

export interface SwapSchedule {
  /** A line of cron with seconds; null: no schedule. */
  cron: string | null;
  /** Swaps only while the balance is below this, in the smallest unit; null: whatever the balance. */
  below: bigint | null;
}

/** How a family tells what a transaction spends, before it is sent and after it is final. */
export interface ChainSpending extends SpendingForms {
  /** What a final transaction took from its account. Never less than the real amount. */
  spentBy(transaction: Transaction): ActualSpend;
}

/** The schema of a body that clients send, with an example. */
export interface BodyDescription {
  schema: z.ZodType;
  example: JsonObject;
}

/** What one of the signing endpoints takes and answers in a family. */
export interface SigningDescription extends BodyDescription {
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
  request?: BodyDescription;
  /** A transaction as answers show it. */
  transaction?: z.ZodType;
  signing: {
    message?: Omit<SigningDescription, 'schema' | 'example'>;
    typedData?: SigningDescription;
    transaction?: SigningDescription;
  };
  /**
   * The sponsored endpoints, where users pay for having the relayer pay: the body, the quote and the built transaction.
   */
  sponsorship?: BodyDescription & { quote: z.ZodType; built: z.ZodType };
  /** The answers, in the reference's words, to requests for a part that the family does not have. */
  refusals?: Partial<Record<'message' | 'typedData' | 'sponsorship', string>>;
  /** Describes the family's own JSON-RPC methods; begins with the family's name. */
  methods?: string;
}

/** Pages link to them, so no other scheme is taken. */
export const webUrlSchema = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });

/** The fields that network entries of all families have, with the usual time between two blocks. */
export const networkFields = (blockTimeMs: number) => ({
  average_blocktime_ms: z
    .int()
    .min(1)
    .max(86_400_000)
    .default(blockTimeMs)
    .describe('Average time between two blocks, in milliseconds'),
  is_testnet: z
    .boolean()
    .optional()
    .describe('Whether this is a test network; shown in the API, and selects the Soroswap router on Stellar'),
  tags: z.array(z.string()).optional().describe('Labels; shown in the API, no effect'),
  explorer_urls: z.array(webUrlSchema).optional().describe('URLs of block explorers; shown in the API, no effect'),
});

/** Checked settings in the form of {@link ChainFamily.networkSchema}; absent fields stay absent. */
export function networkSchemaOf(settings: z.ZodType<object>): z.ZodType<JsonObject> {
  return settings.transform((parsed): JsonObject => JSON.parse(JSON.stringify(parsed)) as JsonObject);
}

/** The part of a chain family that is known before its code is loaded. Configuration is checked against it. */
export interface ChainFamily {
  readonly type: NetworkType;
  readonly curve: Curve;
  /**
   * The schema of a relayer's `policies` in the API and the file. Its output has the form that `Relayer.policies`
   * describes.
   */
  readonly policySchema: z.ZodType<JsonObject>;
  /** The fields of a network entry that only this family knows, after inheritance. */
  readonly networkSchema: z.ZodType<JsonObject>;
  /** The networks that are known without any file, in the form of the reference's entries (`networks.json`). */
  readonly builtInNetworks: readonly JsonObject[];
  /** The market that a network names itself. Null if it names none, as in families whose networks cannot. */
  marketUrl(network: Pick<Network, 'settings'>): string | null;
  /** Endpoints of the network that only take transactions, and keep them private. */
  relays(network: Network): readonly PrivateRelay[];
}

/** Whether two identities belong to one chain, or to two starts of one chain. */
export function isSameChain(chain: Pick<Chain, 'restartable'> | undefined, one: string, other: string): boolean {
  if (one === other) return true;
  const name = chain?.restartable?.(one);
  return name !== undefined && name === chain?.restartable?.(other);
}
