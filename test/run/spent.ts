import { readFileSync } from 'node:fs';

/** Linux reports these times in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/**
 * The processor time in seconds of this process, and of ended children that were waited for. Undefined if the system
 * does not report it.
 */
export function spentByProcess(): number | undefined {
  try {
    // Format: pid (name) state … Fields 14 to 17 are user and system time, of the process and of its children.
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const figures = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return figures.slice(11, 15).reduce((sum, figure) => sum + Number(figure), 0) / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}
