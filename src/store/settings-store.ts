import type { KeyObject } from 'node:crypto';
import type { JsonObject } from '../domain/json/json.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { ListPart, ListPartRequest, Page, PageRequest } from '../domain/page.ts';
import type { Columns, RecordKind } from '../domain/record.ts';
import type { ApiKey } from '../features/api-keys/records/api-key.ts';
import type { Caller } from '../features/api-keys/records/caller.ts';
import type { AuditedChange, AuditFilter, AuditRecord } from '../features/audit/record.ts';
import type { StoredNetwork } from '../features/networks/record.ts';
import type { StoredPlugin } from '../features/plugins/records/plugin-settings.ts';
import type { Relayer, RelayerBalance, RelayerFilter, RelayerUse } from '../features/relayers/records/relayer.ts';
import type { StoredSigner } from '../features/signers/record.ts';
import type { Notification, NotificationFields, SigningKeyField } from '../features/webhooks/records/notification.ts';

/** A kind of record without statements of its own: its table has an `id`, `created_at` and the record's columns. */
export interface PlainKind<T> extends Pick<RecordKind<Columns>, 'table' | 'columns' | 'key' | 'sealed'> {
  read(row: unknown): T;
  write(record: T): object;
}

/** Reads of the settings that clients can change. */
export interface SettingsReader {
  relayer(id: string): Relayer | undefined | Promise<Relayer | undefined>;
  /** Whether a relayer with this id exists. Cheaper than reading it. */
  hasRelayer(id: string): boolean | Promise<boolean>;
  /** Newest first, ties by id. */
  relayers(page: PageRequest, filter?: RelayerFilter): Promise<Page<Relayer>>;
  allRelayers(): Promise<Relayer[]>;
  /** Newest first, ties by id. */
  relayersWith(use: RelayerUse): Promise<Relayer[]>;
  /** Undefined until a balance was seen. */
  relayerBalance(relayerId: string): Promise<RelayerBalance | undefined>;
  relayerBalances(): Promise<RelayerBalance[]>;

  notification(id: string): Promise<Notification | undefined>;
  /** Newest first, ties by id. */
  notifications(page: PageRequest): Promise<Page<Notification>>;
  allNotifications(): Promise<Notification[]>;
  /** The keys that sign a notification's deliveries: none, one, or two while the key is being changed. */
  signingKeys(notificationId: string): Promise<KeyObject[]>;

  storedNetwork(type: NetworkType, name: string): Promise<StoredNetwork | undefined>;
  /** Newest first, ties by type and name. */
  storedNetworks(): Promise<StoredNetwork[]>;

  storedSigner(id: string): Promise<StoredSigner | undefined>;
  /** Newest first, ties by id. */
  storedSigners(page: PageRequest): Promise<Page<StoredSigner>>;
  allSigners(): Promise<StoredSigner[]>;
  /** The signer's configuration with its secrets. Undefined when the signer was made anew and has another stamp. */
  signerConfig(id: string, stamp: string): Promise<JsonObject | undefined>;

  storedPlugin(id: string): Promise<StoredPlugin | undefined>;
  /** By id. */
  storedPlugins(): Promise<StoredPlugin[]>;

  apiKey(id: string): Promise<ApiKey | undefined>;
  /** Newest first, ties by id. */
  apiKeys(page: PageRequest): Promise<Page<ApiKey>>;
  /** All API keys, by their hashes. */
  apiKeyHashes(): Promise<Map<string, ApiKey>>;

  plainRecord<T>(kind: PlainKind<T>, id: string): Promise<T | undefined>;
  /** Newest first, ties by id. */
  plainRecords<T>(kind: PlainKind<T>, page: PageRequest): Promise<Page<T>>;

  /** Rises with each change of settings; 0 before the first. */
  latestChange(): Promise<number>;
  /** Audit records, newest first. Many older records do not slow the query. */
  auditRecords(part: ListPartRequest, filter: AuditFilter): Promise<ListPart<AuditRecord>>;
}

/** Writes of the same. */
export interface SettingsWriter extends SettingsReader {
  /**
   * Makes all other changes of settings, and writes that refer to a relayer, wait for this commit. Call it first in a
   * body, so that the body reads what those writes have left.
   */
  lockSettings(): Promise<void>;
  /** Whether the relayer exists. If so, it cannot be deleted before the commit. */
  holdRelayer(id: string): Promise<boolean>;
  putNetwork(network: StoredNetwork): Promise<void>;
  /** Resolves with true when it existed. */
  deleteNetwork(type: NetworkType, name: string): Promise<boolean>;
  /** @throws DuplicateRecord */
  insertSigner(signer: StoredSigner, config: JsonObject): Promise<void>;
  /** Resolves with true when it existed. */
  deleteSigner(id: string): Promise<boolean>;
  putPlugin(plugin: StoredPlugin): Promise<void>;
  deletePlugin(id: string): Promise<void>;
  insertApiKey(key: Omit<ApiKey, 'createdAt'>, hash: string): Promise<void>;
  /** Changes everything of a key except its hash and its ancestors. */
  updateApiKey(key: Omit<ApiKey, 'createdAt' | 'ancestors'>): Promise<void>;
  /** Resolves with true when it existed. */
  deleteApiKey(id: string): Promise<boolean>;
  insertAuditRecord(record: AuditedChange & Pick<Caller, 'keyId' | 'requestId'>): Promise<void>;

  putPlainRecord<T>(kind: PlainKind<T>, record: T): Promise<void>;
  /** Resolves with true when it existed. */
  deletePlainRecord(kind: Pick<PlainKind<never>, 'table'>, id: string): Promise<boolean>;

  putRelayer(relayer: Relayer): Promise<void>;
  putRelayerBalance(seen: RelayerBalance): Promise<void>;
  /** Resolves with true when it existed. */
  deleteRelayer(id: string): Promise<boolean>;

  /** Makes or changes a notification. Its signing keys stay. */
  putNotification(notification: NotificationFields): Promise<void>;
  /** Sets a signing key; null removes it. */
  putSigningKey(notificationId: string, key: string | null, field?: SigningKeyField): Promise<void>;
  /** Deletes a notification and ends its waiting events as dropped. True when it existed. */
  deleteNotification(id: string): Promise<boolean>;
}
