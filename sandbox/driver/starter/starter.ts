import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { killPid } from '../child/child.ts';
import { commandLine, type Launcher, READ_PROGRAM } from '../child/launch.ts';
import type { FromStarter, ToStarter } from './messages.ts';
import { starterProgram } from './program.ts';
import { StartedChild } from './started-child.ts';

const NODE_FLAGS = [
  '--disable-sigusr1',
  '--max-old-space-size=32',
  '--max-semi-space-size=1',
  '--input-type=commonjs',
  '--no-strip-types',
];
/** The word that identifies starters in a list of processes. */
const NAME = 'isolayer-starter';
/**
 * How long a starter may take to answer, in milliseconds. Generous: an overloaded machine is common, a starter that
 * hangs is rare.
 */
const ANSWER_MS = 30_000;

/** `gone`: it ended after it was ready. `unfit`: it ended before it was ready. */
type StarterState = 'starting' | 'ready' | 'gone' | 'unfit';

/**
 * A small process that starts and holds the children of this thread. Node starts a process by fork(). The more memory
 * the service has, the longer fork() takes; afterwards each page that any thread of the service writes to must be
 * copied. With a libuv that uses posix_spawn() on Linux, this whole folder can go.
 *
 * Only Linux has a starter. A starter that dies, or does not answer, takes its children along.
 */
export class Starter {
  readonly #process: ChildProcess;
  readonly #children = new Map<number, StartedChild>();
  readonly #answerMs: number;
  #state: StarterState = 'starting';
  #closing = false;
  #last = 0;

  /** @param program the program that each child runs */
  constructor(launcher: Launcher, program: string, answerMs = ANSWER_MS) {
    this.#answerMs = answerMs;
    const [command, ...args] = [...launcher.tie, process.execPath, ...NODE_FLAGS, '--eval', READ_PROGRAM, NAME];
    const starter = spawn(command, args, {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
      // A session of its own, as children have: the terminal's Ctrl-C must reach only the server.
      detached: true,
    });
    this.#process = starter;
    starter.on('message', (message, handle) => this.#receive(message as FromStarter, handle));
    starter.on('error', () => this.#end());
    starter.on('exit', () => this.#end());
    const { filterFd } = launcher;
    const text = starterProgram({ line: commandLine(launcher), program, service: process.pid, filterFd });
    starter.stdin?.on('error', () => undefined).end(text);
    // The starter does not keep the thread alive; its children do.
    starter.unref();
    starter.channel?.unref();
    this.#expect(() => this.#state === 'ready');
  }

  get state(): StarterState {
    return this.#state;
  }

  /** Starts a child. Call it only when the starter is ready. */
  start(journalFd: number | undefined): StartedChild {
    const number = ++this.#last;
    const child: StartedChild = new StartedChild(() => {
      this.#say({ type: 'kill', child: number });
      this.#expect(() => child.over);
    });
    this.#children.set(number, child);
    this.#process.channel?.ref();
    this.#say({ type: 'start', child: number, journal_fd: journalFd });
    this.#expect(() => child.over || child.pid !== undefined);
    return child;
  }

  /** Ends the starter as soon as it has no children. Safe to call twice. */
  close(): void {
    this.#closing = true;
    this.#rest();
  }

  #say(message: ToStarter): void {
    if (this.#process.connected) this.#process.send(message);
  }

  /** Ends the starter when `isDone` is still false after the time for an answer. */
  #expect(isDone: () => boolean): void {
    const judge = (): void => {
      if (!isDone()) this.#end();
    };
    // Two turns of the loop: a thread that was held up first reads the messages that have arrived.
    setTimeout(() => setImmediate(() => setImmediate(judge)), this.#answerMs).unref();
  }

  #receive(message: FromStarter, handle: unknown): void {
    const channel = handle instanceof Socket ? handle : undefined;
    if (message.type === 'ready') {
      if (this.#state === 'starting') this.#state = 'ready';
      return;
    }
    const child = this.#children.get(message.child);
    if (child === undefined) return void channel?.destroy();
    switch (message.type) {
      case 'started':
        return child.started(message.pid);
      case 'channel':
        // The message has no handle when this process is out of file descriptors. The child then ends, as its channel
        // is closed.
        return channel && child.connected(channel);
      case 'failed':
        this.#forget(message.child);
        return child.failed(message.reason);
      case 'exited':
        return child.exited(message.code, message.signal);
      case 'closed':
        this.#forget(message.child);
        return child.closed(message.stderr);
      default:
        return message satisfies never;
    }
  }

  #forget(child: number): void {
    this.#children.delete(child);
    this.#rest();
  }

  #rest(): void {
    if (this.#children.size > 0) return;
    if (this.#closing) this.#end();
    else this.#process.channel?.unref();
  }

  /** Kills the starter and all its children. Safe to call twice. */
  #end(): void {
    if (this.#state === 'gone' || this.#state === 'unfit') return;
    this.#state = this.#state === 'ready' ? 'gone' : 'unfit';
    this.#process.kill('SIGKILL');
    const children = [...this.#children.values()];
    this.#children.clear();
    for (const child of children) {
      // Most systems have killed the child already.
      if (child.pid !== undefined && !child.over) killPid(child.pid);
      child.exited(null, 'SIGKILL');
      child.closed('');
    }
  }
}
