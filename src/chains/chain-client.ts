import type { JsonObject, WireObject } from '../domain/json/json.ts';
import type { Anchor } from '../domain/transaction/anchor.ts';
import type { Attempt } from '../domain/transaction/attempt.ts';
import type { Timestamp, Transaction } from '../domain/transaction/transaction.ts';
import type { RpcOutcome } from '../egress/rpc/rpc-client.ts';
import type { Signer } from '../signers/signer.ts';
import type { Account } from './account.ts';
import type { OwnMethod } from './own-method.ts';
import type { ParsedRequest } from './parsed-request.ts';

/**
 * The live side of one network. Every answer of a node is parsed here and trusted no further than its kind. Parts that
 * a family does not have are absent.
 */
export interface ChainClient {
  /**
   * Asks the endpoints which chain they serve: chain id, genesis hash or passphrase. One endpoint is enough where it is
   * known which chain it should be: the network declares it, or `expected` says it.
   * @param onServed called for each endpoint that answers; never show more of an endpoint than its host
   * @throws AppError `PROVIDER_FAILED`, also when none serves the right chain, or they disagree and none is known
   */
  identity(expected?: string, onServed?: (host: string, chain: string) => void): Promise<string>;
  /** The shortest pause between two looks at a transaction of this network, in milliseconds. Absent: the family's. */
  lookMs?: number;
  /** The chain's own clock, by one node that serves the chain. It stands still where no block is made. */
  moment(identity: string): Promise<ChainMoment>;
  /**
   * In the smallest unit, by one endpoint. With an identity, only nodes that serve that chain are asked. With a least, a
   * lower figure, or none, has all endpoints asked, as `quorum.ts` says: one that lags or lies makes no account poor.
   */
  balance(address: string, asked?: BalanceQuestion): Promise<bigint>;
  /**
   * What the account's policies name that the chain does not have, in words that say what to do; empty where all is there.
   * Absent in a family whose policies name nothing of the chain's.
   */
  policyFaults?(account: Account): Promise<readonly string[]>;
  /**
   * Checks what only the network can tell before a request is accepted. Absent where nothing has to be.
   * @throws AppError `INVALID_REQUEST`
   */
  screen?(parsed: ParsedRequest, account: Account): Promise<void>;
  /** Prices a pending transaction and checks what only the network can tell. Takes no anchor, has no effect. */
  prepare(transaction: Transaction, account: Account, lane: LaneFigures): Promise<Preparation>;
  /** Assembles and signs one attempt of a prepared transaction. */
  sign(transaction: Transaction, fields: JsonObject, anchor: Anchor, signer: Signer): Promise<SignedBytes>;
  /**
   * Offers the bytes to a node, in the order given, and asks others what one node alone cannot decide. One outcome per
   * attempt, in order. Never throws for what a node answered; offering the same bytes again is always safe.
   */
  broadcast(attempts: readonly Attempt[]): Promise<BroadcastOutcome[]>;
  /**
   * What the chain shows of each transaction, all of whose attempts count. One answer per entry, in order.
   * @throws AppError `PROVIDER_FAILED` when nothing can be said of any
   */
  observe(entries: readonly ObservedEntry[]): Promise<Observation[]>;
  /** Passes one JSON-RPC call through; the answer has the reference's error codes, never the endpoint's address. */
  rpc(body: unknown): Promise<RpcOutcome>;
  /** For accounts whose transactions are numbered. */
  readonly sequences?: Sequences;
  /** For families in which one attempt can take the place of another. */
  readonly replacement?: Replacement;
  /** Signs a transaction that is not sent, in the body's and answer's form of the sign-transaction endpoint. */
  signTransaction?(body: unknown, account: Account, signer: Signer): Promise<WireObject>;
  /** By name: what is not passed through to a node. */
  readonly methods?: ReadonlyMap<string, OwnMethod>;
  /** What of an account's is to be swapped for the coin now, each token for itself. */
  swaps?(account: Account): Promise<ParsedRequest[]>;
  /** For families whose users can pay for what a relayer sends. */
  readonly sponsorship?: Sponsorship;
}

/** What others pay in tokens for having the relayer pay, in the bodies' and answers' form of the sponsored endpoints. */
export interface Sponsorship {
  /** @throws AppError `INVALID_REQUEST`, `PROVIDER_FAILED` */
  quote(body: unknown, account: Account): Promise<WireObject>;
  /** @throws AppError `INVALID_REQUEST`, `PROVIDER_FAILED`, `SIGNER_FAILED` */
  build(body: unknown, account: Account, signer: Signer): Promise<WireObject>;
}

/** How the account's transactions are numbered. */
export interface Sequences {
  /**
   * The sequence that the next transaction of the account needs. Transactions that wait in the node's pool are counted.
   * @param identity only nodes that serve this chain are asked
   * @param least what it should be at least. Less has all endpoints asked, as `quorum.ts` says, and so has far more in a
   *   family whose sequences seldom leap; null where nothing is known of the account, and then all are asked
   */
  next(address: string, identity?: string, least?: bigint | null): Promise<bigint>;
  /** A request that takes a sequence of the account and does nothing else. */
  noopRequest(account: Account): JsonObject;
}

/** One attempt in the place of others: whether it can be had is asked of each transaction. */
export interface Replacement {
  can(entry: ObservedEntry, purpose: NewAttempt['purpose']): boolean;
  /**
   * Prices one more attempt of a transaction under its anchor, high enough that nodes take it in the place of every
   * earlier one. Changes nothing. A refusal of a bump means that no attempt can get into the chain any more.
   * @param lane with the transaction's own cost
   */
  prepare(entry: ObservedEntry, wanted: NewAttempt, lane: LaneFigures): Promise<AttemptPreparation>;
  /**
   * Checks what can be told without asking the network of a request that is to take a signed transaction's place.
   * Absent in a family in which a client's further request never does.
   * @param attempts those signed so far; none while the transaction waits
   * @throws AppError `INVALID_REQUEST` with the reference's text
   */
  check?(request: JsonObject, attempts: readonly Attempt[], account: Account): void;
  /** How long the network may be silent about the latest attempt before a dearer one is signed, in milliseconds. */
  patienceMs(entry: ObservedEntry): number;
}

/** The end of a chain as a node knows it. */
export interface ChainMoment {
  height: bigint;
  /** When the latest block was made, by the chain's own account. */
  at: Timestamp;
}

export interface BalanceQuestion {
  identity?: string | undefined;
  least?: bigint | undefined;
}

/** What a lane has under way, so that a balance is not promised twice. */
export interface LaneFigures {
  /** Sum of {@link ReadyPreparation.cost} of the lane's transactions that are not yet in a block. */
  committed: bigint;
}

export type Preparation =
  | ReadyPreparation
  | RefusedPreparation
  | ParkedPreparation
  /** Another transaction of the account has to be final before this one can be prepared. */
  | { kind: 'first'; first: ParsedRequest; reason: string };

/** It cannot be sent, now or later. */
export interface RefusedPreparation {
  kind: 'refused';
  reason: string;
  /** `failed` where nothing is said; `expired` where it could have been sent before. */
  end?: 'failed' | 'expired';
}

/** Why one more attempt of a transaction is signed under the anchor that it has. */
export type NewAttempt =
  /** The latest attempt again, dearer, within the policy's cap. Of one that does nothing a further `noop` is asked for. */
  | { purpose: 'bump' }
  /** Something else in its place. */
  | { purpose: 'replace'; request: JsonObject }
  /** Nothing: the anchor is taken, and may cost more than the cap allows. */
  | { purpose: 'noop' };

export type AttemptPreparation =
  | (ReadyPreparation & { request: JsonObject })
  | { kind: 'refused'; reason: string }
  /** The attempts that there are stay on offer, so the engine has its own pause before it tries again. */
  | Omit<ParkedPreparation, 'retryInMs'>;

export interface ReadyPreparation {
  kind: 'ready';
  /** Goes into {@link Attempt.fields}. */
  fields: JsonObject;
  /** The most that the transaction can take from the account, in the smallest unit. */
  cost: bigint;
  /** What the attempt consumes, where that is not a sequence of the lane's account: the lane gives those. */
  anchor?: Anchor;
}

/** Not possible now but perhaps later, for instance while the network's price is above the policy's cap. */
export interface ParkedPreparation {
  kind: 'parked';
  reason: string;
  /** What it waits for: another price, or money. */
  cause?: 'price' | 'balance';
  retryInMs: number;
}

export interface SignedBytes {
  raw: string;
  hash: string;
  /** The attempt's fields with what the signature adds. */
  fields: JsonObject;
}

/** What came of an offer, and the name of the endpoint whose word it is, where one's is. */
export type BroadcastOutcome = BroadcastWord & { by?: string };

type BroadcastWord =
  /** A node has these very bytes. */
  | { kind: 'accepted' }
  /** The anchor is already used in a block; look for what used it. */
  | { kind: 'anchor-used'; reason: string }
  /** A lower sequence is missing on this node. */
  | { kind: 'anchor-ahead'; reason: string }
  /** Its time is over, by this node's word: look whether it is dead. */
  | { kind: 'lapsed'; reason: string }
  /** The node has another transaction with this anchor and does not replace it for this price. */
  | { kind: 'underpriced'; reason: string }
  /** The price is below what nodes or the network ask for now; a dearer attempt may go. */
  | { kind: 'fee-too-low'; reason: string }
  /** The account cannot pay it now. */
  | { kind: 'unfunded'; reason: string }
  /** The node has no room or no time for it now. */
  | { kind: 'busy'; reason: string }
  /** Every node that answered refuses the bytes for what they are. */
  | { kind: 'refused'; reason: string }
  /** No answer, or one that says nothing: a node may have the bytes. */
  | { kind: 'unknown'; reason: string };

export interface ObservedEntry {
  transaction: Transaction;
  /** By ordinal. */
  attempts: readonly Attempt[];
  account: Account;
}

export type Observation =
  /**
   * None of the attempts is known to be in a block, and one still can be. With a reason where the anchor is used and the
   * endpoints cannot prove by what: only another endpoint, or time, can tell.
   */
  | {
      kind: 'open';
      /** Ordinals of those that are proved dead: not executed, and never will be. */
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
      /** What being in a block adds to {@link Attempt.fields}. */
      fields: JsonObject;
    }
  /**
   * None of the attempts has executed, and none ever will: their anchor was used for good by something else, or is free
   * again, as they lapsed.
   */
  | { kind: 'dead'; anchor: 'used' | 'free'; reason: string };
