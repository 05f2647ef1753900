import type { Instruments } from './instruments.ts';

/** What became of transactions and relayers. */
export class EngineCounts {
  readonly #created;
  readonly #submitted;
  readonly #succeeded;
  readonly #failed;
  readonly #byStatus;
  readonly #moves;
  readonly #decisions;
  readonly #faults;
  readonly #healthy;

  constructor(instruments: Instruments) {
    this.#created = instruments.counter('transactions_created_total');
    this.#submitted = instruments.counter('transactions_submitted_total');
    this.#succeeded = instruments.counter('transactions_success_total');
    this.#failed = instruments.counter('transactions_failed_total');
    this.#byStatus = instruments.gauge('transactions_by_status');
    this.#moves = instruments.counter('transaction_transitions_total');
    this.#decisions = instruments.counter('transaction_decisions_total');
    this.#faults = instruments.counter('lane_faults_total');
    this.#healthy = instruments.gauge('relayer_healthy');
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

  /** Replaces what was known of the transactions that have not ended. */
  open(counts: readonly OpenCount[]): void {
    this.#byStatus.reset();
    for (const { relayerId, networkType, status, count } of counts) {
      this.#byStatus.set({ relayer_id: relayerId, network_type: networkType, status }, count);
    }
  }

  stepFailed(networkType: string): void {
    this.#faults.inc({ network_type: networkType });
  }

  relayerChecked(relayerId: string, healthy: boolean): void {
    this.#healthy.set({ relayer_id: relayerId }, healthy ? 1 : 0);
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
}
