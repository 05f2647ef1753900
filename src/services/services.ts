import type { Effect } from '../domain/idempotency.ts';
import type { WireObject } from '../domain/json/json.ts';
import type { KvCaller, KvLock } from '../domain/kv.ts';
import type { Page, PageRequest } from '../domain/page.ts';
import type { RelayerFilter } from '../domain/relayer/relayer.ts';
import type { Actor, Caller } from '../domain/settings/caller.ts';
import type { Spender } from '../domain/transaction/spending.ts';
import type { TransactionStatus } from '../domain/transaction/transaction-state.ts';
import type { RpcOutcome } from '../egress/rpc/rpc-client.ts';
import type { EffectsService } from './effects.ts';
import type { FetchService } from './fetch.ts';
import type { ApiKeysService } from './settings/api-keys.ts';
import type { AuditService } from './settings/audit.ts';
import type { NetworksService } from './settings/networks.ts';
import type { PluginsService } from './settings/plugins.ts';
import type { SignersService } from './settings/signers.ts';
import type { DeliveriesService } from './webhooks/deliveries.ts';

/**
 * The services. HTTP routes and plugin capabilities call the same ones, so that a policy cannot be walked around.
 * Bodies arrive unparsed and views leave in the wire's form. Every method throws `AppError`.
 *
 * A method that changes settings, sends, replaces or cancels is told who asks, and leaves an audit record. A method with
 * an effect takes the effect's name when the request has an idempotency key: under one name it happens once, and answers
 * with what came of it.
 */
export interface Services {
  readonly transactions: TransactionsService;
  readonly lifecycle: LifecycleService;
  readonly relayers: RelayersService;
  readonly notifications: NotificationsService;
  readonly signing: SigningService;
  readonly rpc: RpcService;
  readonly kv: KvService;
  readonly fetch: FetchService;
  readonly effects: EffectsService;
}

/** Those that plugins have no use for, besides. */
export interface ApiServices extends Services {
  readonly deliveries: DeliveriesService;
  readonly signers: SignersService;
  readonly networks: NetworksService;
  readonly plugins: PluginsService;
  readonly apiKeys: ApiKeysService;
  readonly audit: AuditService;
}

export interface TransactionsService {
  /**
   * Accepts a request: what this resolves with is on disk. 404, 403 paused or disabled, 400; for a plugin under limits
   * also `GRANT_EXCEEDED` and `BUDGET_SPENT`.
   */
  send(relayerId: string, body: unknown, effect?: Effect, spender?: Spender, by?: Actor): Promise<WireObject>;
  get(relayerId: string, transactionId: string): Promise<WireObject>;
  list(relayerId: string, page: PageRequest, status?: TransactionStatus): Promise<Page<WireObject>>;
  /**
   * Resolves with the transaction once `endsWait` holds, or with `undefined` after `timeoutMs`. One that is in a block
   * and failed there has the status `failed`, though that is not final yet; likewise one whose noop is there.
   */
  wait(
    relayerId: string,
    transactionId: string,
    timing: { intervalMs: number; timeoutMs: number },
    signal: AbortSignal,
  ): Promise<WireObject | undefined>;
}

/** The course of accepted transactions: changing it, and telling it. Intents are 403 for paused and disabled relayers. */
export interface LifecycleService {
  /**
   * Asks for something else in the place of a transaction that is in no block. Resolves once that is signed; after a
   * few seconds without that, with the transaction as it is: the intent is stored and tried on.
   * 404; 400, also for a transaction in another state, or when the lane refuses.
   */
  replace(relayerId: string, transactionId: string, body: unknown, effect?: Effect, by?: Actor): Promise<WireObject>;
  /** Asks that nothing more comes of a transaction. Resolves as `replace` does. 404, 400 in another state. */
  cancel(relayerId: string, transactionId: string, effect?: Effect, by?: Actor): Promise<WireObject>;
  /** Asks the same of all that are in no block. Resolves once these intents are stored, with the ids. */
  cancelPending(relayerId: string, by?: Actor): Promise<WireObject>;
  /** The latest that was given the sequence. 404; 501 for a family that looks up none. */
  bySequence(relayerId: string, sequence: bigint): Promise<WireObject>;
  /** The one of which a signed version has the hash, however it ended. 404. */
  byHash(relayerId: string, hash: string): Promise<WireObject>;
  /** What happened to a transaction, oldest first. */
  timeline(relayerId: string, transactionId: string): Promise<WireObject>;
}

export interface RelayersService {
  get(relayerId: string): Promise<WireObject>;
  list(page: PageRequest, filter?: RelayerFilter): Promise<Page<WireObject>>;
  /** 400; 404 for an unknown signer or notification; 409 for an id that is taken. */
  create(body: unknown, by: Caller): Promise<WireObject>;
  /** 404; 409 while a transaction of it is under way. */
  remove(relayerId: string, by: Caller): Promise<void>;
  /** Merges a change into a relayer, also into a disabled one. 404, also for an unknown notification; 400. */
  update(relayerId: string, body: unknown, by: Caller): Promise<WireObject>;
  /** `GET /relayers/{id}/status`. */
  status(relayerId: string): Promise<WireObject>;
  /** `GET /relayers/{id}/balance`: null while no endpoint tells it, and `unavailable` says why. */
  balance(relayerId: string): Promise<{ balance: bigint | null; unit: string; unavailable?: Record<string, string> }>;
}

/** Webhook targets. Views never hold a signing key. */
export interface NotificationsService {
  get(id: string): Promise<WireObject>;
  list(page: PageRequest): Promise<Page<WireObject>>;
  /** 400, 409 for an id that is taken. */
  create(body: unknown, by: Caller): Promise<WireObject>;
  /** 404, 400. */
  update(id: string, body: unknown, by: Caller): Promise<WireObject>;
  /** 404; 409 while relayers refer to it. */
  remove(id: string, by: Caller): Promise<void>;
}

/** Signatures over what is not sent. 404, 403 paused or disabled, 400. */
export interface SigningService {
  /** `POST /relayers/{id}/sign`. */
  signMessage(relayerId: string, body: unknown, effect?: Effect, by?: Actor): Promise<WireObject>;
  /** `POST /relayers/{id}/sign-typed-data`. */
  signTypedData(relayerId: string, body: unknown, effect?: Effect, by?: Actor): Promise<WireObject>;
  signTransaction(relayerId: string, body: unknown, effect?: Effect, by?: Actor): Promise<WireObject>;
  /** What a transaction costs its user, whom the relayer spares the fee: `POST …/transactions/sponsored/quote`. */
  quoteSponsored(relayerId: string, body: unknown): Promise<WireObject>;
  /** The same transaction with the payment in it, signed by the relayer: `POST …/transactions/sponsored/build`. */
  buildSponsored(relayerId: string, body: unknown, effect?: Effect, by?: Actor): Promise<WireObject>;
}

export interface RpcService {
  /**
   * A node's refusal is part of the outcome; only what is wrong with the call itself throws. `EFFECT_UNKNOWN` when an
   * earlier run asked a node to act, nobody knows what came of it, and asking again could act twice. A plugin's limits
   * hold for methods of a family's own that send.
   */
  call(relayerId: string, body: unknown, effect?: Effect, spender?: Spender, by?: Actor): Promise<RpcOutcome>;
  /** The same for several calls: one outcome for each, in their order. What is no call is an error among them. */
  batch(relayerId: string, bodies: readonly unknown[], effect?: Effect, by?: Actor): Promise<RpcOutcome[]>;
}

/**
 * A plugin's own key-value store. Keys and names of locks: 1 to 512 of `A-Z a-z 0-9 : _ -`. Values are JSON texts that
 * nobody here reads. What changes values happens in the order in which it was asked for, and is refused once a lock of
 * its caller is held no longer.
 */
export interface KvService {
  /** The JSON text, or null. */
  get(pluginId: string, key: string): Promise<string | null>;
  /** `ttlSec` in seconds; absent or not positive means no expiry. 400 when the quota has no room. */
  set(caller: KvCaller, key: string, json: string, ttlSec?: number, effect?: Effect): Promise<boolean>;
  /** True when there was something to delete. */
  del(caller: KvCaller, key: string, effect?: Effect): Promise<boolean>;
  exists(pluginId: string, key: string): Promise<boolean>;
  /** A page (`kv_page`) of the keys that begin with `prefix` and come after `after`, in order. */
  listKeys(pluginId: string, prefix: string, after?: string): Promise<string[]>;
  /** Deletes all values, step by step until the signal comes; resolves with their number. Locks stay. */
  clear(caller: KvCaller, effect: Effect | undefined, signal: AbortSignal): Promise<number>;
  /**
   * Takes a lock for so many milliseconds; null when it is held. The rerun of a call that had it gets it anew, and waits
   * a few seconds for it: 503 after that.
   */
  lock(
    caller: Pick<KvCaller, 'pluginId'>,
    name: string,
    forMs: number,
    effect: Effect | undefined,
    signal: AbortSignal,
  ): Promise<KvLock | null>;
  /** False when it was held no longer. */
  unlock(pluginId: string, lock: KvLock): Promise<boolean>;
}
