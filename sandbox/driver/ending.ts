import type { Death, EndCode, Limits } from '../protocol.ts';
import type { Gone } from './child/child.ts';

/** Why a child came to its end. */

/** How a call ends whose child came to its end. */
export interface Verdict {
  code: EndCode;
  message: string;
  /** Whether the call may be run again: its child died through no fault of the call. */
  lost: boolean;
}

/** What V8 and isolated-vm write before they abort for want of memory. */
const MEMORY_TEXTS = /out of memory|Heap statistics|invalid size error|allocation failed/i;
/** V8 ends itself by a trap where it cannot go on, and by an abort where it is out of memory. */
const MEMORY_SIGNALS: readonly (string | null)[] = ['SIGABRT', 'SIGTRAP', 'SIGILL'];

/** Whether a child that died by itself ran out of memory. */
export function diedOfMemory(gone: Gone): boolean {
  return MEMORY_SIGNALS.includes(gone.signal) || MEMORY_TEXTS.test(gone.stderr);
}

/** Whether the call that was inside the guest when a child died can have been the reason. */
export function diedOfGuest(gone: Gone): boolean {
  // Nothing that a guest does makes the kernel send SIGKILL to its process but the use of memory, and then the
  // machine was short of it rather than the plugin over its limit.
  return gone.signal !== 'SIGKILL';
}

/** How each call of the child ends; the culprit is the one that was inside the guest. */
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
