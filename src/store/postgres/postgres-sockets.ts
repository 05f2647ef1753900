import { Socket } from 'node:net';
import type { Log } from '../../observability/log.ts';

/**
 * The sockets of all connections to a database server, so that they can be ended together. `pg` itself waits for a
 * server's answer and its farewell. A server that was stopped, or that is unreachable, gives neither.
 */
export class PostgresSockets {
  readonly #cut: AbortSignal;
  readonly #open = new Set<Socket>();

  /** When `cut` aborts, all sockets are destroyed at once, and later ones as soon as they are made. */
  constructor(cut: AbortSignal, log: Log) {
    this.#cut = cut;
    cut.addEventListener('abort', () => this.#end(log), { once: true });
  }

  /** Makes an unconnected socket. It is the option `stream` of a `pg` client. */
  readonly make = (): Socket => {
    const socket = new Socket();
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    // Waits a tick: the client begins to connect in this tick, even with a destroyed socket.
    if (this.#cut.aborted) process.nextTick(() => socket.destroy());
    return socket;
  };

  #end(log: Log): void {
    const connections = this.#open.size;
    if (connections > 0) log.warn({ connections }, 'the database was waited for long enough: its connections are cut');
    for (const socket of this.#open) socket.destroy();
  }
}
