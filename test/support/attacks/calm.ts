import { readFile } from 'node:fs/promises';
import { descendantsOf } from '../processes.ts';

/** The processor time that a process has used, in clock ticks of 10 ms; 0 after it has ended. */
async function ticksOf(pid: number): Promise<number> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // proc_pid_stat(5): utime and stime are fields 14 and 15, the name in brackets is field 2.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return 0;
  }
}

const LOOK_MS = 300;
/** A third of one processor. */
const CALM_TICKS = 10;

/**
 * Waits at most `limitMs` until the processes below the given one are idle. Resolves with the command lines of those
 * that are not.
 */
export async function restlessBelow(pid: number, limitMs: number): Promise<string[]> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const children = await descendantsOf(pid);
    const before = await Promise.all(children.map((child) => ticksOf(child.pid)));
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const after = await Promise.all(children.map((child) => ticksOf(child.pid)));
    const restless = children.filter((_, at) => (after[at] ?? 0) - (before[at] ?? 0) > CALM_TICKS);
    if (restless.length === 0 || performance.now() > deadline) return restless.map(({ command }) => command);
  }
}
