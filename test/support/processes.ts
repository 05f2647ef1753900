import { readdir, readFile } from 'node:fs/promises';

/** A process that a test watches. The start time distinguishes it from a later process with the same id. */
export interface WatchedProcess {
  pid: number;
  startTime: string;
  command: string;
}

/** Every living process below the given one, itself left out. Linux only: reads `/proc`. */
export async function descendantsOf(pid: number): Promise<WatchedProcess[]> {
  const all = await processes();
  const found: WatchedProcess[] = [];
  const parents = new Set([pid]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const one of all) {
      if (parents.has(one.parent) && !parents.has(one.pid)) {
        parents.add(one.pid);
        found.push({ pid: one.pid, startTime: one.startTime, command: one.command });
        grown = true;
      }
    }
  }
  return found;
}

/** Returns the given processes that still run. Waits up to the limit for them to end. */
export async function survivors(watched: readonly WatchedProcess[], limitMs: number): Promise<WatchedProcess[]> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const all = await processes();
    const alive = watched.filter((one) => all.some((p) => p.pid === one.pid && p.startTime === one.startTime));
    if (alive.length === 0 || performance.now() > deadline) return alive;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function processes(): Promise<(WatchedProcess & { parent: number })[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = await Promise.all(pids.map((pid) => processAt(Number(pid))));
  return read.filter((one) => one !== undefined);
}

async function processAt(pid: number): Promise<(WatchedProcess & { parent: number }) | undefined> {
  try {
    const [stat, command] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
    ]);
    // proc_pid_stat(5): the name is in brackets and may hold anything; state, ppid … follow it, starttime is field 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return undefined;
    return { pid, parent: Number(fields[1]), startTime: fields[19] ?? '', command: command.replaceAll('\0', ' ') };
  } catch {
    return undefined;
  }
}
