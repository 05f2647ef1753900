import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { constants } from 'node:os';
import { FIXED_LIMITS } from '../contract.ts';
import { encodeFrame, ProtocolViolation } from '../frames.ts';
import type { JournalReader } from './journal.ts';
import { type ChildLauncher, nodePid } from './launch.ts';

/** How a child ended. */
export interface ChildExit {
  /** Exit code, null when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The last bytes of its standard error. */
  stderr: string;
}

export interface ChildEvents {
  /** @throws an error that means the child has to go; the error is then passed to `onError` */
  onBytes(chunk: Buffer): void;
  onError(error: Error): void;
  /** Comes once, after the last bytes. */
  onGone(gone: ChildExit): void;
}

/** How many bytes of one child are handled before the thread's other children get their turn. */
const TURN_BYTES = 262_144;
/** How long a dead child's streams may take to end, in milliseconds. Another process might hold their other ends. */
const DRAIN_MS = 500;
/** How long the other process of the chain may take to end after node, in milliseconds. */
const FOLLOW_MS = 500;
/**
 * How long a child may live on after it closed its channel, in milliseconds. A dying child closes its channel first.
 */
const MUTE_MS = 1000;
const CHANNEL_FD = 3;
/** The number that is added to a signal's number to make an exit code. */
const SIGNALED = 128;

/** One child process as the driver sees it: its channel, standard error, process ids and end. */
export class ChildConnection {
  readonly #process: ChildProcess;
  readonly #launcher: ChildLauncher;
  readonly #events: ChildEvents;
  readonly #journal: JournalReader | undefined;
  /** Undefined until the child has started. Until then, frames wait in the outbox. */
  #channel: Socket | undefined;
  #nodePid: number | undefined;
  #stderr = Buffer.alloc(0);
  #outbox: Buffer[] = [];
  #outboxBytes = 0;
  #turnBytes = 0;
  #killed = false;
  #exited = false;
  #bad = false;
  #gone = false;

  /** @param journal the child's journal, if it has one; closed with the child */
  constructor(process: ChildProcess, launcher: ChildLauncher, events: ChildEvents, journal?: JournalReader) {
    this.#process = process;
    this.#journal = journal;
    this.#launcher = launcher;
    this.#events = events;
    process.on('spawn', () => this.#connect());
    process.stderr?.on('data', (chunk: Buffer) => this.#keepStderr(chunk)).on('error', () => undefined);
    process.on('error', (error) => {
      events.onError(error);
      if (process.pid === undefined) this.#finish(null, null);
    });
    process.on('exit', (code, signal) => {
      this.#exited = true;
      // Only after the exit: a child that finds its channel closed ends itself, less quietly than a kill does.
      if (this.#killed) this.#channel?.destroy();
      setTimeout(() => this.#finish(code, signal), DRAIN_MS).unref();
    });
    process.on('close', (code, signal) => this.#finish(code, signal));
  }

  /** Ids of all processes of the chain, the one that runs node last. Complete after the child's first message. */
  get pids(): number[] {
    const started = this.#process.pid;
    if (started === undefined) return [];
    const node = this.#node();
    return node === undefined || node === started ? [started] : [started, node];
  }

  /** The first process of the chain; every other is in its session. */
  get startedPid(): number | undefined {
    return this.#process.pid;
  }

  /** The process that runs node, whose memory counts as the child's. */
  get memoryPid(): number | undefined {
    return this.#node();
  }

  /** Bytes that the child has not read yet. */
  get backlogBytes(): number {
    return (this.#channel?.writableLength ?? 0) + this.#outboxBytes;
  }

  send(kind: number, call: number, text: string): void {
    if (this.#killed || this.#gone || this.#channel?.writable === false) return;
    const frame = encodeFrame(kind, call, text);
    this.#outboxBytes += frame.length;
    // All frames of one turn of the loop leave in one system call.
    if (this.#outbox.push(frame) === 1) setImmediate(() => this.#flush());
  }

  /** Whether the child has a journal. */
  get keepsJournal(): boolean {
    return this.#journal !== undefined;
  }

  /** Reads what the child noted in its journal and did not send. Does nothing without a journal. */
  look(): void {
    if (this.#journal === undefined || this.#gone || this.#bad) return;
    try {
      this.#journal.read((bytes) => this.#events.onBytes(bytes));
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** Kills the whole chain at once. Safe to call twice, and after the child's end. */
  kill(): void {
    this.#killed = true;
    if (this.#exited) return;
    const node = this.#node();
    if (node === undefined || node === this.#process.pid) {
      this.#process.kill('SIGKILL');
      return;
    }
    // Kills node first: the chain's other process collects node's exit and then ends. If both were killed together,
    // node would stay as a zombie wherever the system's first process does not collect orphans.
    killPid(node);
    setTimeout(() => this.#process.kill('SIGKILL'), FOLLOW_MS).unref();
  }

  #node(): number | undefined {
    const started = this.#process.pid;
    if (this.#nodePid === undefined && started !== undefined && !this.#exited) {
      this.#nodePid = nodePid(this.#launcher, started);
    }
    return this.#nodePid;
  }

  #connect(): void {
    const channel = this.#process.stdio[CHANNEL_FD];
    if (!(channel instanceof Socket)) throw new Error('the child was started without its channel');
    this.#channel = channel;
    channel.on('data', (chunk: Buffer) => this.#receive(channel, chunk));
    // A child that dies breaks the pipe; its exit says more.
    channel.on('error', () => undefined);
    channel.on('close', () => this.#channelClosed());
    if (this.#killed || this.#gone) channel.destroy();
    else this.#flush();
  }

  #flush(): void {
    if (this.#channel === undefined) return;
    const frames = this.#outbox;
    const bytes = this.#outboxBytes;
    this.#outbox = [];
    this.#outboxBytes = 0;
    if (bytes > 0 && this.#channel.writable) this.#channel.write(Buffer.concat(frames, bytes));
  }

  #refuse(error: unknown): void {
    this.#bad = true;
    this.#channel?.destroy();
    this.#events.onError(error instanceof Error ? error : new Error(String(error)));
  }

  #receive(channel: Socket, chunk: Buffer): void {
    if (this.#killed) return;
    try {
      const news = this.#journal === undefined ? chunk : this.#journal.unread(chunk);
      if (news.length > 0) this.#events.onBytes(news);
    } catch (error) {
      return this.#refuse(error);
    }
    this.#turnBytes += chunk.length;
    if (this.#turnBytes < TURN_BYTES || channel.isPaused()) return;
    channel.pause();
    setImmediate(() => {
      this.#turnBytes = 0;
      channel.resume();
    });
  }

  #channelClosed(): void {
    const timer = setTimeout(() => {
      if (!this.#exited) this.#events.onError(new ProtocolViolation('it closed its channel and lives on'));
    }, MUTE_MS);
    timer.unref();
  }

  #keepStderr(chunk: Buffer): void {
    const all = Buffer.concat([this.#stderr, chunk]);
    this.#stderr = Buffer.from(all.subarray(Math.max(0, all.length - FIXED_LIMITS.stderr_bytes)));
  }

  #finish(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#gone) return;
    this.look();
    this.#gone = true;
    this.#exited = true;
    this.#channel?.destroy();
    this.#journal?.close();
    this.#events.onGone(endOfNode({ code, signal, stderr: this.#stderr.toString('utf8') }, this.#launcher));
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

/** What V8 and isolated-vm write before they abort because memory is short. */
const MEMORY_TEXTS = /out of memory|Heap statistics|invalid size error|allocation failed/i;
/** V8 ends itself by a trap when it cannot go on, and by an abort when it is out of memory. */
const MEMORY_SIGNALS: readonly (string | null)[] = ['SIGABRT', 'SIGTRAP', 'SIGILL'];

/** Whether a child that died by itself ran out of memory. */
export function diedOfMemory(gone: ChildExit): boolean {
  return MEMORY_SIGNALS.includes(gone.signal) || MEMORY_TEXTS.test(gone.stderr);
}

/** Whether the call that was inside the guest when a child died can be the cause. */
export function diedInsideGuest(gone: ChildExit): boolean {
  // A guest makes the kernel send SIGKILL only by its use of memory. Then the machine was short of memory; the plugin
  // was not over its limit.
  return gone.signal !== 'SIGKILL';
}

/** Kills a process. Does nothing when the process is gone already. */
function killPid(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process is gone, or its id belongs to another user's process.
  }
}
