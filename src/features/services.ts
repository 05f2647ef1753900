import type { KeyedEffect } from '../domain/idempotency.ts';
import type { WireObject } from '../domain/json/json.ts';
import type { Page, PageRequest } from '../domain/page.ts';
import type { RpcOutcome } from '../egress/rpc/rpc-client.ts';
import type { ResourceName } from './api-keys/records/access.ts';
import type { Actor, Caller } from './api-keys/records/caller.ts';
import type { AuditService } from './audit/audit.ts';
import type { Bundles } from './calls/bundles.ts';
import type { CallsService } from './calls/calls.ts';
import type { FetchService } from './plugins/fetch.ts';
import type { PluginsService } from './plugins/plugins.ts';
import type { KvCaller, KvLock } from './plugins/records/kv.ts';
import type { SpendingPlugin } from './plugins/records/spending.ts';
import type { RecordedEffects } from './recorded-effects.ts';
import type { RelayerFilter } from './relayers/records/relayer.ts';
import type { ResourceService } from './resource.ts';
import type { TransactionStatus } from './transactions/records/transaction-state.ts';
import type { TriggersService } from './triggers/triggers.ts';
import type { DeliveriesService } from './webhooks/deliveries.ts';

/**
 * The services. HTTP routes and plugin capabilities call the same services, so that neither can bypass a policy. Bodies
 * arrive unparsed, and views are returned in the wire format. Every method throws `AppError`.
 *
 * A method that changes settings, sends, replaces or cancels gets the caller and writes an audit record. A method with
 * an effect gets the effect's name if the request has an idempotency key. Under one name the effect happens once, and
 * repeats get its outcome.
 */
export interface Services {
  readonly transactions: TransactionsService;
  readonly lifecycle: LifecycleService;
  readonly relayers: RelayersService;
  readonly signing: SigningService;
  readonly rpc: RpcService;
  readonly kv: KvService;
  readonly fetch: FetchService;
  readonly effects: RecordedEffects;
  readonly bundles: Bundles;
}

/** All services, including those that plugins do not use. */
export interface ApiServices extends Services {
  readonly deliveries: DeliveriesService;
  readonly plugins: PluginsService;
  readonly triggers: TriggersService;
  readonly resources: Readonly<Record<ResourceName, ResourceService>>;
  readonly audit: AuditService;
  readonly calls: CallsService;
}

/** Who calls, and on what terms. */
export interface CallTerms {
  /** The effect that happens once; present when the request has an idempotency key. */
  effect?: KeyedEffect | undefined;
  /** The plugin's limits. */
  spender?: SpendingPlugin | undefined;
  /** For the audit record. */
  actor?: Actor | undefined;
  /** Whether the caller may send as well. Then what is signed may spend what the relayer holds. */
  maySpend?: boolean | undefined;
}

export interface TransactionsService {
  /**
   * Accepts a request. It resolves after the transaction is on disk. 404; 403 paused or disabled; 400. For a plugin
   * under limits also `GRANT_EXCEEDED` and `BUDGET_SPENT`.
   */
  send(relayerId: string, body: unknown, by?: CallTerms): Promise<WireObject>;
  get(relayerId: string, transactionId: string): WireObject | Promise<WireObject>;
  list(relayerId: string, page: PageRequest, status?: TransactionStatus): Page<WireObject> | Promise<Page<WireObject>>;
  /**
   * Resolves with the transaction once `endsWait` holds, with `isFinal` once its status is final, or with `undefined` after `timeoutMs`. The status looks ahead
   * of a block that is not final yet: it is `failed` for a transaction that failed in the block. For a transaction
   * whose noop is in the block it is the status that the noop leads to.
   */
  wait(
    relayerId: string,
    transactionId: string,
    timing: { intervalMs: number; timeoutMs: number; isFinal?: boolean },
    signal: AbortSignal,
  ): Promise<WireObject | undefined>;
}

/**
 * Replaces and cancels accepted transactions, and shows their history. Changes are 403 for paused and disabled
 * relayers.
 */
export interface LifecycleService {
  /**
   * Replaces a transaction that is in no block. Resolves once the replacement is signed. If that takes more than a few
   * seconds, resolves with the transaction as it is; the intent is stored and carried out later. 404; 400, also for a
   * transaction in another state, or when the lane refuses.
   */
  replace(relayerId: string, transactionId: string, body: unknown, by?: CallTerms): Promise<WireObject>;
  /** Cancels a transaction. Resolves like `replace`. 404; 400 in another state. */
  cancel(relayerId: string, transactionId: string, by?: CallTerms): Promise<WireObject>;
  /** Cancels all transactions that are in no block. Resolves with their ids once the intents are stored. */
  cancelPending(relayerId: string, by?: Actor): Promise<WireObject>;
  /** The latest transaction with the sequence. 404; 501 for a family without this lookup. */
  bySequence(relayerId: string, sequence: bigint): Promise<WireObject>;
  /** The transaction with a signed version that has this hash, however it ended. 404. */
  byHash(relayerId: string, hash: string): Promise<WireObject>;
  /** What happened to a transaction, oldest first. */
  timeline(relayerId: string, transactionId: string): Promise<WireObject>;
}

export interface RelayersService {
  get(relayerId: string): WireObject | Promise<WireObject>;
  list(page: PageRequest, filter?: RelayerFilter): Promise<Page<WireObject>>;
  /** 400; 404 for an unknown signer or notification; 409 for an id that is taken. */
  create(body: unknown, by: Caller): Promise<WireObject>;
  /** 404; 409 while a transaction of it is under way. */
  remove(relayerId: string, by: Caller): Promise<void>;
  /** Merges a change into a relayer, also into a disabled one. 404, also for an unknown notification; 400. */
  update(relayerId: string, body: unknown, by: Caller): Promise<WireObject>;
  /** `GET /relayers/{id}/status`. */
  status(relayerId: string): Promise<WireObject>;
  /** `GET /relayers/{id}/balance`. The balance is null while no endpoint answers, and `unavailable` says why. */
  balance(relayerId: string): Promise<{ balance: bigint | null; unit: string; unavailable?: Record<string, string> }>;
}

/** Signs without sending. 404; 403 paused or disabled; 400. */
export interface SigningService {
  /** `POST /relayers/{id}/sign`. */
  signMessage(relayerId: string, body: unknown, by?: CallTerms): Promise<WireObject>;
  /** `POST /relayers/{id}/sign-typed-data`. */
  signTypedData(relayerId: string, body: unknown, by?: CallTerms): Promise<WireObject>;
  signTransaction(relayerId: string, body: unknown, by?: CallTerms): Promise<WireObject>;
  /** The user's price of a transaction whose fee the relayer pays: `POST …/transactions/sponsored/quote`. */
  quoteSponsored(relayerId: string, body: unknown): Promise<WireObject>;
  /** The same transaction with the payment in it, signed by the relayer: `POST …/transactions/sponsored/build`. */
  buildSponsored(relayerId: string, body: unknown, by?: CallTerms): Promise<WireObject>;
}

export interface RpcService {
  /**
   * Runs a call. A node's refusal is part of the outcome; only an invalid call throws. Throws `EFFECT_UNKNOWN` when an
   * earlier run asked a node to act, the outcome is unknown, and another call could act twice. A plugin's limits apply
   * to the family's own methods that send.
   */
  call(relayerId: string, body: unknown, by?: CallTerms): Promise<RpcOutcome>;
  /**
   * Runs several calls. Returns one outcome for each, in their order. An invalid call is an error among the outcomes.
   */
  batch(relayerId: string, bodies: readonly unknown[], by?: CallTerms): Promise<RpcOutcome[]>;
}

/**
 * A plugin's own key-value store. Keys and names of locks: 1 to 512 of `A-Z a-z 0-9 : _ -`. Values are JSON texts that
 * the service does not parse. Changes happen in the order in which they were asked for. A change is refused if its
 * caller no longer holds one of its locks.
 */
export interface KvService {
  /** The JSON text, or null. */
  get(pluginId: string, key: string): Promise<string | null>;
  /** `ttlSec` in seconds; absent or not positive means no expiry. 400 when the quota has no room. */
  set(caller: KvCaller, key: string, json: string, ttlSec?: number, effect?: KeyedEffect): Promise<boolean>;
  /** True when there was something to delete. */
  del(caller: KvCaller, key: string, effect?: KeyedEffect): Promise<boolean>;
  exists(pluginId: string, key: string): Promise<boolean>;
  /** A page (`kv_page`) of the keys that begin with `prefix` and come after `after`, in order. */
  listKeys(pluginId: string, prefix: string, after?: string): Promise<string[]>;
  /**
   * Deletes all values in steps, and stops when the signal aborts. Resolves with the number of deleted values. Locks
   * stay.
   */
  clear(caller: KvCaller, effect: KeyedEffect | undefined, signal: AbortSignal): Promise<number>;
  /**
   * Takes a lock for `forMs` milliseconds; null when it is held. If an earlier run of the call had the lock, the rerun
   * takes it again and waits a few seconds for it. After that it is 503.
   */
  lock(
    caller: Pick<KvCaller, 'pluginId'>,
    name: string,
    forMs: number,
    effect: KeyedEffect | undefined,
    signal: AbortSignal,
  ): Promise<KvLock | null>;
  /** Returns false when the lock was no longer held. */
  unlock(pluginId: string, lock: KvLock): Promise<boolean>;
}
