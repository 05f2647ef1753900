import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import type { Relayer } from '../../src/features/relayers/records/relayer.ts';
import type { Attempt } from '../../src/features/transactions/records/attempt.ts';
import { newTransaction, type Transaction } from '../../src/features/transactions/records/transaction.ts';
import type { Notification, NotificationFields } from '../../src/features/webhooks/records/notification.ts';
import type { NewWebhookEvent, WebhookEvent } from '../../src/features/webhooks/records/webhook-event.ts';
import { createLog } from '../../src/observability/log.ts';
import { createSealer } from '../../src/store/sealing.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { quickFolder } from './run-folder.ts';

/** A store on a real file in a folder of its own. */
export interface TemporaryStore {
  store: Store;
  path: string;
  /** Closes it and removes the folder. Safe to call twice. */
  remove(): Promise<void>;
}

/** Opens an empty SQLite store. */
export async function temporaryStore(clock: Clock = systemClock): Promise<TemporaryStore> {
  const folder = await mkdtemp(join(quickFolder(), 'isolayer-store-'));
  const path = join(folder, 'isolayer.db');
  const sealer = createSealer([randomBytes(32)], randomBytes);
  const store = await openSqliteStore({ path, log: createLog('silent'), clock, sealer });
  return {
    store,
    path,
    async remove() {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Opens an empty SQLite store that goes with the test. */
export async function storeFor(t: Test, clock?: Clock): Promise<Store> {
  const { store, remove } = await temporaryStore(clock);
  t.teardown(remove);
  return store;
}

/** A relayer. The caller gives only the fields that matter. */
export function relayerOf(given: Partial<Relayer> = {}): Relayer {
  return {
    id: 'relayer-1',
    name: 'Relayer 1',
    network: 'anvil',
    networkType: 'evm',
    address: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
    paused: false,
    disabledReason: null,
    signerId: 'signer-1',
    notificationId: null,
    customRpcUrls: null,
    policies: {},
    declaration: null,
    ...given,
  };
}

/** A notification. The caller gives only the fields that matter. */
export function notificationOf(given: Partial<Notification> = {}): NotificationFields {
  const {
    hasSigningKey: _,
    hasSecondSigningKey: __,
    ...notification
  } = {
    id: 'hook-1',
    type: 'webhook' as const,
    url: 'https://hooks.example/one',
    hasSigningKey: false,
    hasSecondSigningKey: false,
    declaration: null,
    ...given,
  };
  return notification;
}

/** A webhook event. The caller gives only the fields that matter. */
export function eventOf(given: Partial<WebhookEvent> = {}): NewWebhookEvent {
  const id = given.id ?? crypto.randomUUID();
  return {
    id,
    notificationId: given.notificationId ?? 'hook-1',
    subject: given.subject ?? 'transaction:1',
    relayerId: given.relayerId ?? null,
    event: given.event ?? 'transaction_update',
    body: given.body ?? JSON.stringify({ id }),
  };
}

/** Opens a store that has the relayer of `transactionOf`. */
export function withRelayer(open: (t: Test) => Promise<Store>): (t: Test) => Promise<Store> {
  return async (t) => {
    const store = await open(t);
    await store.write((writer) => writer.putRelayer(relayerOf()));
    return store;
  };
}

/** A pending transaction. The caller gives only the fields that matter. */
export function transactionOf(given: Partial<Transaction> = {}): Transaction {
  return {
    ...newTransaction({
      id: crypto.randomUUID(),
      relayerId: 'relayer-1',
      networkType: 'evm',
      lane: 'evm:31337:0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
      createdAt: 1_700_000_000_000,
      validUntil: null,
      request: { to: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8', value: '0x1', data: null },
      anchorKind: 'sequence',
      onDeath: 'end',
      contentKey: null,
    }),
    ...given,
  };
}

/** The first attempt of a transaction, with its own hash. A sequence is its anchor. */
export function attemptOf(
  transaction: Transaction,
  { sequence = 0n, ...given }: Partial<Attempt> & { sequence?: bigint } = {},
): Attempt {
  return {
    transactionId: transaction.id,
    ordinal: 1,
    lane: transaction.lane,
    anchor: { kind: 'sequence', sequence },
    purpose: 'send',
    request: transaction.request,
    fields: { gas_limit: 21_000 },
    raw: '0x02f870',
    hash: `0x${crypto.randomUUID()}`,
    createdAt: 1_700_000_000_000,
    acceptedAt: null,
    acceptedBy: null,
    deadAt: null,
    ...given,
  };
}
