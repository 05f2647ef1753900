/**
 * Messages between a driver thread and its starter. Both ends are our own code; no guest code can reach this channel.
 */

/** Messages to the starter. All messages about a child carry the same number. */
export type ToStarter =
  /** `journal_fd` is a descriptor of the service. */
  | { readonly type: 'start'; readonly child: number; readonly journal_fd?: number | undefined }
  | { readonly type: 'kill'; readonly child: number };

/** Messages from the starter. */
export type FromStarter =
  /** Comes once: the starter can start children. */
  | { readonly type: 'ready' }
  | { readonly type: 'started'; readonly child: number; readonly pid: number }
  | { readonly type: 'failed'; readonly child: number; readonly reason: string }
  /** Carries the driver's end of the child's channel as its handle. */
  | { readonly type: 'channel'; readonly child: number }
  | {
      readonly type: 'exited';
      readonly child: number;
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
    }
  /** Follows `exited`, with the last bytes of the child's standard error. */
  | { readonly type: 'closed'; readonly child: number; readonly stderr: string };
