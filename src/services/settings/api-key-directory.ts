import { Access } from '../../domain/settings/access.ts';
import type { ApiKey } from '../../domain/settings/api-key.ts';
import type { Reader } from '../../store/store.ts';

/** An API key and its access. */
export interface ActiveKey extends ApiKey {
  readonly access: Access;
}

/** The current API keys of clients, by their hashes. */
export class ApiKeyDirectory {
  readonly #read: Pick<Reader, 'apiKeyHashes'>;
  readonly #listeners = new Set<{ call: () => void }>();
  #keys: ReadonlyMap<string, ActiveKey> = new Map();

  constructor(read: Pick<Reader, 'apiKeyHashes'>) {
    this.#read = read;
  }

  /** The key with a hash, also when it has expired. */
  withHash(hash: string): ActiveKey | undefined {
    return this.#keys.get(hash);
  }

  async reload(): Promise<void> {
    const keys = await this.#read.apiKeyHashes();
    this.#keys = new Map([...keys].map(([hash, key]) => [hash, { ...key, access: new Access(key.permissions) }]));
    for (const listener of this.#listeners) listener.call();
  }

  /** Calls the listener when keys may have changed. Returns a function that stops this. */
  onChange(listener: () => void): () => void {
    const entry = { call: listener };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }
}
