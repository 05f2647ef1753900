import type { PluginVersion } from '../../../sandbox/protocol.ts';

/** One child process as the host sees it. A number is never used again. */
export interface SandboxProcess {
  readonly id: number;
  /** The driver thread that owns the child. */
  readonly thread: number;
  /** `opening`: starting, without a plugin. `spare`: ready for any. `owned`: one plugin's for good. `closing`. */
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
  /** As last metered. */
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

/** How much of a child's memory may be given to new isolates: it is measured now and then only. */
const FILLED = 15 / 16;
/** By how much of its size an isolate grows in a call that works in it, beyond what it was when it was new. */
const GROWTH = 1 / 6;

/**
 * Whether the child may take one more call of this version: its measured memory and the isolate that the call may
 * need, with what all of them grow by, stay well below the plugin's `process_mb`. A child without a call always may, or the plugin could never run.
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

/** A new isolate has garbage of its beginnings; in a child with many, all that it takes, shared out, says it better. */
function isolateBytes({ isolateBytes, isolates, rssBytes }: SandboxProcess): number {
  return isolates > 0 && rssBytes > 0 ? Math.min(isolateBytes, rssBytes / isolates) : isolateBytes;
}

/** Whether the child can be ended without disturbing anyone. */
export function isIdle(child: SandboxProcess): boolean {
  return child.state === 'owned' && child.running === 0 && child.loading === undefined;
}
