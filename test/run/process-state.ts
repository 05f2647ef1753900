import { readFileSync } from 'node:fs';

/** The state of a process on Linux: whether it runs, sleeps or is stopped, and where it waits. */
export function stateOfProcess(pid: number): string {
  const state = /^State:\s*(.*)$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 'not known';
  // The number of the system call, then its arguments. The first argument of a read is the descriptor.
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
