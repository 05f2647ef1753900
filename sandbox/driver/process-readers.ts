import { closeSync, openSync, readSync } from 'node:fs';

/** Larger than `stat`, and than `status` up to the line `VmRSS`. */
const FILE_BYTES = 4096;

/** A file of a process below Linux's `/proc`. An open file stays with its process even if another gets its id later. */
class ProcessFile {
  readonly #pid: () => number | undefined;
  readonly #name: string;
  readonly #buffer = Buffer.alloc(FILE_BYTES);
  #fd: number | undefined;

  /** @param pid called until it returns a process id */
  constructor(pid: () => number | undefined, name: string) {
    this.#pid = pid;
    this.#name = name;
  }

  /** The beginning of its text; empty when it cannot be read: the process is gone, or the system has no /proc. */
  text(): string {
    try {
      const pid = this.#pid();
      if (this.#fd === undefined && pid !== undefined) this.#fd = openSync(`/proc/${pid}/${this.#name}`, 'r');
      if (this.#fd === undefined) return '';
      return this.#buffer.toString('latin1', 0, readSync(this.#fd, this.#buffer, 0, FILE_BYTES, 0));
    } catch {
      return '';
    }
  }

  /** Safe to call twice. */
  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

/** Reads the resident memory of a process, which Linux gives in kB for every page size. */
export class ResidentMemoryReader extends ProcessFile {
  constructor(pid: () => number | undefined) {
    super(pid, 'status');
  }

  /** Returns the resident memory in bytes; 0 when it cannot be read. */
  read(): number {
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(this.text()) ?? [];
    return Number(kilobytes) * 1024;
  }
}

/** Positions of `utime` and `stime` after the command's name, and their unit: see proc_pid_stat(5). */
const UTIME = 11;
const STIME = 12;
const MS_PER_TICK = 10;

/** Reads the processor time of a process. */
export class ProcessCpuTimeReader extends ProcessFile {
  constructor(pid: () => number | undefined) {
    super(pid, 'stat');
  }

  /** Returns the processor time in milliseconds; 0 where it cannot be read. */
  read(): number {
    const text = this.text();
    // The name, in parentheses, may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[UTIME] ?? 0) + Number(fields[STIME] ?? 0)) * MS_PER_TICK;
  }
}
