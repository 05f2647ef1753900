import type { CallerSignal, CallingTrigger, Json } from '../../../../sandbox/contract.ts';
import type { SandboxStatus, UsageTotals } from '../../../../sandbox/host/sandbox.ts';
import type { IdempotencyClaim } from '../../../domain/idempotency.ts';
import type { WireObject } from '../../../domain/json/json.ts';
import type { Page, PageRequest } from '../../../domain/page.ts';
import type { Store } from '../../../store/store.ts';
import type { CallsService } from '../../calls/calls.ts';
import type { Services } from '../../services.ts';
import type { KvUsage } from '../records/kv.ts';
import type { PluginEntry } from '../records/plugin.ts';
import type { StoredPlugin } from '../records/plugin-settings.ts';
import type { ActualSpend } from '../records/spending.ts';
import type { CallFeed } from './call-feed.ts';
import type { BoundCapability } from './capabilities/capability.ts';

/** Runs plugins. Hides processes, threads and isolates from its callers. */
export interface PluginHost {
  /** The calls that have ended on this instance. */
  readonly ended: Pick<CallFeed, 'latest' | 'after' | 'onCall'>;
  /** Starts the first thread and the spare process: they take the longest, and need no plugin. */
  prepare(): void;
  /** Compiles the plugins in the plugins folder. Does not wait for a slow build: its plugin serves later. */
  start(surroundings: PluginSurroundings): Promise<void>;
  /**
   * Runs one call to its end. A failed call has an answer, too.
   * @throws AppError `PLUGIN_NOT_FOUND`, `PLUGIN_DISABLED`, `PLUGIN_GET_DISABLED`, and under an idempotency key
   *   `EFFECT_MISMATCH`, `EFFECT_UNKNOWN`, `LOCK_HELD_ELSEWHERE`, `IDEMPOTENCY_RUNNING`, `UNAVAILABLE`
   */
  call(pluginId: string, request: PluginRequest, signal: CallerSignal): Promise<PluginAnswer>;
  /** Whether the calls of a plugin are durable. */
  isDurable(pluginId: string): boolean;
  /** All plugins, sorted by id. With `among`: only the plugins with these ids. */
  list(page: PageRequest, among?: readonly string[]): Promise<Page<WireObject>>;
  /** @throws AppError `PLUGIN_NOT_FOUND` */
  get(pluginId: string): Promise<WireObject>;
  /** The plugin's entry as declared, without the settings of clients. @throws AppError `PLUGIN_NOT_FOUND` */
  declared(pluginId: string): PluginEntry;
  /**
   * Builds a plugin again and ends its back-off. Resolves when the build is done, or when it takes long.
   * @throws AppError `PLUGIN_NOT_FOUND`
   */
  reload(pluginId: string): Promise<void>;
  /**
   * The log lines of the plugin's last calls on this instance, the latest call first. @throws AppError
   * `PLUGIN_NOT_FOUND`
   */
  logs(pluginId: string, page: PageRequest): Page<WireObject>;
  /** Applies the current plugin settings of clients. */
  applySettings(): void;
  /**
   * Replaces the plugin entries. Changed permissions apply from the next call on, also where they allow less. All other
   * changes apply once they are built. Resolves when the builds are done, or take long.
   * @param changed the ids of entries that are new, changed or removed
   */
  declare(entries: readonly PluginEntry[], changed: ReadonlySet<string>): Promise<void>;
  status(): PluginHostStatus;
  /** The usage of all plugins' calls since the start. */
  usage(): PluginUsage;
  /** Waits up to `graceMs` for the open calls to end, then kills every child process. Safe to call twice. */
  close(graceMs: number): Promise<void>;
}

/** Reads a plugin's usage, and where its triggers stand, from the store. */
export interface PluginBooks {
  kvUsage(pluginId: string): Promise<KvUsage>;
  /** What the plugin's transactions through a relayer spent within an hour, and what open ones may still spend. */
  spentLastHour(pluginId: string, relayerId: string): Promise<ActualSpend>;
  /** Where the triggers of a plugin stand, as answers show them. */
  triggers(plugin: PluginEntry): Promise<WireObject[]>;
}

/** What durable calls need of the service. */
export interface DurableNeeds {
  store: Store;
  engine: { onChange(transactionId: string, listener: () => void): () => void };
  newId(): string;
}

/** The parts of the service that plugins need. */
export interface PluginSurroundings {
  services: Services;
  /** Absent: those of the services. */
  capabilities?: ReadonlyMap<string, BoundCapability>;
  /** Reads plugins' usage from the store. */
  books: PluginBooks;
  /** What durable calls need. Absent: no call is durable. */
  durable?: DurableNeeds & { calls: Pick<CallsService, 'attach'> };
  /** The settings that clients have stored for a plugin. Absent: no plugin has settings. */
  settings?: (pluginId: string) => StoredPlugin | undefined;
}

export interface PluginUsage {
  totals: Iterable<{ pluginId: string; outcome: string } & UsageTotals>;
  /** The largest heap of an isolate of each plugin at the end of a call within the last hour, in bytes. */
  heapPeaks: ReadonlyMap<string, number>;
}

/** A plugin call as it came in; the caller's `authorization` header is not among the headers. */
export interface PluginRequest {
  method: 'GET' | 'POST';
  route: string;
  params: Json;
  headers: Record<string, string[]>;
  query: Record<string, string[]>;
  /** Which API key called; shown to the plugin as `context.caller.keyId`. */
  keyId: string;
  requestId: string;
  /** The trigger that made the call; `depth` counts the triggers that led to it. */
  trigger?: CallingTrigger & { depth: number };
  /** The idempotency key of a call of a durable plugin, and a hash of its request. */
  key?: string;
  fingerprint?: string;
  /** How long the caller of a durable plugin waits for the end of the call, in milliseconds; absent: its timeout. */
  waitMs?: number;
  /** The claim under which the request runs, when it has an idempotency key. Not shown to the plugin. */
  claim?: IdempotencyClaim;
}

/** A finished HTTP answer: `body` is JSON text, the envelope or the raw result. */
export interface PluginAnswer {
  status: number;
  body: string;
  /** Seconds, on overload. */
  retryAfter?: number;
  /** The path of a durable call that goes on. */
  location?: string;
}

export interface PluginHostStatus extends SandboxStatus {
  running: number;
  plugins: PluginStatus[];
}

export interface PluginStatus {
  id: string;
  state: 'serving' | 'broken' | 'compiling' | 'backing-off';
  /** Why the plugin does not serve, or why its newest version does not. */
  reason: string | null;
  version: string | null;
  /** Whether calls are refused now by a back-off: all calls (`state` is `backing-off` then), or those of an API key. */
  refused: boolean;
}
