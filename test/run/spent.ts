import { readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second, whatever its own clock is. */
const TICKS_PER_SECOND = 100;

/**
 * The seconds of processor time that all ended children of this process took, with theirs that they waited for; absent
 * where the system does not tell.
 */
export function spentByChildren(): number | undefined {
  try {
    // pid (name) state … ; the 16th and 17th figures are those of children, in user and system mode.
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const figures = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(figures[13]) + Number(figures[14])) / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}
