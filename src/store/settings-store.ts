import type { KeyObject } from 'node:crypto';
import type { JsonObject } from '../domain/json/json.ts';
import type { StoredNetwork } from '../domain/network.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { Page, PageRequest, Part, PartRequest } from '../domain/page.ts';
import type { Relayer, RelayerBalance, RelayerFilter } from '../domain/relayer/relayer.ts';
import type { ApiKey } from '../domain/settings/api-key.ts';
import type { AuditedChange, AuditFilter, AuditRecord } from '../domain/settings/audit.ts';
import type { Caller } from '../domain/settings/caller.ts';
import type { Notification, NotificationFields, SigningKeyField } from '../domain/settings/notification.ts';
import type { StoredPlugin } from '../domain/settings/plugin-settings.ts';
import type { StoredSigner } from '../domain/settings/signer.ts';

/** Reads of what clients can change. */
export interface SettingsReader {
  relayer(id: string): Promise<Relayer | undefined>;
  /** Whether there is one of this id: cheaper than to read it. */
  hasRelayer(id: string): Promise<boolean>;
  /** Newest first, ties by id. */
  relayers(page: PageRequest, filter?: RelayerFilter): Promise<Page<Relayer>>;
  allRelayers(): Promise<Relayer[]>;
  /** Undefined until one was seen. */
  relayerBalance(relayerId: string): Promise<RelayerBalance | undefined>;
  relayerBalances(): Promise<RelayerBalance[]>;

  notification(id: string): Promise<Notification | undefined>;
  /** Newest first, ties by id. */
  notifications(page: PageRequest): Promise<Page<Notification>>;
  allNotifications(): Promise<Notification[]>;
  /** The bytes that a notification's deliveries are signed with: none, one, or while they change a second one. */
  signingKeys(notificationId: string): Promise<KeyObject[]>;

  storedNetwork(type: NetworkType, name: string): Promise<StoredNetwork | undefined>;
  /** Newest first, ties by type and name. */
  storedNetworks(): Promise<StoredNetwork[]>;

  storedSigner(id: string): Promise<StoredSigner | undefined>;
  /** Newest first, ties by id. */
  storedSigners(page: PageRequest): Promise<Page<StoredSigner>>;
  allSigners(): Promise<StoredSigner[]>;
  /** With its secrets, of this making of it only. */
  signerConfig(id: string, stamp: string): Promise<JsonObject | undefined>;

  storedPlugin(id: string): Promise<StoredPlugin | undefined>;
  /** By id. */
  storedPlugins(): Promise<StoredPlugin[]>;

  apiKey(id: string): Promise<ApiKey | undefined>;
  /** Newest first, ties by id. */
  apiKeys(page: PageRequest): Promise<Page<ApiKey>>;
  /** All, by their hashes. */
  apiKeyHashes(): Promise<Map<string, ApiKey>>;

  /** Rises with each change of settings; 0 before the first. */
  latestChange(): Promise<number>;
  /** The latest first. No look is longer for what is behind it. */
  auditRecords(part: PartRequest, filter: AuditFilter): Promise<Part<AuditRecord>>;
}

/** Writes of the same. */
export interface SettingsWriter extends SettingsReader {
  /**
   * Has all other changes of settings, and what refers to a relayer, wait for this commit. To be asked for before
   * anything else of a body, so that what it reads is what they have left.
   */
  lockSettings(): Promise<void>;
  /** Whether there is such a relayer; it is not deleted before the commit. */
  holdRelayer(id: string): Promise<boolean>;
  putNetwork(network: StoredNetwork): Promise<void>;
  /** True when there was one. */
  deleteNetwork(type: NetworkType, name: string): Promise<boolean>;
  /** @throws DuplicateRecord */
  insertSigner(signer: StoredSigner, config: JsonObject): Promise<void>;
  /** True when there was one. */
  deleteSigner(id: string): Promise<boolean>;
  putPlugin(plugin: StoredPlugin): Promise<void>;
  deletePlugin(id: string): Promise<void>;
  insertApiKey(key: Omit<ApiKey, 'createdAt'>, hash: string): Promise<void>;
  /** Changes all of a key but its hash. */
  updateApiKey(key: Omit<ApiKey, 'createdAt'>): Promise<void>;
  /** True when there was one. */
  deleteApiKey(id: string): Promise<boolean>;
  insertAuditRecord(record: AuditedChange & Pick<Caller, 'keyId' | 'requestId'>): Promise<void>;

  putRelayer(relayer: Relayer): Promise<void>;
  putRelayerBalance(seen: RelayerBalance): Promise<void>;
  /** True when there was one. */
  deleteRelayer(id: string): Promise<boolean>;

  /** Makes or changes a notification; its signing keys stay. */
  putNotification(notification: NotificationFields): Promise<void>;
  /** Null removes it. */
  putSigningKey(notificationId: string, key: string | null, field?: SigningKeyField): Promise<void>;
  /** Its waiting events end as dropped. True when there was one. */
  deleteNotification(id: string): Promise<boolean>;
}
