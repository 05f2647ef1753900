import type { Instruments } from './instruments.ts';

/** The status changes of a transaction without trouble. */
const USUAL_MOVES = [
  ['pending', 'sent'],
  ['sent', 'submitted'],
  ['submitted', 'mined'],
  ['mined', 'confirmed'],
] as const;

/** Counts transactions and relayers. */
export class EngineCounts {
  readonly #created;
  readonly #submitted;
  readonly #succeeded;
  readonly #failed;
  readonly #byStatus;
  readonly #moves;
  readonly #decisions;
  readonly #faults;
  readonly #versions;
  readonly #offers;
  readonly #parked;
  readonly #oldest;
  readonly #intents;
  readonly #healthy;
  readonly #balance;
  readonly #checks;
  /** The relayers whose series have begun. */
  readonly #known = new Set<string>();

  constructor(instruments: Instruments) {
    this.#created = instruments.counter('isolayer_transactions_created_total');
    this.#submitted = instruments.counter('isolayer_transactions_submitted_total');
    this.#succeeded = instruments.counter('isolayer_transactions_confirmed_total');
    this.#failed = instruments.counter('isolayer_transactions_failed_total');
    this.#byStatus = instruments.gauge('isolayer_transactions_open');
    this.#moves = instruments.counter('isolayer_transaction_transitions_total');
    this.#decisions = instruments.counter('isolayer_transaction_decisions_total');
    this.#faults = instruments.counter('isolayer_lane_faults_total');
    this.#versions = instruments.counter('isolayer_transaction_versions_total');
    this.#offers = instruments.counter('isolayer_transaction_broadcasts_total');
    this.#parked = instruments.gauge('isolayer_transactions_parked');
    this.#oldest = instruments.gauge('isolayer_transactions_oldest_open_age_seconds');
    this.#intents = instruments.gauge('isolayer_intents_waiting');
    this.#healthy = instruments.gauge('isolayer_relayer_healthy');
    this.#balance = instruments.gauge('isolayer_relayer_balance');
    this.#checks = instruments.counter('isolayer_relayer_checks_total');
  }

  accepted({ relayerId, networkType }: { relayerId: string; networkType: string }): void {
    this.#created.inc({ relayer_id: relayerId, network_type: networkType });
  }

  moved({ networkType, relayerId, from, to }: StatusMove): void {
    const labels = { relayer_id: relayerId, network_type: networkType };
    this.#moves.inc({ ...labels, from, to });
    if (to === 'submitted' && from === 'sent') this.#submitted.inc(labels);
    if (to === 'confirmed') this.#succeeded.inc(labels);
    if (to === 'failed' || to === 'expired' || to === 'canceled') {
      this.#failed.inc({ ...labels, failure_reason: to, previous_status: from });
    }
  }

  decided({ networkType, relayerId, kind }: { networkType: string; relayerId: string; kind: string }): void {
    this.#decisions.inc({ relayer_id: relayerId, network_type: networkType, kind });
  }

  signed({ networkType, relayerId, purpose }: { networkType: string; relayerId: string; purpose: string }): void {
    this.#versions.inc({ relayer_id: relayerId, network_type: networkType, purpose });
  }

  offered({ networkType, relayerId, outcome }: { networkType: string; relayerId: string; outcome: string }): void {
    this.#offers.inc({ relayer_id: relayerId, network_type: networkType, outcome });
  }

  /** Sets the gauges of open transactions. `now` is the store's clock, in milliseconds. */
  open(counts: readonly OpenCount[], now: number): void {
    this.#byStatus.reset();
    this.#oldest.reset();
    const oldest = new Map<string, { labels: RelayerLabels; at: number }>();
    for (const { relayerId, networkType, status, count, oldestAt } of counts) {
      const labels = { relayer_id: relayerId, network_type: networkType };
      this.#byStatus.set({ ...labels, status }, count);
      const known = oldest.get(relayerId)?.at ?? oldestAt;
      oldest.set(relayerId, { labels, at: Math.min(known, oldestAt) });
    }
    for (const { labels, at } of oldest.values()) this.#oldest.set(labels, Math.max(0, now - at) / 1000);
  }

  /** Sets the gauges of parked transactions. */
  parked(waiting: readonly { relayerId: string; networkType: string; cause: string }[]): void {
    this.#parked.reset();
    for (const { relayerId, networkType, cause } of waiting) {
      this.#parked.inc({ relayer_id: relayerId, network_type: networkType, reason: cause });
    }
  }

  intentsWaiting(intents: number): void {
    this.#intents.set(intents);
  }

  stepFailed(networkType: string): void {
    this.#faults.inc({ network_type: networkType });
  }

  relayerChecked(relayerId: string, healthy: boolean): void {
    this.#checks.inc({ relayer_id: relayerId, result: healthy ? 'passed' : 'failed' });
  }

  /**
   * Sets the gauges of all relayers. Another instance may have checked a relayer since, and relayers may have been
   * deleted.
   */
  relayers(all: readonly { id: string; networkType: string; disabledReason: unknown }[]): void {
    this.#healthy.reset();
    for (const { id, networkType, disabledReason } of all) {
      this.#healthy.set({ relayer_id: id }, disabledReason === null ? 1 : 0);
      if (!this.#known.has(id)) this.#begin({ relayer_id: id, network_type: networkType });
    }
  }

  /** Sets the gauges of all relayers' balances. */
  balances(all: readonly { relayerId: string; networkType: string; unit: string; balance: bigint }[]): void {
    this.#balance.reset();
    for (const { relayerId, networkType, unit, balance } of all) {
      this.#balance.set({ relayer_id: relayerId, network_type: networkType, unit }, Number(balance));
    }
  }

  /** Starts a relayer's series at 0. Prometheus sees no increase in a series that starts with its first count. */
  #begin(labels: RelayerLabels): void {
    this.#known.add(labels.relayer_id);
    this.#faults.inc({ network_type: labels.network_type }, 0);
    this.#decisions.inc({ ...labels, kind: 'gap-filled' }, 0);
    for (const [from, to] of USUAL_MOVES) this.#moves.inc({ ...labels, from, to }, 0);
    for (const failure_reason of ['failed', 'expired']) {
      for (const previous_status of ['pending', 'sent', 'submitted', 'mined']) {
        this.#failed.inc({ ...labels, failure_reason, previous_status }, 0);
      }
    }
  }
}

/** One committed change of a transaction's status. */
interface StatusMove {
  networkType: string;
  relayerId: string;
  from: string;
  to: string;
}

/** How many transactions of a relayer have a status. */
interface OpenCount {
  relayerId: string;
  networkType: string;
  status: string;
  count: number;
  /** When the oldest of them was accepted, in milliseconds. */
  oldestAt: number;
}

interface RelayerLabels {
  relayer_id: string;
  network_type: string;
}
