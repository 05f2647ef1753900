import { attemptReads, attemptWrites } from './attempts.ts';
import { chainIdentityReads, chainIdentityWrites } from './chain-identities.ts';
import type { Connection } from './connection.ts';
import { decisionReads, decisionWrites } from './decisions.ts';
import { historyReads, historyWrites } from './history.ts';
import { effectReads, idempotencyWrites } from './idempotency.ts';
import { intentReads, intentWrites } from './intents.ts';
import { kvReads, kvWrites } from './kv.ts';
import { kvLockWrites } from './kv-locks.ts';
import { notificationReads, notificationWrites } from './notifications.ts';
import { outboxReads, outboxWrites } from './outbox.ts';
import { pruningWrites } from './pruning.ts';
import { relayerReads, relayerWrites } from './relayers.ts';
import { spendingReads, spendingWrites } from './spending.ts';
import type { Reader, Writer } from './store.ts';
import { transactionReads, transactionWrites } from './transactions.ts';

/** The reading half of the store over one connection. */
export function createReader(connection: Connection): Reader {
  return {
    ...relayerReads(connection),
    ...transactionReads(connection),
    ...attemptReads(connection),
    ...decisionReads(connection),
    ...intentReads(connection),
    ...chainIdentityReads(connection),
    ...notificationReads(connection),
    ...outboxReads(connection),
    ...kvReads(connection),
    ...effectReads(connection),
    ...spendingReads(connection),
    ...historyReads(connection),
  };
}

/** Both halves over a connection that is inside a transaction. */
export function createWriter(connection: Connection): Writer {
  return {
    ...createReader(connection),
    ...relayerWrites(connection),
    ...transactionWrites(connection),
    ...attemptWrites(connection),
    ...decisionWrites(connection),
    ...intentWrites(connection),
    ...pruningWrites(connection),
    ...chainIdentityWrites(connection),
    ...notificationWrites(connection),
    ...outboxWrites(connection),
    ...kvWrites(connection),
    ...kvLockWrites(connection),
    ...idempotencyWrites(connection),
    ...spendingWrites(connection),
    ...historyWrites(connection),
  };
}
