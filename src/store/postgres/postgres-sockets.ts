import { Socket } from 'node:net';
import type { Log } from '../../observability/log.ts';

/**
 * The sockets of all connections to a database server, so that they can be ended together. `pg` itself waits for a
 * server's answer and its farewell, and one that was stopped, or that the network lost, gives neither.
 */
export class PostgresSockets {
  readonly #cut: AbortSignal;
  readonly #open = new Set<Socket>();

  /** When `cut` aborts, all end at once, and so does from then on each further one that is to connect. */
  constructor(cut: AbortSignal, log: Log) {
    this.#cut = cut;
    cut.addEventListener('abort', () => this.#end(log), { once: true });
  }

  /** Makes one that is not connected yet: the option `stream` of a `pg` client. */
  readonly make = (): Socket => {
    const socket = new Socket();
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    // Its client begins to connect in this tick; one that was destroyed before would connect all the same.
    if (this.#cut.aborted) process.nextTick(() => socket.destroy());
    return socket;
  };

  #end(log: Log): void {
    const connections = this.#open.size;
    if (connections > 0) log.warn({ connections }, 'the database was waited for long enough: its connections are cut');
    for (const socket of this.#open) socket.destroy();
  }
}
