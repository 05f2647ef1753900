import { closeSync, openSync, readSync } from 'node:fs';

/** Positions of `utime` and `stime` after the command's name, and their unit: see proc_pid_stat(5). */
const UTIME = 11;
const STIME = 12;
const MS_PER_TICK = 10;
const STAT_BYTES = 1024;

/** Reads the processor time of a process from Linux's `/proc/<pid>/stat`. */
export class ProcessorTime {
  readonly #pid: () => number | undefined;
  readonly #buffer = Buffer.alloc(STAT_BYTES);
  #fd: number | undefined;

  /** @param pid called until it returns a process id */
  constructor(pid: () => number | undefined) {
    this.#pid = pid;
  }

  /** Returns the processor time in milliseconds; 0 where it cannot be read. */
  read(): number {
    try {
      const pid = this.#pid();
      if (this.#fd === undefined && pid !== undefined) this.#fd = openSync(`/proc/${pid}/stat`, 'r');
      if (this.#fd === undefined) return 0;
      const length = readSync(this.#fd, this.#buffer, 0, STAT_BYTES, 0);
      const text = this.#buffer.toString('latin1', 0, length);
      // The name, in parentheses, may hold anything.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[UTIME] ?? 0) + Number(fields[STIME] ?? 0)) * MS_PER_TICK;
    } catch {
      // The process is gone, or the system has no /proc.
      return 0;
    }
  }

  /** Safe to call twice. */
  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
