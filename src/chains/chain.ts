import type { JsonObject, WireObject } from '../domain/json/json.ts';
import type { Network } from '../domain/network.ts';
import type { AnchorKind } from '../domain/transaction/anchor.ts';
import type { Attempt } from '../domain/transaction/attempt.ts';
import type { SpendingForms, Spent } from '../domain/transaction/spending.ts';
import type { Timestamp, Transaction } from '../domain/transaction/transaction.ts';
import type { WebhookEventName } from '../domain/webhook-event.ts';
import type { MarketClient } from '../egress/market-client.ts';
import type { RpcClient } from '../egress/rpc/rpc-client.ts';
import type { RpcDialect } from '../egress/rpc/rpc-verdict.ts';
import type { Signer } from '../signers/signer.ts';
import type { Account } from './account.ts';
import type { ChainClient } from './chain-client.ts';
import type { ChainDescription } from './description.ts';
import type { ChainFamily } from './family.ts';
import type { ParsedRequest } from './parsed-request.ts';

/**
 * One chain family. Everything above `chains/` speaks to this interface only; what differs between families lies
 * behind it. Stateless: the live side of one network is a {@link ChainClient}.
 */
export interface Chain extends ChainFamily {
  /** What balances are counted in, as the balance endpoint names it. */
  readonly unit: string;
  /** How the sequence of an account shows to clients. Absent in a family whose accounts have none. */
  readonly counter?: Counter;
  readonly description: ChainDescription;

  readonly pace: Pace;
  /** How errors of the family's nodes are read. Absent where they only say what every gateway says. */
  readonly dialect?: RpcDialect;
  /**
   * The name of a chain that may be started anew, as one for development: two identities with the same name are two
   * starts of it. Undefined for others, absent in a family that has none.
   */
  restartable?(identity: string): string | undefined;

  /** The account of a public key, in the form that the API shows. */
  addressOf(publicKey: Uint8Array): string;
  /** Policies as the API shows them: defaults filled in, integers as the reference writes them. */
  policyView(policies: JsonObject): WireObject | undefined;
  /**
   * What checked policies ask for that the named network cannot give, in the reference's words; null when there is
   * nothing. Absent in a family whose policies fit every network.
   */
  policyFault?(policies: JsonObject, network: string): string | null;
  /** The balance, in the smallest unit, that the health check asks for; null when it does not look at the balance. */
  minimumBalance(policies: JsonObject): bigint | null;
  /**
   * Checks the body of a send request against the account's policy, without touching the network.
   * @throws AppError `INVALID_REQUEST` with the reference's text
   */
  parseRequest(body: unknown, account: Account, now: Timestamp): ParsedRequest;
  /** A transaction as the API and the webhooks show it, keys in the reference's order. */
  transactionView(transaction: Transaction): WireObject;
  /** What one attempt does and offers, in short, for who asks how a transaction went. Absent: nothing to tell. */
  attemptView?(attempt: Attempt): WireObject;
  /** Which block a transaction is in and what it took there; null while it is in none. */
  inclusionView?(transaction: Transaction): WireObject | null;
  /** The same in a few words, for instance `block 12 (0xabc…)`; undefined while it is in none. */
  placeOf?(transaction: Transaction): string | undefined;
  /** Whether the block that a transaction was last seen in shows that it failed. Absent: what is in a block succeeded. */
  failedInBlock?(transaction: Transaction): boolean;
  /** {@link ReadyPreparation.cost} of an attempt that was prepared before. */
  costOf(attempt: Pick<Attempt, 'request' | 'fields'>): bigint;
  /** What plugins' limits go by; absent in a family that cannot tell what a request moves: there they are refused. */
  readonly spending?: ChainSpending;
  /**
   * Fields that mean the same for the same price, and whose signed bytes are others: two equal payments in one block
   * must not become one.
   */
  vary(fields: JsonObject): JsonObject;
  /**
   * When what a relayer has collected is swapped for the coin, by its checked policies; undefined: never. Absent in a
   * family without swaps, as the next.
   */
  swapSchedule?(policies: JsonObject): SwapSchedule | undefined;
  /** What became of a swap by its status, as webhooks tell it; undefined for what is none, and where they tell nothing. */
  swapEvent?(transaction: Transaction): { event: WebhookEventName; payload: WireObject } | undefined;
  /**
   * Signs a text, in the body's and answer's form of the sign endpoint. Absent, as the next, in a family without.
   * @throws AppError `INVALID_REQUEST`, `SIGNER_FAILED`
   */
  signMessage?(body: unknown, account: Account, signer: Signer): Promise<WireObject>;
  /**
   * Signs typed data, in the body's and answer's form of the sign-typed-data endpoint.
   * @throws AppError `INVALID_REQUEST`, `SIGNER_FAILED`
   */
  signTypedData?(body: unknown, account: Account, signer: Signer): Promise<WireObject>;
  /**
   * Whether a JSON-RPC method of the family's nodes takes bytes that are signed already: the chain executes them once,
   * however often they arrive.
   */
  takesSignedBytes?(method: string): boolean;
  /**
   * Opens the live side of a network over the given endpoints.
   * @param market the network's own where it names one, else that of the service
   */
  connect(network: Network, rpc: RpcClient, market: MarketClient, deployments?: Deployments): ChainClient;
}

/** What families' contracts are, and who knows ways through them, as the operator says it for all networks. */
export interface Deployments {
  /** Addresses, by the names of the variables that give them. */
  contracts: Readonly<Record<string, string>>;
  /** Who finds the way of a trade; null where there is no key for it. */
  routes: MarketClient | null;
}

/** The sequence of an account, as clients meet it. */
export interface Counter {
  /** In texts, for instance `nonce`. */
  name: string;
  /** Whether the last one that is used is shown; absent: the next. */
  showsLast?: boolean;
  /** Its key in the status answer, and what the description of the API says of it there. */
  statusKey: string;
  description: string;
  /** What disables a relayer while its sequence cannot be read: the type of the reason, and its text. */
  failure: { type: string; text: string };
  /**
   * Whether an account's sequences may begin anew, as those of a chain that is started anew under its old name. Only where
   * bytes under a sequence of the past do no harm: they are never executed where it is past, and are soon too old elsewhere.
   */
  beginsAnew?: boolean;
  /** Whether the route `by-nonce` finds transactions by it. */
  isLookedUp: boolean;
}

/** How fast a family's chains go, in milliseconds. What is absent is the engine's to choose. */
export interface Pace {
  /** How long a request that names no end itself is worth trying. */
  lifetimeMs: number;
  /** The kinds of anchors that the family has; of each, how many transactions of an account may wait for a block. */
  anchors: Partial<Record<AnchorKind, number>>;
  /** After so long the same bytes are offered again. */
  reofferMs?: number;
  /** The shortest pause between two looks at a transaction. */
  lookMs?: number;
}

export interface SwapSchedule {
  /** A line of cron with seconds; null: at no time. */
  cron: string | null;
  /** With a balance below it, in the smallest unit; null: with any. */
  below: bigint | null;
}

/** How a family tells what is spent, before and after. */
export interface ChainSpending extends SpendingForms {
  /** What a transaction that is final took from its account; never less than it did. */
  spentBy(transaction: Transaction): Spent;
}
