import type { BroadcastOutcome } from '../chains/chain-client.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { AttemptPurpose } from '../domain/transaction/attempt.ts';
import type { DecisionKind } from '../domain/transaction/decision.ts';
import type { TransactionStatus } from '../domain/transaction/transaction-state.ts';

/** What the engine counts. */
export interface EngineMetrics {
  /** A transaction was accepted. */
  accepted(transaction: { networkType: NetworkType; relayerId: string }): void;
  /** A transaction's change of status was committed. */
  moved(move: { networkType: NetworkType; relayerId: string; from: TransactionStatus; to: TransactionStatus }): void;
  /** A decision about a transaction was made that its status does not show: a dearer attempt, a noop, a filled gap. */
  decided(decision: { networkType: NetworkType; relayerId: string; kind: DecisionKind }): void;
  /** One more attempt of a transaction was signed and stored. */
  signed(attempt: { networkType: NetworkType; relayerId: string; purpose: AttemptPurpose }): void;
  /** An attempt was offered to the nodes. */
  offered(offer: { networkType: NetworkType; relayerId: string; outcome: BroadcastOutcome['kind'] }): void;
  /** A step of a lane ended with an unexpected error. */
  stepFailed(networkType: string): void;
  /** A check of a relayer ended. */
  relayerChecked(relayerId: string, healthy: boolean): void;
}
