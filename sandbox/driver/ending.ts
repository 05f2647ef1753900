import type { Death, EndCode, Limits } from '../protocol.ts';
import type { Gone } from './child/child.ts';

/** Why a child came to its end. */

/** How a call ends when its child ended. */
export interface Verdict {
  code: EndCode;
  message: string;
  /** Whether the call may be run again: its child died through no fault of the call. */
  lost: boolean;
}

/** What V8 and isolated-vm write before they abort because memory is short. */
const MEMORY_TEXTS = /out of memory|Heap statistics|invalid size error|allocation failed/i;
/** V8 ends itself by a trap when it cannot go on, and by an abort when it is out of memory. */
const MEMORY_SIGNALS: readonly (string | null)[] = ['SIGABRT', 'SIGTRAP', 'SIGILL'];

/** Whether a child that died by itself ran out of memory. */
export function diedOfMemory(gone: Gone): boolean {
  return MEMORY_SIGNALS.includes(gone.signal) || MEMORY_TEXTS.test(gone.stderr);
}

/** Whether the call that was inside the guest when a child died can be the cause. */
export function diedOfGuest(gone: Gone): boolean {
  // A guest makes the kernel send SIGKILL only by its use of memory. Then the machine was short of memory; the plugin
  // was not over its limit.
  return gone.signal !== 'SIGKILL';
}

/**
 * Decides how a call of the child ends.
 * @param culprit whether this call was inside the guest
 */
export function verdictOn(cause: Death['cause'], culprit: boolean, limits: Limits, memory: boolean): Verdict {
  if (!culprit || cause === 'closed' || cause === 'start') {
    return { code: 'SANDBOX_LOST', message: "The plugin's sandbox process ended under the call", lost: true };
  }
  if (cause === 'overdue') {
    return {
      code: 'CPU_LIMIT',
      message: `The plugin ran for more than ${limits.slice_ms} ms without a pause (limits.slice_ms)`,
      lost: false,
    };
  }
  if (cause === 'memory') {
    return {
      code: 'MEMORY_LIMIT',
      message: `The plugin's process used more than ${limits.process_mb} MiB of memory (limits.process_mb)`,
      lost: false,
    };
  }
  if (memory) {
    return {
      code: 'MEMORY_LIMIT',
      message: `The plugin used more than ${limits.memory_mb} MiB of memory (limits.memory_mb)`,
      lost: false,
    };
  }
  return { code: 'SANDBOX_LOST', message: 'The call ended its sandbox process', lost: false };
}
