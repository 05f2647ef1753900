import { closeSync, openSync, readSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

/** What a watchdog looks at. */
export interface SampledChild {
  /** Judges the child by the clock and by its memory in use, in bytes (0 where the system does not report it). */
  look(now: number, rssBytes: number): void;
  /** True while guest code may run. */
  isBusy(): boolean;
}

const BUSY_MS = 25;
const IDLE_MS = 1000;
/** Larger than `stat`, and than `status` up to the line `VmRSS`. */
const FILE_BYTES = 4096;

/** Looks at one child at intervals, more often while guest code may run. */
export class ChildSampler {
  readonly #watched: SampledChild;
  readonly #memory: ResidentMemoryReader;
  #timer: NodeJS.Timeout | undefined;
  #delayMs = 0;
  #stopped = false;

  constructor(watched: SampledChild, memory: ResidentMemoryReader) {
    this.#watched = watched;
    this.#memory = memory;
    this.#arm(IDLE_MS);
  }

  /** Looks soon, because work begins. */
  wake(): void {
    if (this.#delayMs !== BUSY_MS) this.#arm(BUSY_MS);
  }

  /** Safe to call twice. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#memory.close();
  }

  #arm(delayMs: number): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    this.#delayMs = delayMs;
    this.#timer = setTimeout(() => {
      // Two turns of the loop: a thread that was held up first reads what its child has sent, then judges the child.
      setImmediate(() => setImmediate(() => this.#look()));
    }, delayMs);
  }

  #look(): void {
    if (this.#stopped) return;
    this.#watched.look(performance.now(), this.#memory.read());
    this.#arm(this.#watched.isBusy() ? BUSY_MS : IDLE_MS);
  }
}

/** A file of a process below Linux's `/proc`. An open file stays with its process even if another gets its id later. */
export class ProcessFile {
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
