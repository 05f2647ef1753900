import { messageOf } from '../../domain/errors.ts';
import type { Relayer } from '../../features/relayers/records/relayer.ts';
import type { Log } from '../../observability/log.ts';
import type { Store } from '../../store/store.ts';
import type { Outbox } from '../webhooks/outbox.ts';

export interface BalanceWatchDeps {
  store: Pick<Store, 'read' | 'write'>;
  outbox: Pick<Outbox, 'relayerBalanceLow' | 'committed'>;
  log: Log;
}

/** What a check saw of an account. */
export interface BalanceReading {
  relayer: Relayer;
  balance: bigint;
  /** The balance that the relayer's policy keeps on the account. */
  minBalance: bigint;
  /**
   * Asks again. Only a quorum can then tell a balance below `least`: one endpoint that lags must not raise an alarm.
   */
  again(least: bigint): Promise<bigint>;
}

/** A balance below this many times `min_balance` is low. */
export const LOW_BALANCE_FACTOR = 2n;

/**
 * Stores the balances of relayers, and tells once of each that comes near the balance at which its relayer is disabled.
 * The note that it is low and the event are one commit, so that only one instance tells it.
 */
export class BalanceWatch {
  readonly #deps: BalanceWatchDeps;
  readonly #underWay = new Set<Promise<void>>();

  constructor(deps: BalanceWatchDeps) {
    this.#deps = deps;
  }

  /** Notes a balance in the background. */
  record(seen: BalanceReading): void {
    const noting = this.#note(seen)
      .catch((error: unknown) => {
        this.#deps.log.debug({ relayer: seen.relayer.id, cause: messageOf(error) }, 'balance not noted');
      })
      .finally(() => this.#underWay.delete(noting));
    this.#underWay.add(noting);
  }

  /** Waits for the notes under way. */
  async close(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async #note({ relayer: { id }, balance: first, minBalance, again }: BalanceReading): Promise<void> {
    const { store, outbox, log } = this.#deps;
    const threshold = minBalance * LOW_BALANCE_FACTOR;
    const known = await store.read.relayerBalance(id);
    const isNews = first < threshold && first >= minBalance && known?.isLow !== true;
    const balance = isNews ? await again(threshold) : first;
    // Endpoints that disagree near the threshold must not raise the alarm again and again.
    const isLow = balance < (known?.isLow === true ? threshold + threshold / 10n : threshold);
    if (known?.balance === balance && known.isLow === isLow) return;
    const hasCrossed = await store.write(async (writer) => {
      const relayer = await writer.relayer(id);
      if (relayer === undefined) return false;
      const before = await writer.relayerBalance(id);
      await writer.putRelayerBalance({ relayerId: id, balance, isLow });
      // Below `minBalance` the relayer is disabled, which has its own event.
      if (!isLow || before?.isLow === true || balance < minBalance) return false;
      await outbox.relayerBalanceLow(writer, relayer, { balance, threshold, minBalance });
      return true;
    });
    if (!hasCrossed) return;
    outbox.committed();
    log.warn({ relayer: id, balance: String(balance), threshold: String(threshold) }, 'relayer balance is low');
  }
}
