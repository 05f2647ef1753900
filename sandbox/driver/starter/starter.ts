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
/** By this word starters are found in a list of processes. */
const NAME = 'isolayer-starter';
/** How long a starter may take for what it does at once: one that hangs is rare, and a machine without room is not. */
const ANSWER_MS = 30_000;

/** `unfit` is one that has gone without ever having been ready. */
type StarterState = 'starting' | 'ready' | 'gone' | 'unfit';

/**
 * A small process that starts the children of this thread, and holds them. Node starts a process by fork(): that takes
 * the longer the more memory there is to share, and afterwards each page that is written to has to be copied, in all
 * threads of the service. A libuv that uses posix_spawn() on Linux makes all of this folder superfluous.
 *
 * Only Linux has it. A starter that dies, or does not answer, takes its children along.
 */
export class Starter {
  readonly #process: ChildProcess;
  readonly #children = new Map<number, StartedChild>();
  readonly #answerMs: number;
  #state: StarterState = 'starting';
  #closing = false;
  #last = 0;

  /** @param program what each child is given to run */
  constructor(launcher: Launcher, program: string, answerMs = ANSWER_MS) {
    this.#answerMs = answerMs;
    const [command, ...args] = [...launcher.tie, process.execPath, ...NODE_FLAGS, '--eval', READ_PROGRAM, NAME];
    const starter = spawn(command, args, {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
      // A session of its own, as children have: the terminal's Ctrl-C is for the server.
      detached: true,
    });
    this.#process = starter;
    starter.on('message', (message, handle) => this.#receive(message as FromStarter, handle));
    starter.on('error', () => this.#end());
    starter.on('exit', () => this.#end());
    const { filterFd } = launcher;
    const text = starterProgram({ line: commandLine(launcher), program, service: process.pid, filterFd });
    starter.stdin?.on('error', () => undefined).end(text);
    // It is no reason for a thread to go on; its children are.
    starter.unref();
    starter.channel?.unref();
    this.#expect(() => this.#state === 'ready');
  }

  get state(): StarterState {
    return this.#state;
  }

  /** Starts a child when it is ready. */
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

  /** Ends it as soon as it has no children any more. Safe to call twice. */
  close(): void {
    this.#closing = true;
    this.#rest();
  }

  #say(message: ToStarter): void {
    if (this.#process.connected) this.#process.send(message);
  }

  /** It has to go when this is not true in time. */
  #expect(isDone: () => boolean): void {
    const judge = (): void => {
      if (!isDone()) this.#end();
    };
    // A thread that was held up reads first what has come meanwhile.
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
        // Without a file descriptor left here it has none; then the child ends, as nobody speaks to it.
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

  /** Ends it, with all its children. Safe to call twice. */
  #end(): void {
    if (this.#state === 'gone' || this.#state === 'unfit') return;
    this.#state = this.#state === 'ready' ? 'gone' : 'unfit';
    this.#process.kill('SIGKILL');
    const children = [...this.#children.values()];
    this.#children.clear();
    for (const child of children) {
      // Most systems have done so already.
      if (child.pid !== undefined && !child.over) killPid(child.pid);
      child.exited(null, 'SIGKILL');
      child.closed('');
    }
  }
}
