import { readFileSync } from 'node:fs';

/** Generations that are looked at: what confines the bundler's process, that, and esbuild's. */
const GENERATIONS = 3;

/** The memory of a process and of those that it started, swapped or not, in bytes; 0 where the system does not tell. */
export function familyMemory(pid: number, generations = GENERATIONS): number {
  const own = memoryOf(pid);
  if (own === 0 || generations === 1) return own;
  return childrenOf(pid).reduce((sum, child) => sum + familyMemory(child, generations - 1), own);
}

/** From Linux's `/proc/<pid>/status`, whose figures are in kB whatever the size of a page. */
function memoryOf(pid: number): number {
  const figures = readOrNothing(`/proc/${pid}/status`).matchAll(/^Vm(?:RSS|Swap):\s+(\d+) kB$/gm);
  return [...figures].reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0);
}

/** Those that its first thread started, which in Node starts all of them. */
function childrenOf(pid: number): number[] {
  return readOrNothing(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    // The process is gone, or the system does not have it.
    return '';
  }
}
