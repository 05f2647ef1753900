import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Records children on disk where the system does not end them with the server. The next start ends them. By then a pid
 * may belong to another process, so the record has the child's start time, too.
 */
export interface OrphanProcesses {
  /** Records running children. Rejects when a record cannot be written. */
  note(pids: readonly number[]): Promise<void>;
  forget(pids: readonly number[]): void;
  /** Kills the children that earlier servers left running. Returns their pids. */
  sweep(): Promise<number[]>;
}

/** Tells when a process started, in the system's own format. `undefined` when it does not run. */
export type StartTime = (pid: number) => Promise<string | undefined>;

/** Keeps one small file per child below `<dataDir>/children`. */
export function createOrphanProcesses(
  dataDir: string,
  startTime: StartTime,
  kill: (pid: number) => void,
): OrphanProcesses {
  const folder = join(dataDir, 'children');
  const record = (pid: number) => join(folder, String(pid));
  return {
    async note(pids) {
      for (const pid of pids) {
        const started = await startTime(pid);
        if (started === undefined) continue;
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileSync(record(pid), started, { mode: 0o600 });
      }
    },
    forget(pids) {
      for (const pid of pids) rmSync(record(pid), { force: true });
    },
    async sweep() {
      const killed: number[] = [];
      for (const name of await readdir(folder).catch(() => [])) {
        const pid = Number(name);
        if (!Number.isSafeInteger(pid) || pid <= 1) continue;
        const started = readFileSync(record(pid), 'utf8');
        if (started !== '' && (await startTime(pid)) === started) {
          kill(pid);
          killed.push(pid);
        }
        await rm(record(pid), { force: true });
      }
      return killed;
    },
  };
}

/** Asks `/proc` where there is one (field 22 of `stat`, see proc_pid_stat(5)), else `ps`. */
export const systemStartTime: StartTime = async (pid) => {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    // The command's name, in parentheses, may hold anything. The fields after it are counted.
    return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  }
  const ps = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => undefined);
  return ps?.stdout.trim() || undefined;
};

/** Sends SIGKILL. A process that is already gone counts as killed. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // ESRCH: gone. EPERM: the pid is not ours any more.
  }
}
