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

/** A child's process as it is held by who started it: what Node's own ChildProcess has, and one of the starter's. */
export interface HeldProcess {
  /** Undefined until it has started. */
  readonly pid?: number | undefined;
  /** Its descriptors, the channel among them from `spawn` on. */
  readonly stdio: readonly unknown[];
  readonly stderr: Readable | null;
  /** Holds for one that has not started yet as well. */
  kill(signal: 'SIGKILL'): unknown;
  on(event: 'spawn', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'exit', listener: (code: number | null, signal: NodeJS.Signals | null) => void): unknown;
  on(event: 'close', listener: (code: number | null, signal: NodeJS.Signals | null) => void): unknown;
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
  readonly #process: HeldProcess;
  readonly #launcher: Launcher;
  readonly #events: ChildEvents;
  readonly #journal: Journal | undefined;
  /** Undefined until it has started; what is sent waits. */
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

  /** @param journal what the child notes, where it was given a journal; closed with the child */
  constructor(process: HeldProcess, launcher: Launcher, events: ChildEvents, journal?: Journal) {
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
      // Not before: a child that finds its channel closed ends itself, and not as quietly as a kill does.
      if (this.#killed) this.#channel?.destroy();
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
    this.#killed = true;
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

/** A process that is gone already is as good as killed. */
export function killPid(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone, or its id is somebody else's.
  }
}
