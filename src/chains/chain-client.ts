import type { AppError } from '../domain/errors.ts';
import type { Json, JsonObject, WireObject } from '../domain/json/json.ts';
import type { RpcOutcome } from '../egress/rpc/rpc-client.ts';
import type { Anchor } from '../features/transactions/records/anchor.ts';
import type { Attempt } from '../features/transactions/records/attempt.ts';
import type { Timestamp, Transaction } from '../features/transactions/records/transaction.ts';
import type { WebhookEventName } from '../features/webhooks/records/webhook-event.ts';
import type { Signer } from '../signers/signer.ts';

/**
 * The live side of one network: it talks to the nodes. It parses every answer of a node. How far it trusts an answer
 * depends on the kind of answer. Parts that a family does not have are absent.
 */
export interface ChainClient {
  /**
   * Asks the endpoints which chain they serve: chain id, genesis hash or passphrase. One endpoint is enough where the
   * right chain is known, from the network's declaration or from `expected`.
   * @param onServed called for each endpoint that answers; never show more of an endpoint than its host
   * @throws AppError `PROVIDER_FAILED`, also when no endpoint serves the right chain, or when the endpoints disagree
   * and the right chain is unknown
   */
  identity(expected?: string, onServed?: (host: string, chain: string) => void): Promise<string>;
  /** The shortest pause between two looks at a transaction of this network, in milliseconds. Absent: the family's. */
  lookMs?: number;
  /** The latest height and block time, from one node that serves the chain. Both stand still while no block is made. */
  moment(identity: string): Promise<ChainHead>;
  /**
   * The balance in the smallest unit, from one endpoint. With an `identity`, only nodes that serve that chain are
   * asked. With a `least`, a lower balance or a failure makes it ask all endpoints, as `quorum.ts` says: one endpoint
   * that lags or lies does not make an account look poor.
   */
  balance(address: string, asked?: BalanceQuery): Promise<bigint>;
  /**
   * Messages about things that the account's policies name and the chain lacks. Each message says what to do. Empty:
   * the chain has them all. Absent in a family whose policies name nothing on the chain.
   * @param onRisk takes a message about something that is there, and that the operator should know of
   */
  policyFaults?(account: RelayerAccount, onRisk?: (risk: string) => void): Promise<readonly string[]>;
  /**
   * Runs the checks that need the network before a request is accepted. Absent: there are none.
   * @throws AppError `INVALID_REQUEST`
   */
  screen?(parsed: ParsedRequest, account: RelayerAccount): Promise<void>;
  /** Prices a pending transaction and runs the checks that need the network. Takes no anchor and has no effect. */
  prepare(transaction: Transaction, account: RelayerAccount, lane: LaneCommitments): Promise<TransactionPreparation>;
  /** Assembles and signs one attempt of a prepared transaction. */
  sign(transaction: Transaction, fields: JsonObject, anchor: Anchor, signer: Signer): Promise<SignedBytes>;
  /**
   * Offers the bytes to one node, in the given order. Asks other nodes where one node alone cannot decide. Returns one
   * outcome per attempt, in order. Never throws for a node's answer. Offering the same bytes again is always safe.
   */
  broadcast(attempts: readonly Attempt[]): Promise<BroadcastOutcome[]>;
  /**
   * Reads from the chain what became of each transaction. All attempts of a transaction count. Returns one answer per
   * entry, in order.
   * @throws AppError `PROVIDER_FAILED` when nothing can be said of any entry
   */
  observe(entries: readonly ObservedTransaction[]): Promise<TransactionObservation[]>;
  /** Passes one JSON-RPC call through. The answer has the reference's error codes and never the endpoint's address. */
  rpc(body: unknown): Promise<RpcOutcome>;
  /** For accounts whose transactions are numbered. */
  readonly sequences?: AccountSequences;
  /** For families in which one attempt can take the place of another. */
  readonly replacement?: AttemptReplacement;
  /** What accounts did on the chain, for a store that may have been put back. Absent: it cannot be looked through. */
  readonly accountHistory?: AccountHistory;
  /** Signs a transaction without sending it. Body and answer have the form of the sign-transaction endpoint. */
  signTransaction?(body: unknown, account: RelayerAccount, signer: Signer): Promise<WireObject>;
  /** The JSON-RPC methods that the family answers itself, by name. They are not passed through to a node. */
  readonly methods?: ReadonlyMap<string, LocalRpcMethod>;
  /** The requests that swap the account's tokens for the coin now, one for each token. */
  swaps?(account: RelayerAccount): Promise<ParsedRequest[]>;
  /** For families whose users can pay for what a relayer sends. */
  readonly sponsorship?: Sponsorship;
}

/**
 * Lets users pay in tokens for transactions whose fees the relayer pays. Bodies and answers have the form of the
 * sponsored endpoints.
 */
export interface Sponsorship {
  /** @throws AppError `INVALID_REQUEST`, `PROVIDER_FAILED` */
  quote(body: unknown, account: RelayerAccount): Promise<WireObject>;
  /** @throws AppError `INVALID_REQUEST`, `PROVIDER_FAILED`, `SIGNER_FAILED` */
  build(body: unknown, account: RelayerAccount, signer: Signer): Promise<WireObject>;
}

/**
 * Reads an account's own transactions from the chain, whatever the store knows of them. A store that was put back to an
 * earlier moment holds unsigned transactions that were sent since then.
 */
export interface AccountHistory {
  /**
   * A text for what a transaction does, without fees, sequence and time bounds. Two transactions with equal texts have
   * the same effect. Null when it cannot have its effect twice, however often it is sent.
   */
  contentOf(transaction: Transaction, account: RelayerAccount): string | null;
  /** Looks through the blocks of one chain. May take long. */
  look(question: AccountHistoryQuery): Promise<PastTransactionsAnswer>;
  /**
   * How many blocks later bytes that were sent before may still get into a block without being in conflict with what is
   * signed now. Absent: all transactions of an account are in conflict by their sequences.
   */
  landsWithinBlocks?: bigint;
}

export interface AccountHistoryQuery {
  account: RelayerAccount;
  /** The chain of the account's lane. */
  identity: string;
  /** No transaction from before this moment matters, by the store's clock. */
  since: Timestamp;
  /**
   * The sequences that matter, the last one excluded; null in a family without them. `from` is null where the store
   * knows of no earlier one.
   */
  sequences: { from: bigint | null; to: bigint } | null;
  /** Whether the store has an attempt with this hash. */
  isKnown(hash: string): Promise<boolean>;
}

/**
 * `complete`: `found` are all transactions that the question is about. `waiting`: some are not in a block yet, or an
 * endpoint lags; ask again soon. `unproved`: the endpoints cannot show all.
 */
export type PastTransactionsAnswer = { found: readonly PastTransaction[] } & (
  | { kind: 'complete' }
  | { kind: 'waiting' | 'unproved'; reason: string }
);

/** A transaction of the account that is in a block and unknown to the store. */
export interface PastTransaction extends SignedBytes {
  /** {@link AccountHistory.contentOf}; null where it does what no request asks for. */
  content: string | null;
  anchor: Anchor;
}

/** How the account's transactions are numbered. */
export interface AccountSequences {
  /**
   * The sequence that the next transaction of the account needs. Transactions that wait in the node's pool are counted.
   * @param identity only nodes that serve this chain are asked
   * @param least the least sequence to expect. A lower answer makes it ask all endpoints, as `quorum.ts` says. So does
   * a far higher answer in a family whose sequences seldom leap. Null: nothing is known of the account, and all
   * endpoints are asked
   */
  next(address: string, identity?: string, least?: bigint | null): Promise<bigint>;
  /** A request that uses up one sequence of the account and does nothing else. */
  noopRequest(account: RelayerAccount): JsonObject;
}

/**
 * Replaces earlier attempts of a transaction by a new one. `can` tells for each transaction whether that is possible.
 */
export interface AttemptReplacement {
  can(entry: ObservedTransaction, purpose: ReplacementSpec['purpose']): boolean;
  /**
   * Prices one more attempt of a transaction under its anchor, high enough that nodes replace every earlier attempt by
   * it. Has no effect. If a bump is refused, no attempt can get into the chain any more.
   * @param lane includes the transaction's own cost
   */
  prepare(entry: ObservedTransaction, wanted: ReplacementSpec, lane: LaneCommitments): Promise<ReplacementPreparation>;
  /**
   * Checks, without asking the network, a request that is to replace a signed transaction. Absent in a family in which
   * a client's further request never does that.
   * @param attempts those signed so far; none while the transaction waits
   * @throws AppError `INVALID_REQUEST` with the reference's text
   */
  check?(request: JsonObject, attempts: readonly Attempt[], account: RelayerAccount): void;
  /** How long the network may be silent about the latest attempt before a dearer one is signed, in milliseconds. */
  patienceMs(entry: ObservedTransaction): number;
}

/** The latest block of a chain, as one node knows it. */
export interface ChainHead {
  height: bigint;
  /** When the latest block was made, by the chain's own clock. */
  at: Timestamp;
}

export interface BalanceQuery {
  identity?: string | undefined;
  least?: bigint | undefined;
}

/** The sums that a lane has under way. They keep a balance from being promised twice. */
export interface LaneCommitments {
  /** Sum of {@link ReadyPreparation.cost} of the lane's transactions that are not yet in a block. */
  committed: bigint;
}

export type TransactionPreparation =
  | ReadyPreparation
  | RefusedPreparation
  | ParkedPreparation
  /** Another transaction of the account has to be final before this one can be prepared. */
  | { kind: 'first'; first: ParsedRequest; reason: string };

/** The transaction cannot be sent, now or later. */
export interface RefusedPreparation {
  kind: 'refused';
  reason: string;
  /** Absent: `failed`. `expired`: the transaction could have been sent before. */
  end?: 'failed' | 'expired';
}

/** Why one more attempt of a transaction is signed under the anchor that it has. */
export type ReplacementSpec =
  /**
   * Repeats the latest attempt at a higher price, within the policy's cap. If that attempt does nothing, a further
   * `noop` is asked for instead. `refusal`: what every node said of the latest attempt that they did not take. The new
   * one gets the figures that were refused anew.
   */
  | { purpose: 'bump'; refusal?: string }
  /** Sends another request in place of the transaction's own. */
  | { purpose: 'replace'; request: JsonObject }
  /**
   * Uses up the anchor and does nothing else. May cost more than the cap allows. `isRefused`: every node refused the
   * latest noop for good, so none has it and nothing of it has to be outbid.
   */
  | { purpose: 'noop'; refusal?: string; isRefused?: boolean };

export type ReplacementPreparation =
  | (ReadyPreparation & { request: JsonObject })
  | { kind: 'refused'; reason: string }
  /**
   * Has no `retryInMs`. The existing attempts stay on offer, and the engine chooses its own pause before it tries
   * again.
   */
  | Omit<ParkedPreparation, 'retryInMs'>;

export interface ReadyPreparation {
  kind: 'ready';
  /** Goes into {@link Attempt.fields}. */
  fields: JsonObject;
  /** The most that the transaction can take from the account, in the smallest unit. */
  cost: bigint;
  /**
   * As much more may be taken from the account without changing this answer. Absent: that has to be asked.
   */
  spare?: bigint;
  /** Something that the timeline tells when the attempt is signed: a figure that had to be replaced by a usual one. */
  remark?: string;
  /** The anchor that the attempt uses up. Absent: a sequence of the lane's account, which the lane assigns. */
  anchor?: Anchor;
}

/** Not possible now but perhaps later, for instance while the network's price is above the policy's cap. */
export interface ParkedPreparation {
  kind: 'parked';
  reason: string;
  /** What the transaction waits for: another price, or money. */
  cause?: 'price' | 'balance';
  retryInMs: number;
}

export interface SignedBytes {
  raw: string;
  hash: string;
  /** The attempt's fields with what the signature adds. */
  fields: JsonObject;
}

/** The outcome of an offer. `by` names the endpoint that decided it, if a single one did. */
export type BroadcastOutcome = BroadcastVerdict & { by?: string };

type BroadcastVerdict =
  /** A node has these very bytes. */
  | { kind: 'accepted' }
  /** The anchor is already used in a block; look for what used it. */
  | { kind: 'anchor-used'; reason: string }
  /** A lower sequence is missing on this node. */
  | { kind: 'anchor-ahead'; reason: string }
  /** This node says that the transaction has expired. Look whether it is dead. */
  | { kind: 'lapsed'; reason: string }
  /** The node has another transaction with this anchor and does not replace it for this price. */
  | { kind: 'underpriced'; reason: string }
  /** The price is below what nodes or the network ask for now; a dearer attempt may go. */
  | { kind: 'fee-too-low'; reason: string }
  /** The account cannot pay for the transaction now. */
  | { kind: 'unfunded'; reason: string }
  /** The node has no room or no time for the transaction now. */
  | { kind: 'busy'; reason: string }
  /**
   * Every node that answered refuses the bytes themselves. `isFigure`: because of a figure that the service may have
   * chosen, such as a gas limit. Another attempt with another figure may do.
   */
  | { kind: 'refused'; reason: string; isFigure?: boolean }
  /**
   * There is no answer, or one that says nothing. A node may have the bytes. `isClear`: every node answered, with words
   * that nobody knows and that are no trouble of its own, and every node says that it does not have the bytes.
   */
  | { kind: 'unknown'; reason: string; isClear?: boolean };

export interface ObservedTransaction {
  transaction: Transaction;
  /** By ordinal. */
  attempts: readonly Attempt[];
  account: RelayerAccount;
}

export type TransactionObservation =
  /**
   * No attempt is known to be in a block, and one still can get there. `reason` is set if the anchor is used, or its time
   * is over, and the endpoints cannot prove how the attempts ended. Then only another endpoint, or time, can tell.
   */
  | {
      kind: 'open';
      /** Ordinals of the attempts that are proved dead: they did not execute, and never will. */
      dead?: readonly number[];
      reason?: string;
    }
  /** An attempt is in a block. `final` when the network's depth is reached. */
  | {
      kind: 'included';
      hash: string;
      succeeded: boolean;
      final: boolean;
      /** Why it failed on chain, for `status_reason`. */
      reason: string | null;
      /** The fields that inclusion in a block adds to {@link Attempt.fields}. */
      fields: JsonObject;
    }
  /**
   * No attempt has executed, and none ever will. `used`: something else used their anchor, irrevocably. `free`: the
   * attempts lapsed, and the anchor is free again.
   */
  | { kind: 'dead'; anchor: 'used' | 'free'; reason: string };

/** The account that a lane sends from and the policy of the relayer that asked. */
export interface RelayerAccount {
  address: string;
  policies: JsonObject;
  /** The identity of the chain that the network is pinned to. Absent: unknown. */
  identity?: string | undefined;
  /**
   * The most that the account's transactions outside any block can take, in the smallest unit. Present where a
   * signature is made beside those transactions.
   */
  committed?(): Promise<bigint>;
  /**
   * Whether what is signed without being sent may spend what the account holds: whoever asks may send as well. Absent:
   * it may not.
   */
  maySpend?: boolean | undefined;
}

/** A checked request as the engine keeps it. */
export interface ParsedRequest
  extends Pick<Transaction, 'request' | 'validUntil' | 'anchorKind' | 'onDeath' | 'contentKey'> {
  /** The name by which the chain knows the transaction's bytes, if the account has signed them before. */
  signedAs?: string;
}

/**
 * A JSON-RPC method that a family answers itself instead of a node. Every method throws `INVALID_REQUEST` for malformed
 * parameters, and {@link OwnRefusal} for a refusal that the answer shows to the caller.
 */
export type LocalRpcMethod =
  /** Only answers: it signs and sends nothing. */
  | { kind: 'answer'; run(params: Json, account: RelayerAccount): Promise<WireObject> }
  /** Returns signed bytes. Anyone who has them can send them. */
  | {
      kind: 'sign';
      event?: WebhookEventName;
      run(params: Json, account: RelayerAccount, signer: Signer): Promise<WireObject>;
    }
  | LocalSendMethod;

/** Sends as the send endpoint does, and answers once there is a signature. */
export interface LocalSendMethod {
  kind: 'send';
  /** The webhook event for the method's answer, as for a method that signs. Absent: no event. */
  event?: WebhookEventName;
  /** The body of the send request. */
  body(params: Json): JsonObject;
  /** Refuses at once what the lane would refuse, before anything is accepted. */
  check(body: JsonObject, account: RelayerAccount): Promise<void>;
  /** Makes the answer from the transaction's view, once the transaction has a signature or has ended. */
  answer(view: WireObject): WireObject;
  /**
   * Turns a refusal of the request into the error of the answer. Undefined for an error that does not concern the
   * caller.
   */
  refusal(error: AppError): OwnRefusal | undefined;
}

/** The refusal that a method answers instead of a result. */
export class OwnRefusal extends Error {
  readonly code: number;
  /** The `message` of the JSON-RPC error. The text of this error is the `description`. */
  readonly tag: string;

  constructor(code: number, tag: string, description: string, cause?: unknown) {
    super(description, { cause });
    this.name = 'OwnRefusal';
    this.code = code;
    this.tag = tag;
  }
}
