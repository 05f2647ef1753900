import { apiKeyReads, apiKeyWrites } from '../features/api-keys/table.ts';
import { auditReads, auditWrites } from '../features/audit/table.ts';
import { callReads, callWrites } from '../features/calls/table.ts';
import { chainIdentityReads, chainIdentityWrites, networkReads, networkWrites } from '../features/networks/table.ts';
import { kvLockWrites, kvReads, kvWrites } from '../features/plugins/tables/kv.ts';
import { pluginSettingsReads, pluginSettingsWrites } from '../features/plugins/tables/plugin-settings.ts';
import { spendingReads, spendingWrites } from '../features/plugins/tables/spending.ts';
import { balanceReads, balanceWrites, relayerReads, relayerWrites, settingsLock } from '../features/relayers/table.ts';
import { signerReads, signerWrites } from '../features/signers/table.ts';
import { attemptReads, attemptWrites } from '../features/transactions/tables/attempts.ts';
import {
  decisionReads,
  decisionWrites,
  intentReads,
  intentWrites,
  laneReads,
  laneWrites,
} from '../features/transactions/tables/lanes.ts';
import { transactionEventReads, transactionEventWrites } from '../features/transactions/tables/transaction-events.ts';
import { pruningWrites, transactionReads, transactionWrites } from '../features/transactions/tables/transactions.ts';
import { triggerReads, triggerWrites } from '../features/triggers/table.ts';
import { notificationReads, notificationWrites } from '../features/webhooks/tables/notifications.ts';
import { deliveryReads, deliveryWrites, outboxReads, outboxWrites } from '../features/webhooks/tables/outbox.ts';
import type { Connection } from './connection.ts';
import { historyReads, historyWrites } from './database-history.ts';
import type { StoreReader, StoreWriter } from './store.ts';
import { effectReads, idempotencyWrites } from './tables/idempotency.ts';
import { plainReads, plainWrites } from './tables/plain-records.ts';

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
    ...callReads(connection),
    ...spendingReads(connection),
    ...networkReads(connection),
    ...signerReads(connection),
    ...pluginSettingsReads(connection),
    ...apiKeyReads(connection),
    ...auditReads(connection),
    ...triggerReads(connection),
    ...plainReads(connection),
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
    ...callWrites(connection),
    ...spendingWrites(connection),
    ...networkWrites(connection),
    ...signerWrites(connection),
    ...pluginSettingsWrites(connection),
    ...apiKeyWrites(connection),
    ...auditWrites(connection),
    ...triggerWrites(connection),
    ...plainWrites(connection),
    ...settingsLock(connection),
    ...historyWrites(connection),
  };
}
