import { readdirSync, readFileSync } from 'node:fs';

/** Whether any process of a group still runs. The group has the id of the process that it began with. */
export function isGroupAlive(group: number): boolean {
  if (!signalGroup(group, 0)) return false;
  if (process.platform !== 'linux') return true;
  // Where nobody collects orphans, the dead stay in the process table: those do not count.
  return readdirSync('/proc').some((entry) => /^\d+$/.test(entry) && isLivingMember(entry, group));
}

/** Ends every process of a group. */
export function killGroup(group: number): void {
  signalGroup(group, 'SIGKILL');
}

function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    // The group is gone.
    return false;
  }
}

function isLivingMember(pid: string, group: number): boolean {
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
