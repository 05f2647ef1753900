import { readdirSync, readFileSync } from 'node:fs';

/** Of a group: every process, or all but the one that it began with, which its id is that of. */
export type Whom = 'all' | 'others';

/** Whether any process of a group still runs. */
export function isGroupAlive(group: number, whom: Whom = 'all'): boolean {
  if (!signal(-group, 0)) return false;
  if (process.platform !== 'linux') return whom === 'all';
  // Where nobody collects orphans, the dead stay in the process table: those do not count.
  return livingMembers(group, whom).length > 0;
}

/** Ends processes of a group. */
export function killGroup(group: number, whom: Whom = 'all'): void {
  if (whom === 'all') signal(-group, 'SIGKILL');
  else for (const pid of livingMembers(group, whom)) signal(pid, 'SIGKILL');
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    // It is gone.
    return false;
  }
}

function livingMembers(group: number, whom: Whom): number[] {
  const all = readdirSync('/proc').flatMap((entry) => (/^\d+$/.test(entry) ? [Number(entry)] : []));
  return all.filter((pid) => !(whom === 'others' && pid === group) && isLivingMember(pid, group));
}

function isLivingMember(pid: number, group: number): boolean {
  try {
    // pid (name) state parent group …; the name may hold anything, even a closing bracket.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(processGroup) === group && state !== 'Z' && state !== 'X';
  } catch {
    // It ended while we looked.
    return false;
  }
}
