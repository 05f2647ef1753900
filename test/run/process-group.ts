import { readdirSync, readFileSync } from 'node:fs';

/** Which processes of a group: all, or all except the leader, whose id is the group's id. */
export type Whom = 'all' | 'others';

/** Whether a process of the group still runs. */
export function isGroupAlive(group: number, whom: Whom = 'all'): boolean {
  if (!signal(-group, 0)) return false;
  if (process.platform !== 'linux') return whom === 'all';
  // Without a reaper, dead processes stay in the process table. They do not count.
  return livingMembers(group, whom).length > 0;
}

/** Kills processes of a group. */
export function killGroup(group: number, whom: Whom = 'all'): void {
  if (whom === 'all') signal(-group, 'SIGKILL');
  else for (const pid of livingMembers(group, whom)) signal(pid, 'SIGKILL');
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    // The group is gone.
    return false;
  }
}

function livingMembers(group: number, whom: Whom): number[] {
  const all = readdirSync('/proc').flatMap((entry) => (/^\d+$/.test(entry) ? [Number(entry)] : []));
  return all.filter((pid) => !(whom === 'others' && pid === group) && isLivingMember(pid, group));
}

function isLivingMember(pid: number, group: number): boolean {
  try {
    // Format: pid (name) state parent group … The name may contain any character, even a closing bracket.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(processGroup) === group && state !== 'Z' && state !== 'X';
  } catch {
    // The process ended during the read.
    return false;
  }
}
