import type { ChainMoment } from '../../chains/chain-client.ts';
import { messageOf } from '../../domain/errors.ts';
import type { Timestamp } from '../../domain/transaction/transaction.ts';
import type { Log } from '../../observability/log.ts';

/** The time that a lane's chain tells, cached. */
export class ChainClock {
  #read: { at: Timestamp | undefined; until: number } | undefined;

  /**
   * Returns when the chain's latest block was made; undefined when no node tells. Either result is kept for `keepMs`
   * milliseconds, so that a node that hangs is not waited for again and again.
   * @param elapsed by a clock that never goes back
   */
  async at(
    ask: () => Promise<ChainMoment>,
    { elapsed, keepMs, log }: { elapsed: () => number; keepMs: number; log: Log },
  ): Promise<Timestamp | undefined> {
    if (this.#read !== undefined && elapsed() < this.#read.until) return this.#read.at;
    let at: Timestamp | undefined;
    try {
      ({ at } = await ask());
    } catch (error) {
      log.debug({ reason: messageOf(error) }, 'chain does not tell its time');
    }
    this.#read = { at, until: elapsed() + keepMs };
    return at;
  }
}
