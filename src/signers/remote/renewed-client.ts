import { inTime } from '../../domain/in-time.ts';

/**
 * A vendor's client that is made anew when it does not answer in time. Such clients share what they wait for: one whose
 * search for credentials hangs would hang for good, with everything that is asked later.
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

  /** The one that is asked now; those before it keep what they have under way. */
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
