import type { z } from 'zod';
import type { JsonObject, WireObject } from '../domain/json.ts';
import type { Network } from '../domain/network.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { DisabledReasonType } from '../domain/relayer.ts';
import type { SpendingForms, Spent } from '../domain/spending.ts';
import type { Attempt, Timestamp, Transaction } from '../domain/transaction.ts';
import type { RpcClient, RpcOutcome } from '../egress/rpc-client.ts';
import type { Curve, Signer } from '../signers/signer.ts';

/**
 * One chain family. Everything above `chains/` speaks to this interface only; what differs between families lies
 * behind it. Stateless: the live side of one network is a {@link ChainClient}.
 */
export interface Chain {
  readonly type: NetworkType;
  readonly curve: Curve;
  /** What balances are counted in, as the balance endpoint names it. */
  readonly unit: 'wei' | 'lamport' | 'stroop';
  /**
   * How the account's counter shows to clients: its key in the status answer, and what disables a relayer while it
   * cannot be read. Null for a family without one.
   */
  readonly counter: { statusKey: 'nonce' | 'sequence_number'; failure: DisabledReasonType } | null;
  /** A relayer's `policies` as the API and the file accept them; leaves what `Relayer.policies` describes. */
  readonly policySchema: z.ZodType<JsonObject>;
  /** The body of a send request, for who describes the API; absent in a family that cannot send. */
  readonly requestSchema?: z.ZodType;
  /** The bodies that are signed and not sent, likewise; absent in a family that cannot sign. */
  readonly signingSchemas?: { readonly typedData: z.ZodType; readonly transaction: z.ZodType };
  /** The fields of a network entry that only this family knows, after inheritance. */
  readonly networkSchema: z.ZodType<JsonObject>;
  /** The networks that are known without any file, in the form of the reference's entries (`networks.json`). */
  readonly builtInNetworks: readonly JsonObject[];

  /** How long a request that names no end itself is worth trying, in milliseconds. */
  readonly lifetimeMs: number;

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
  transactionView(transaction: Transaction, account: Account): WireObject;
  /** What one signed version does and offers, in short, for who asks how a transaction went. Absent: nothing to tell. */
  attemptView?(attempt: Attempt): WireObject;
  /** Which block a transaction is in and what it took there; null while it is in none. */
  inclusionView?(transaction: Transaction): WireObject | null;
  /** The same in a few words, for instance `block 12 (0xabc…)`; undefined while it is in none. */
  placeOf?(transaction: Transaction): string | undefined;
  /** Whether the block that a transaction was last seen in shows that it failed. Absent: what is in a block succeeded. */
  failedInBlock?(transaction: Transaction): boolean;
  /** {@link ReadyPreparation.cost} of a version that was prepared before. */
  costOf(version: Pick<Transaction, 'request' | 'fields'>): bigint;
  /** What plugins' limits go by; absent in a family that cannot tell what a request moves: there they are refused. */
  readonly spending?: ChainSpending;
  /** Fields that mean the same for the same price, and whose signed bytes are others. */
  vary(fields: JsonObject): JsonObject;
  /** A request that takes a sequence of the account and does nothing else. */
  voidRequest(account: Account): JsonObject;
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
  /** Opens the live side of a network over the given endpoints. */
  connect(network: Network, rpc: RpcClient): ChainClient;
}

/** How a family tells what is spent, before and after. */
export interface ChainSpending extends SpendingForms {
  /** What a transaction that is final took from its account; never less than it did. */
  spentBy(transaction: Transaction): Spent;
}

/** The account that a lane sends from and the policy of the relayer that asked. */
export interface Account {
  address: string;
  policies: JsonObject;
  /** Of the chain that the network is pinned to, where that is known. */
  identity?: string | undefined;
}

export interface ParsedRequest {
  request: JsonObject;
  validUntil: Timestamp | null;
}

/** The live side of one network. Every answer of a node is parsed here and trusted no further than its kind. */
export interface ChainClient {
  /**
   * Asks the endpoints which chain they serve: chain id, genesis hash or passphrase. Where the network declares its
   * chain, or else one is expected, it is enough that one endpoint serves that.
   * @param onServed told what each endpoint that answers says it serves; the host is all that may be shown of it
   * @throws AppError `PROVIDER_FAILED`, also when none serves the right chain, or they disagree and none is known
   */
  identity(expected?: string, onServed?: (host: string, chain: string) => void): Promise<string>;
  /**
   * In the smallest unit. Where an identity is given, only of a node that serves that chain. Where a least is given,
   * less is only told when no such endpoint tells more: one that lags or lies must not make an account poor.
   */
  balance(address: string, asked?: BalanceQuestion): Promise<bigint>;
  /**
   * The sequence that the next transaction of the account needs, with those that wait in the node's pool counted. Where
   * an identity is given, only of a node that serves that chain. Where a least is given, less is only told when no such
   * endpoint tells about as much, and far more only when most tell that; null is for an account of which nothing is
   * known, where one endpoint's word is not enough.
   */
  nextSequence(address: string, identity?: string, least?: bigint | null): Promise<bigint>;
  /**
   * Whether the chain is proved to know no more of what was final: a node counts less in a block that was made since,
   * and none counts as much. One that is stuck, or behind, proves nothing.
   * @param settled the sequence after the last that was final, and when that was seen
   */
  hasLost(address: string, identity: string, settled: SequenceAt): Promise<boolean>;
  /**
   * Whether the account is proved to use no more than the given sequence next: most nodes count no more, one of them in
   * a block that was made since. It takes less than {@link hasLost}, so nothing is signed anew below what was final by it.
   * @param told the next sequence, and when what it speaks against was signed
   */
  isNoFurther(address: string, identity: string, told: SequenceAt): Promise<boolean>;
  /**
   * The chain's own clock, by one node that serves the chain. It stands still where no block is made, so on a chain for
   * development it may be far behind.
   */
  moment(identity: string): Promise<ChainMoment>;
  /** Prices a pending transaction and checks what only the network can tell. Takes no sequence, has no effect. */
  prepare(transaction: Transaction, account: Account, lane: LaneFigures): Promise<Preparation>;
  /**
   * Prices one more version of a transaction under the sequence it has, by enough that nodes take it in the place of
   * every earlier one. Has no effect. What a bump is refused for keeps every version out of the chain.
   * @param lane with the transaction's own cost
   */
  prepareVersion(entry: ObservedEntry, version: NewVersion, lane: LaneFigures): Promise<VersionPreparation>;
  /**
   * Checks what can be told without asking the network of a request that is to take a signed transaction's place.
   * @param attempts the versions that were signed so far; none while the transaction waits
   * @throws AppError `INVALID_REQUEST` with the reference's text
   */
  checkReplacement(request: JsonObject, attempts: readonly Attempt[], account: Account): void;
  /** How long the network may be silent about the latest version before a dearer one is signed, in milliseconds. */
  patienceMs(entry: ObservedEntry): number;
  /** Assembles and signs one version of a prepared transaction. */
  sign(transaction: Transaction, fields: JsonObject, sequence: bigint, signer: Signer): Promise<SignedVersion>;
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
  /** Signs a transaction that is not sent, in the body's and answer's form of the sign-transaction endpoint. */
  signTransaction(body: unknown, account: Account, signer: Signer): Promise<WireObject>;
  /** Passes one JSON-RPC call through; the answer has the reference's error codes, never the endpoint's address. */
  rpc(body: unknown): Promise<RpcOutcome>;
}

/** As many uses of a key by others between two questions are credible; a count further on needs more than one word. */
export const FOREIGN_USES = 64n;

/** A sequence of an account, and since when it matters. */
export interface SequenceAt {
  sequence: bigint;
  at: Timestamp;
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

export type Preparation = ReadyPreparation | { kind: 'refused'; reason: string } | ParkedPreparation;

/** Why one more version of a transaction is signed under the sequence that it has. */
export type NewVersion =
  /** The latest version again, dearer, within the policy's cap. Of one that does nothing a further `void` is asked for. */
  | { purpose: 'bump' }
  /** Something else in its place. */
  | { purpose: 'replace'; request: JsonObject }
  /** Nothing: the sequence is taken, and may cost more than the cap allows. */
  | { purpose: 'void' };

export type VersionPreparation =
  | (ReadyPreparation & { request: JsonObject })
  | { kind: 'refused'; reason: string }
  /** The versions that there are stay on offer, so the engine has its own pause before it tries again. */
  | Omit<ParkedPreparation, 'retryInMs'>;

export interface ReadyPreparation {
  kind: 'ready';
  /** Goes into {@link Transaction.fields}. */
  fields: JsonObject;
  /** The most that the transaction can take from the account, in the smallest unit. */
  cost: bigint;
}

/** Not possible now but perhaps later, for instance while the network's price is above the policy's cap. */
export interface ParkedPreparation {
  kind: 'parked';
  reason: string;
  /** What it waits for: another price, or money. */
  cause?: 'price' | 'balance';
  retryInMs: number;
}

export interface SignedVersion {
  raw: string;
  hash: string;
  /** {@link Transaction.fields} with what the signature adds. */
  fields: JsonObject;
}

/** What came of an offer, and the name of the endpoint whose word it is, where one's is. */
export type BroadcastOutcome = BroadcastWord & { by?: string };

type BroadcastWord =
  /** A node has these very bytes. */
  | { kind: 'accepted' }
  /** The sequence is already in a block; look for which transaction used it. */
  | { kind: 'sequence-used'; reason: string }
  /** A lower sequence is missing on this node. */
  | { kind: 'sequence-ahead'; reason: string }
  /** The node has another transaction with this sequence and does not replace it for this price. */
  | { kind: 'underpriced'; reason: string }
  /** The price is below what nodes or the network ask for now; a dearer version may go. */
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
   * None of the attempts is known to be in a block, and one still can be. With a reason where the sequence is used and
   * the endpoints cannot prove by what: only another endpoint, or time, can tell.
   */
  | { kind: 'waiting'; reason?: string }
  /** An attempt is in a block. `final` when the network's depth is reached. */
  | {
      kind: 'included';
      hash: string;
      succeeded: boolean;
      final: boolean;
      /** Why it failed on chain, for `status_reason`. */
      reason: string | null;
      /** What being in a block adds to the version's {@link Attempt.fields}. */
      fields: JsonObject;
    }
  /** The sequence is used up at final depth by something else: none of the attempts can execute any more. */
  | { kind: 'displaced'; reason: string };
