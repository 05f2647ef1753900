/** What a driver thread and its starter say to each other; both ends are our own code, and no guest is near. */

/** To the starter. A child has the same number in all messages. */
export type ToStarter =
  /** `journal_fd` is a descriptor of the service. */
  | { readonly type: 'start'; readonly child: number; readonly journal_fd?: number | undefined }
  | { readonly type: 'kill'; readonly child: number };

/** From the starter. */
export type FromStarter =
  /** It can start children; comes once. */
  | { readonly type: 'ready' }
  | { readonly type: 'started'; readonly child: number; readonly pid: number }
  | { readonly type: 'failed'; readonly child: number; readonly reason: string }
  /** Comes with the driver's end of the child's channel. */
  | { readonly type: 'channel'; readonly child: number }
  | {
      readonly type: 'exited';
      readonly child: number;
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
    }
  /** Follows `exited`, with the last bytes of the child's standard error. */
  | { readonly type: 'closed'; readonly child: number; readonly stderr: string };
