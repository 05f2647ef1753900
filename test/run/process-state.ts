import { readFileSync } from 'node:fs';

/** What a process does right now, as Linux tells it: whether it runs, sleeps or stands still, and in what its threads wait. */
export function stateOfProcess(pid: number): string {
  const state = /^State:\s*(.*)$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 'not known';
  // The number of the system call, then its arguments: that of a read begins with the descriptor.
  const call = read(`/proc/${pid}/syscall`).trim().split(' ').slice(0, 2).join(' ');
  return `state: ${state}; waits in: ${read(`/proc/${pid}/wchan`) || 'not known'}; system call: ${call || 'not known'}`;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
