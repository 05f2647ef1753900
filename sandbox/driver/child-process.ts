import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { FIXED_LIMITS } from '../contract.ts';
import type { ChildExit, FromDriverMessage, ProcessWatch } from '../protocol.ts';
import { type ChildLauncher, nodePid } from './launch.ts';
import { type ChildPids, Niceness, type ServiceNice } from './niceness.ts';
import { ProcessCpuTimeReader, ResidentMemoryReader } from './process-readers.ts';

/** How often a process is sampled, in milliseconds: while guest code may run, and otherwise. */
const BUSY_MS = 25;
const IDLE_MS = 1000;
/** How long a dead child's streams may take to end, in milliseconds. Another process might hold their other ends. */
const DRAIN_MS = 500;
/** How long the other process of the chain may take to end after node, in milliseconds. */
const FOLLOW_MS = 500;
/** How far the group's nice value may be above the service's own while the process ends. */
const ENDING_NICE = 5;
/** The number that is added to a signal's number to make an exit code. */
const SIGNALED = 128;

type WithoutChild<M> = M extends { child: number } ? Omit<M, 'child'> : never;
/** What the thread says of one child. */
export type ProcessNews = WithoutChild<Exclude<FromDriverMessage, { type: 'parsed' }>>;

/**
 * The process of one child. Samples it, sets its priority and keeps its last words. Kills it when it takes too much
 * memory, or when the host says so.
 */
export class WatchedProcess implements ChildPids {
  readonly #process: ChildProcess;
  readonly #launcher: ChildLauncher;
  readonly #post: (news: ProcessNews) => void;
  readonly #memory = new ResidentMemoryReader(() => this.memoryPid);
  readonly #processor = new ProcessCpuTimeReader(() => this.memoryPid);
  readonly #niceness: Niceness;
  #watch: ProcessWatch;
  #timer: NodeJS.Timeout | undefined;
  #nodePid: number | undefined;
  #stderr = Buffer.alloc(0);
  #killed = false;
  #exited = false;
  #gone = false;

  /** @param process a process that was just started */
  constructor(
    process: ChildProcess,
    launcher: ChildLauncher,
    service: ServiceNice,
    watch: ProcessWatch,
    post: (news: ProcessNews) => void,
  ) {
    this.#process = process;
    this.#launcher = launcher;
    this.#post = post;
    this.#watch = watch;
    this.#niceness = new Niceness(this, service);
    this.#niceness.setGroup(watch.group_nice);
    this.#niceness.setProcess(watch.process_nice);
    process.stderr?.on('data', (chunk: Buffer) => this.#keepStderr(chunk)).on('error', () => undefined);
    process.on('error', (error) => {
      post({ type: 'failed', detail: error.message });
      if (process.pid === undefined) this.#finish(null, null);
    });
    process.on('exit', (code, signal) => {
      this.#exited = true;
      setTimeout(() => this.#finish(code, signal), DRAIN_MS).unref();
    });
    process.on('close', (code, signal) => this.#finish(code, signal));
    this.#arm();
  }

  get startedPid(): number | undefined {
    return this.#process.pid;
  }

  /** The process that runs node, whose memory counts as the child's. */
  get memoryPid(): number | undefined {
    const started = this.#process.pid;
    if (this.#nodePid === undefined && started !== undefined && !this.#exited) {
      this.#nodePid = nodePid(this.#launcher, started);
    }
    return this.#nodePid;
  }

  /** Watches the process like this from now on. */
  watch(watch: ProcessWatch): void {
    const wasBusy = this.#watch.busy;
    this.#watch = watch;
    if (wasBusy !== watch.busy) this.#arm();
    if (!this.#killed) this.#setNice(this.#processor.read());
  }

  /** Says at once what the operating system says of the process, and again and again from now on. */
  sample(): void {
    if (this.#exited || this.#killed) return;
    const rssBytes = this.#memory.read();
    const takenMs = this.#processor.read();
    this.#setNice(takenMs);
    this.#post({ type: 'sample', pids: this.#pids(), rss_bytes: rssBytes, taken_ms: takenMs });
    // Does not wait for the host, which may be busy while the machine's memory fills up.
    if (rssBytes > this.#watch.most_bytes) this.kill();
    else this.#arm();
  }

  /** Kills the whole chain at once. Safe to call twice, and after the child's end. */
  kill(): void {
    this.#killed = true;
    clearTimeout(this.#timer);
    this.#niceness.close(ENDING_NICE);
    if (this.#exited) return;
    const node = this.memoryPid;
    if (node === undefined || node === this.#process.pid) {
      this.#process.kill('SIGKILL');
      return;
    }
    // Kills node first: the chain's other process collects node's exit and then ends. If both were killed together,
    // node would stay as a zombie wherever the system's first process does not collect orphans.
    killPid(node);
    setTimeout(() => this.#process.kill('SIGKILL'), FOLLOW_MS).unref();
  }

  /** Ids of all processes of the chain, the one that runs node last. */
  #pids(): number[] {
    const started = this.#process.pid;
    if (started === undefined) return [];
    const node = this.memoryPid;
    return node === undefined || node === started ? [started] : [started, node];
  }

  #arm(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.sample(), this.#watch.busy ? BUSY_MS : IDLE_MS);
  }

  #setNice(takenMs: number): void {
    this.#niceness.setGroup(this.#watch.group_nice);
    // With processor time the process is alive: no other process has its id.
    if (takenMs > 0) this.#niceness.setProcess(this.#watch.process_nice);
  }

  #keepStderr(chunk: Buffer): void {
    const all = Buffer.concat([this.#stderr, chunk]);
    this.#stderr = Buffer.from(all.subarray(Math.max(0, all.length - FIXED_LIMITS.stderr_bytes)));
  }

  #finish(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#exited = true;
    clearTimeout(this.#timer);
    this.#memory.close();
    this.#processor.close();
    this.#niceness.close(ENDING_NICE);
    this.#post({
      type: 'gone',
      ...endOfNode({ code, signal, stderr: this.#stderr.toString('utf8') }, this.#launcher),
    });
  }
}

/**
 * Restores the signal that ended node. The tool that started node hides it: `bwrap` exits with 128 plus the signal's
 * number. `unshare` ends by the same signal, except SIGKILL, for which it cannot set a handler: then it complains and
 * exits with 1 (util-linux 2.38, sys-utils/unshare.c).
 */
function endOfNode(gone: ChildExit, launcher: ChildLauncher): ChildExit {
  if (!launcher.confinement.namespaces || gone.code === null) return gone;
  const isKilled = gone.code === 1 && /^unshare: sigprocmask unblock failed/m.test(gone.stderr);
  const number = isKilled ? constants.signals.SIGKILL : gone.code - SIGNALED;
  const [signal] = Object.entries(constants.signals).find(([, known]) => known === number) ?? [];
  return signal === undefined ? gone : { ...gone, code: null, signal: signal as NodeJS.Signals };
}

/** Kills a process. Does nothing when the process is gone already. */
function killPid(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process is gone, or its id belongs to another user's process.
  }
}
