import type { PluginVersion } from '../../../sandbox/protocol.ts';

/** One child process as the host sees it. An `id` is never used again. */
export interface SandboxProcess {
  readonly id: number;
  /** The driver thread that owns the child. */
  readonly thread: number;
  /**
   * `opening`: it starts, without a plugin. `spare`: ready for any plugin. `owned`: it belongs to one plugin until it
   * ends. `closing`: it ends.
   */
  state: 'opening' | 'spare' | 'owned' | 'closing';
  /** Empty until owned. */
  pluginId: string;
  /** The version that new calls may run; the child keeps an older one only for the calls that have begun. */
  version: string | undefined;
  /** Measured size of one isolate of that version, in bytes. */
  isolateBytes: number;
  /** When that version's module failed to evaluate, on the clock's `elapsed`; absent when it did not fail. */
  failedAt: number | undefined;
  /** The version that the child is evaluating. */
  loading: string | undefined;
  running: number;
  /** Takes no more calls: it is dying, or another plugin gets the process. */
  draining: boolean;
  dying: boolean;
  /** Its memory in bytes, as last metered. */
  rssBytes: number;
  isolates: number;
  pids: readonly number[];
  /** When it last had no call, on the clock's `elapsed`. */
  idleSince: number;
}

export function newSandboxProcess(id: number, thread: number, now: number): SandboxProcess {
  return {
    id,
    thread,
    state: 'opening',
    pluginId: '',
    version: undefined,
    isolateBytes: 0,
    failedAt: undefined,
    loading: undefined,
    running: 0,
    draining: false,
    dying: false,
    rssBytes: 0,
    isolates: 0,
    pids: [],
    idleSince: now,
  };
}

/**
 * How much of its memory limit a child may fill with new isolates. The rest is a reserve, because memory is measured
 * only now and then.
 */
const FILLED = 15 / 16;
/** How much an isolate grows in a call that works in it, as a part of its size when it was new. */
const GROWTH = 1 / 6;

/**
 * Whether the child may take one more call of this version. Its measured memory, the isolate that the call may need and
 * the growth of all isolates must stay well below the plugin's `process_mb`. A child without a call always may take
 * one: otherwise the plugin could never run.
 */
export function hasRoom(child: SandboxProcess, version: PluginVersion): boolean {
  if (child.state !== 'owned' || child.draining || child.version !== version.version) return false;
  if (child.running === 0) return true;
  const newIsolates = Math.max(0, child.running + 1 - child.isolates);
  const mostBytes = version.limits.process_mb * 1_048_576;
  if (newIsolates === 0) return child.rssBytes <= mostBytes;
  const bytes = isolateBytes(child);
  return child.rssBytes + newIsolates * bytes + (child.running + 1) * bytes * GROWTH <= mostBytes * FILLED;
}

/**
 * The size of one isolate of the child. A new isolate still has garbage from its start. So in a child with many
 * isolates, the child's memory divided by their number is the better figure.
 */
function isolateBytes({ isolateBytes, isolates, rssBytes }: SandboxProcess): number {
  return isolates > 0 && rssBytes > 0 ? Math.min(isolateBytes, rssBytes / isolates) : isolateBytes;
}

/** Whether the child can be ended without harm to a call or to a load. */
export function isIdle(child: SandboxProcess): boolean {
  return child.state === 'owned' && child.running === 0 && child.loading === undefined;
}
