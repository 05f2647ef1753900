import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import type { HeldProcess } from '../child/child.ts';

interface Events {
  spawn: [];
  error: [Error];
  exit: [code: number | null, signal: NodeJS.Signals | null];
  close: [code: number | null, signal: NodeJS.Signals | null];
}

const CHANNEL_FD = 3;

/** A child that the starter has started or will start. Emits the same events as a `ChildProcess` of our own. */
export class StartedChild extends EventEmitter<Events> implements HeldProcess {
  /** Kills the child. Called only while the child may be alive. */
  readonly #kill: () => void;
  readonly #stdio: (Socket | null)[] = [];
  /** The child's last standard error. The starter keeps it and sends it at the end. */
  readonly stderr = new PassThrough();
  #pid: number | undefined;
  #over = false;

  constructor(kill: () => void) {
    super();
    this.#kill = kill;
  }

  get pid(): number | undefined {
    return this.#pid;
  }

  get stdio(): readonly (Socket | null)[] {
    return this.#stdio;
  }

  /** Whether the child has ended, or could not be started. */
  get over(): boolean {
    return this.#over;
  }

  kill(): void {
    if (!this.#over) this.#kill();
  }

  started(pid: number): void {
    this.#pid = pid;
  }

  connected(channel: Socket): void {
    this.#stdio[CHANNEL_FD] = channel;
    this.emit('spawn');
  }

  failed(reason: string): void {
    this.#over = true;
    this.emit('error', new Error(reason));
  }

  exited(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#over) return;
    this.#over = true;
    this.emit('exit', code, signal);
    const streams = [this.stderr, this.#stdio[CHANNEL_FD]];
    let open = 0;
    for (const stream of streams) {
      if (stream == null || stream.closed) continue;
      open += 1;
      stream.once('close', () => {
        open -= 1;
        if (open === 0) this.emit('close', code, signal);
      });
    }
  }

  /** Ends the child's standard error with what the starter kept. No message about the child follows. */
  closed(stderr: string): void {
    this.stderr.end(stderr);
  }
}
