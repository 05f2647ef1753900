import { inTime } from '../../domain/in-time.ts';

/**
 * A vendor's client that is replaced when it does not answer in time. The requests of such a client share their waits.
 * When its search for credentials hangs, the client and all later requests would hang forever.
 */
export class RenewedClient<Client> {
  readonly #make: () => Client;
  readonly #limitMs: number;
  #client: Client;

  constructor(make: () => Client, limitMs: number) {
    this.#make = make;
    this.#limitMs = limitMs;
    this.#client = make();
  }

  /** The client for new requests. Earlier clients finish the requests that they have under way. */
  get current(): Client {
    return this.#client;
  }

  /** @throws Error when there is no answer in time */
  async ask<Answer extends object>(question: (client: Client) => Promise<Answer>): Promise<Answer> {
    const client = this.#client;
    const answer = await inTime(this.#limitMs, question(client));
    if (answer !== undefined) return answer;
    if (client === this.#client) this.#client = this.#make();
    throw new Error(`no answer within ${this.#limitMs / 1000} s`);
  }
}
