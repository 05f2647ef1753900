import { Access } from '../../domain/settings/access.ts';
import type { ApiKey } from '../../domain/settings/api-key.ts';
import type { Reader } from '../../store/store.ts';

/** An API key with what it may do. */
export interface ActiveKey extends ApiKey {
  readonly access: Access;
}

/** The keys that clients made, as they are now, by their hashes. */
export class ApiKeyDirectory {
  readonly #read: Pick<Reader, 'apiKeyHashes'>;
  readonly #listeners = new Set<{ call: () => void }>();
  #keys: ReadonlyMap<string, ActiveKey> = new Map();

  constructor(read: Pick<Reader, 'apiKeyHashes'>) {
    this.#read = read;
  }

  /** The key with a hash, whether or not its time is over. */
  withHash(hash: string): ActiveKey | undefined {
    return this.#keys.get(hash);
  }

  async reload(): Promise<void> {
    const keys = await this.#read.apiKeyHashes();
    this.#keys = new Map([...keys].map(([hash, key]) => [hash, { ...key, access: new Access(key.permissions) }]));
    for (const listener of this.#listeners) listener.call();
  }

  /** Calls back when they may have changed; returns the way to stop that. */
  onChange(listener: () => void): () => void {
    const entry = { call: listener };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }
}
