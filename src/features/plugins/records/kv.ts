/** The most that a plugin may keep in its key-value store. */
export interface KvQuota {
  readonly keys: number;
  /** Of its keys and values together, in bytes of UTF-8. */
  readonly bytes: number;
  /** Of one value, in bytes of its JSON text. */
  readonly valueBytes: number;
}

/** What a plugin keeps, including what has expired and is not pruned yet. */
export type KvUsage = Pick<KvQuota, 'keys' | 'bytes'>;

/** A lock that a plugin has taken. Of two holders of one lock, the later one has the higher fence. */
export interface KvLock {
  readonly name: string;
  readonly fence: number;
}

/** The plugin whose values are changed, its quota, and its locks, all of which must still be held. */
export interface KvCaller {
  readonly pluginId: string;
  readonly quota: KvQuota;
  readonly locks: readonly KvLock[];
}

/** The keys of one page: those that begin with `prefix` and come after `after`, in the order of their bytes. */
export interface KvPage {
  prefix: string;
  after?: string | undefined;
  limit: number;
}
