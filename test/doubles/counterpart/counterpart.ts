import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { quickStart } from '../../support/run-folder.ts';
import type { Asked, Told } from './commands.ts';

/** A process that simulates a network, and the connection to it. It ends with this process. */
export class Counterpart<C> {
  readonly #child: ChildProcess;
  readonly #ready = Promise.withResolvers<void>();
  readonly #open = new Map<number, PromiseWithResolvers<unknown>>();
  #last = 0;
  #said = '';

  /** Resolves when the process answers commands. @param options are given to it as JSON */
  static async start<C>(main: string, options: object): Promise<Counterpart<C>> {
    const counterpart = new Counterpart<C>(main, options);
    await counterpart.#ready.promise;
    counterpart.#letGo();
    return counterpart;
  }

  private constructor(main: string, options: object) {
    this.#child = fork(main, [JSON.stringify(options)], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
      execArgv: [...quickStart()],
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#said = `${this.#said}${chunk.toString('utf8')}`.slice(-2000);
    });
    this.#child.on('message', (message) =>
      message === 'ready' ? this.#ready.resolve() : this.#settle(message as Told),
    );
    this.#child.once('exit', (code, signal) => {
      const ended = new Error(`The counterpart's process ended (${code ?? signal}).\n${this.#said}`);
      this.#ready.reject(ended);
      for (const { reject } of this.#open.values()) reject(ended);
      this.#open.clear();
    });
  }

  /** Lets this process end even if a test does not stop the counterpart. */
  #letGo(): void {
    this.#child.unref();
    this.#child.channel?.unref();
    (this.#child.stderr as Socket | null)?.unref();
  }

  async do(command: C): Promise<void> {
    await this.ask(command);
  }

  /**
   * Sends a command and returns the answer.
   * @throws Error with the process's message
   */
  ask(command: C): Promise<unknown> {
    if (!this.#child.connected) throw new Error(`The counterpart's process has ended.\n${this.#said}`);
    this.#last += 1;
    const asked: Asked<C> = { id: this.#last, command };
    const answer = Promise.withResolvers<unknown>();
    this.#open.set(asked.id, answer);
    // Keeps this process alive while an answer is awaited.
    this.#child.channel?.ref();
    this.#child.send(asked);
    return answer.promise;
  }

  #settle(told: Told): void {
    const answer = this.#open.get(told.id);
    this.#open.delete(told.id);
    if (this.#open.size === 0) this.#child.channel?.unref();
    if ('error' in told) answer?.reject(new Error(told.error));
    else answer?.resolve(told.result);
  }

  /** Safe to call twice. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.ref();
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }
}
