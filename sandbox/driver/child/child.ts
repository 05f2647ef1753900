import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { encodeFrame, ProtocolViolation } from '../../frames.ts';
import { FIXED_LIMITS } from '../../protocol.ts';
import type { Journal } from './journal.ts';
import { type Launcher, nodePid } from './launch.ts';

/** How a child ended. */
export interface Gone {
  /** Exit code, null when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The last bytes of its standard error. */
  stderr: string;
}

export interface ChildEvents {
  /** @throws whatever makes the child unbearable; it is then handed to `onError` */
  onBytes(chunk: Buffer): void;
  onError(error: Error): void;
  /** Comes once, after the last bytes. */
  onGone(gone: Gone): void;
}

/** Bytes of one child that are handled before the others of the thread get their turn. */
const TURN_BYTES = 262_144;
/** How long a dead child's streams may take to end; something else might hold their other ends. */
const DRAIN_MS = 500;
/** How long the rest of the chain may take to follow node. */
const FOLLOW_MS = 500;
/** How long a child may live on without its channel: one that dies closes it first. */
const MUTE_MS = 1000;
const CHANNEL_FD = 3;
/** What is added to a signal's number to make an exit code of it. */
const SIGNALED = 128;

/** One child process as the driver holds it: its channel, its standard error, its process ids, its end. */
export class Child {
  readonly #process: ChildProcess;
  readonly #launcher: Launcher;
  readonly #channel: Socket;
  readonly #events: ChildEvents;
  readonly #journal: Journal | undefined;
  #nodePid: number | undefined;
  #stderr = Buffer.alloc(0);
  #outbox: Buffer[] = [];
  #outboxBytes = 0;
  #turnBytes = 0;
  #exited = false;
  #bad = false;
  #gone = false;

  /** @param journal what the child notes, where it was given a journal; closed with the child */
  constructor(process: ChildProcess, launcher: Launcher, events: ChildEvents, journal?: Journal) {
    this.#process = process;
    this.#journal = journal;
    this.#launcher = launcher;
    this.#events = events;
    const channel = process.stdio[CHANNEL_FD];
    if (!(channel instanceof Socket)) throw new Error('the child was started without its channel');
    this.#channel = channel;

    channel.on('data', (chunk: Buffer) => this.#receive(chunk));
    // A child that dies breaks the pipe; its exit says more.
    channel.on('error', () => undefined);
    channel.on('close', () => this.#channelClosed());
    const stderr = process.stderr as Readable;
    stderr.on('data', (chunk: Buffer) => this.#keepStderr(chunk));
    stderr.on('error', () => undefined);
    process.on('error', (error) => {
      events.onError(error);
      if (process.pid === undefined) this.#finish(null, null);
    });
    process.on('exit', (code, signal) => {
      this.#exited = true;
      setTimeout(() => this.#finish(code, signal), DRAIN_MS).unref();
    });
    process.on('close', (code, signal) => this.#finish(code, signal));
  }

  /** Every process of the chain, the one that runs node last; complete once the child has spoken. */
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

  /** The process whose memory is the child's. */
  get memoryPid(): number | undefined {
    return this.#node();
  }

  /** Bytes that the child has not taken yet. */
  get backlogBytes(): number {
    return this.#channel.writableLength + this.#outboxBytes;
  }

  send(kind: number, call: number, text: string): void {
    if (!this.#channel.writable) return;
    const frame = encodeFrame(kind, call, text);
    this.#outboxBytes += frame.length;
    // All frames of one turn of the loop leave in one system call.
    if (this.#outbox.push(frame) === 1) setImmediate(() => this.#flush());
  }

  /** Whether the child has a journal. */
  get keepsJournal(): boolean {
    return this.#journal !== undefined;
  }

  /** Takes in what the child has noted down and not sent; nothing where it keeps no journal. */
  look(): void {
    if (this.#journal === undefined || this.#gone || this.#bad) return;
    try {
      this.#journal.read((bytes) => this.#events.onBytes(bytes));
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** Ends the whole chain at once. Safe to call twice, and late. */
  kill(): void {
    // Not before the kill: a child that finds its channel closed ends itself, and not as quietly.
    setImmediate(() => this.#channel.destroy());
    if (this.#exited) return;
    const node = this.#node();
    if (node === undefined || node === this.#process.pid) {
      this.#process.kill('SIGKILL');
      return;
    }
    // The chain's other process collects node's end and follows it; killed together, node would stay as a zombie
    // wherever the system's first process does not collect the orphans.
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

  #flush(): void {
    const frames = this.#outbox;
    const bytes = this.#outboxBytes;
    this.#outbox = [];
    this.#outboxBytes = 0;
    if (this.#channel.writable) this.#channel.write(Buffer.concat(frames, bytes));
  }

  #refuse(error: unknown): void {
    this.#bad = true;
    this.#channel.destroy();
    this.#events.onError(error instanceof Error ? error : new Error(String(error)));
  }

  #receive(chunk: Buffer): void {
    try {
      const news = this.#journal === undefined ? chunk : this.#journal.unread(chunk);
      if (news.length > 0) this.#events.onBytes(news);
    } catch (error) {
      return this.#refuse(error);
    }
    this.#turnBytes += chunk.length;
    if (this.#turnBytes < TURN_BYTES || this.#channel.isPaused()) return;
    this.#channel.pause();
    setImmediate(() => {
      this.#turnBytes = 0;
      this.#channel.resume();
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
    this.#channel.destroy();
    this.#journal?.close();
    this.#events.onGone(endOfNode({ code, signal, stderr: this.#stderr.toString('utf8') }, this.#launcher));
  }
}

/**
 * When a signal ends node, the tool that started it ends in its own way. `bwrap` exits with 128 and the signal's
 * number. `unshare` ends by the same signal, except SIGKILL, for which it cannot set a handler: then it complains and
 * exits with 1 (util-linux 2.38, sys-utils/unshare.c).
 */
function endOfNode(gone: Gone, launcher: Launcher): Gone {
  if (!launcher.confinement.namespaces || gone.code === null) return gone;
  const isKilled = gone.code === 1 && /^unshare: sigprocmask unblock failed/m.test(gone.stderr);
  const number = isKilled ? constants.signals.SIGKILL : gone.code - SIGNALED;
  const [signal] = Object.entries(constants.signals).find(([, known]) => known === number) ?? [];
  return signal === undefined ? gone : { ...gone, code: null, signal: signal as NodeJS.Signals };
}

function killPid(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It is gone already.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
