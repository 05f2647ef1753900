import type { Confinement, Json } from '../../sandbox/protocol.ts';
import type { Claim } from '../domain/idempotency.ts';
import type { WireObject } from '../domain/json/json.ts';
import type { KvUsage } from '../domain/kv.ts';
import type { Page, PageRequest } from '../domain/page.ts';
import type { PluginEntry } from '../domain/plugin.ts';
import type { StoredPlugin } from '../domain/settings/plugin-settings.ts';
import type { Spent } from '../domain/transaction/spending.ts';
import type { Services } from '../services/services.ts';
import type { BundlerConfinement } from './bundler-confinement.ts';
import type { CallFeed } from './call-feed.ts';
import type { Totals } from './processes/usage.ts';

/** Runs plugins. Everything about processes, threads and isolates lies behind it. */
export interface PluginHost {
  /** What became of the calls here. */
  readonly ended: Pick<CallFeed, 'latest' | 'after' | 'onCall'>;
  /** Begins what needs no plugin yet and takes the longest: the first thread and the spare process. */
  prepare(): void;
  /** Compiles what lies in the plugins folder. A build that takes long is not waited for: its plugin serves later. */
  start(surroundings: PluginSurroundings): Promise<void>;
  /**
   * Runs one call to its end; every end is an answer.
   * @throws AppError `PLUGIN_NOT_FOUND`, `PLUGIN_DISABLED`, `PLUGIN_GET_DISABLED`, and under an idempotency key
   *   `EFFECT_MISMATCH`, `EFFECT_UNKNOWN`, `LOCK_HELD_ELSEWHERE`, `IDEMPOTENCY_RUNNING`, `UNAVAILABLE`
   */
  call(pluginId: string, request: PluginRequest, signal: CallerSignal): Promise<PluginAnswer>;
  /** All plugins, by id; `among`: those with these ids. */
  list(page: PageRequest, among?: readonly string[]): Promise<Page<WireObject>>;
  /** @throws AppError `PLUGIN_NOT_FOUND` */
  get(pluginId: string): Promise<WireObject>;
  /** As it was declared, whatever clients made of it. @throws AppError `PLUGIN_NOT_FOUND` */
  declared(pluginId: string): PluginEntry;
  /**
   * Builds a plugin anew and holds nothing against it that was before. Resolves when the build is done, or takes long.
   * @throws AppError `PLUGIN_NOT_FOUND`
   */
  reload(pluginId: string): Promise<void>;
  /** What its last calls here wrote, the latest first. @throws AppError `PLUGIN_NOT_FOUND` */
  logs(pluginId: string, page: PageRequest): Page<WireObject>;
  /** Goes by what clients have made of plugins by now. */
  applySettings(): void;
  /**
   * Goes by other entries from now on. What they allow holds for the next call, also when it is less; the rest as soon as
   * it is built. Resolves when the builds are done, or take long.
   * @param changed the ids of those that are new, not what they were, or there no more
   */
  declare(entries: readonly PluginEntry[], changed: ReadonlySet<string>): Promise<void>;
  status(): PluginHostStatus;
  /** What the calls of all plugins came to since the start. */
  usage(): PluginUsage;
  /** Lets the calls that are there come to their end for `graceMs`, then kills every child. Safe to call twice. */
  close(graceMs: number): Promise<void>;
}

/** What the store knows of a plugin. */
export interface PluginBooks {
  kvUsage(pluginId: string): Promise<KvUsage>;
  /** What its transactions through a relayer took within an hour, and may still take. */
  spentLastHour(pluginId: string, relayerId: string): Promise<Spent>;
}

/** What plugins run among. */
export interface PluginSurroundings {
  services: Services;
  /** What the store knows of plugins. */
  books: PluginBooks;
  /** What clients made of a plugin; absent: nothing. */
  settings?: (pluginId: string) => StoredPlugin | undefined;
}

/** Whether the caller still waits for the answer: what a call needs of an AbortSignal, which is one. */
export interface CallerSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options: { once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

export interface PluginUsage {
  totals: Iterable<{ pluginId: string; outcome: string } & Totals>;
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
  /** The claim under which the request runs, when it has an idempotency key. Not shown to the plugin. */
  claim?: Claim;
}

/** A finished HTTP answer: `body` is JSON text, the envelope or the raw result. */
export interface PluginAnswer {
  status: number;
  body: string;
  /** Seconds, on overload. */
  retryAfter?: number;
}

export interface PluginHostStatus {
  threads: number;
  processes: number;
  running: number;
  queued: number;
  /** What each process holds, as last metered. */
  uses: ProcessUse[];
  /** What the operating system grants the children; undefined until the first has started. */
  confinement: Confinement | undefined;
  /** The same for the bundler; undefined until it has built something. */
  bundler: BundlerConfinement | undefined;
  /** Why no process starts, while that is so: the latest attempts have failed, and none that is ready is left. */
  startFailure: string | null;
  plugins: PluginStatus[];
}

/** One child process; `pluginId` is empty for a spare. */
export interface ProcessUse {
  pluginId: string;
  isolates: number;
  residentBytes: number;
}

export interface PluginStatus {
  id: string;
  state: 'serving' | 'broken' | 'compiling' | 'backing-off';
  /** Why it does not serve, or not its newest version. */
  reason: string | null;
  version: string | null;
  /** Whether calls are backed off now: all of them, which is its state then, or those of an API key. */
  refused: boolean;
}
