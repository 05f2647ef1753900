import type { CallUsage } from '../../sandbox/protocol.ts';

/** What the plugin host counts; the metric names belong to `observability/`. */
export interface PluginMetrics {
  /**
   * `end` is `returned`, `threw` or one of the sandbox's end codes, never a text of the plugin. `usage` counts all runs
   * of the call.
   */
  callEnded(pluginId: string, end: string, seconds: number, usage: CallUsage): void;
  /** One capability call; `answer` says whether it was granted and done. */
  capabilityCalled(pluginId: string, method: string, answer: 'ok' | 'refused' | 'failed'): void;
  /** `cause` as in the driver's `closed` message; `pluginId` is empty for a spare. */
  processKilled(pluginId: string, cause: string): void;
  /** The numbers of children alive, calls running and calls waiting, now. */
  load(load: { processes: number; running: number; queued: number }): void;
}
