import type { Connection } from './connection.ts';
import { historyReads, historyWrites } from './history.ts';
import type { StoreReader, StoreWriter } from './store.ts';
import { attemptReads, attemptWrites } from './tables/attempts.ts';
import { chainIdentityReads, chainIdentityWrites } from './tables/chain-identities.ts';
import { decisionReads, decisionWrites } from './tables/decisions.ts';
import { deliveryReads, deliveryWrites } from './tables/deliveries.ts';
import { effectReads, idempotencyWrites } from './tables/idempotency.ts';
import { intentReads, intentWrites } from './tables/intents.ts';
import { kvReads, kvWrites } from './tables/kv/kv.ts';
import { kvLockWrites } from './tables/kv/kv-locks.ts';
import { laneReads, laneWrites } from './tables/lanes.ts';
import { outboxReads, outboxWrites } from './tables/outbox.ts';
import { pruningWrites } from './tables/pruning.ts';
import { balanceReads, balanceWrites } from './tables/relayer-balances.ts';
import { apiKeyReads, apiKeyWrites } from './tables/settings/api-keys.ts';
import { auditReads, auditWrites } from './tables/settings/audit-records.ts';
import { networkReads, networkWrites } from './tables/settings/networks.ts';
import { notificationReads, notificationWrites } from './tables/settings/notifications.ts';
import { pluginSettingsReads, pluginSettingsWrites } from './tables/settings/plugin-settings.ts';
import { relayerReads, relayerWrites } from './tables/settings/relayers.ts';
import { settingsLock } from './tables/settings/settings-lock.ts';
import { signerReads, signerWrites } from './tables/settings/signers.ts';
import { spendingReads, spendingWrites } from './tables/spending.ts';
import { transactionEventReads, transactionEventWrites } from './tables/transaction-events.ts';
import { transactionReads, transactionWrites } from './tables/transactions.ts';

/** The reading half of the store over one connection. */
export function createStoreReader(connection: Connection): StoreReader {
  return {
    ...relayerReads(connection),
    ...balanceReads(connection),
    ...transactionReads(connection),
    ...transactionEventReads(connection),
    ...attemptReads(connection),
    ...laneReads(connection),
    ...decisionReads(connection),
    ...intentReads(connection),
    ...chainIdentityReads(connection),
    ...notificationReads(connection),
    ...outboxReads(connection),
    ...deliveryReads(connection),
    ...kvReads(connection),
    ...effectReads(connection),
    ...spendingReads(connection),
    ...networkReads(connection),
    ...signerReads(connection),
    ...pluginSettingsReads(connection),
    ...apiKeyReads(connection),
    ...auditReads(connection),
    ...historyReads(connection),
  };
}

/** Both halves over a connection that is inside a transaction. */
export function createStoreWriter(connection: Connection): StoreWriter {
  return {
    ...createStoreReader(connection),
    ...relayerWrites(connection),
    ...balanceWrites(connection),
    ...transactionWrites(connection),
    ...transactionEventWrites(connection),
    ...attemptWrites(connection),
    ...laneWrites(connection),
    ...decisionWrites(connection),
    ...intentWrites(connection),
    ...pruningWrites(connection),
    ...chainIdentityWrites(connection),
    ...notificationWrites(connection),
    ...outboxWrites(connection),
    ...deliveryWrites(connection),
    ...kvWrites(connection),
    ...kvLockWrites(connection),
    ...idempotencyWrites(connection),
    ...spendingWrites(connection),
    ...networkWrites(connection),
    ...signerWrites(connection),
    ...pluginSettingsWrites(connection),
    ...apiKeyWrites(connection),
    ...auditWrites(connection),
    ...settingsLock(connection),
    ...historyWrites(connection),
  };
}
