import type { StoreReader } from '../../store/store.ts';
import { Access } from './records/access.ts';
import type { ApiKey, RateShare } from './records/api-key.ts';

/** An API key and its access. */
export interface ActiveKey extends ApiKey {
  readonly access: Access;
  /** The rates of the keys that made it, the nearest first. It shares each with them and their other keys. */
  readonly sharedRates: readonly RateShare[];
}

/** The current API keys of clients, by their hashes. */
export class ApiKeyDirectory {
  readonly #read: Pick<StoreReader, 'apiKeyHashes'>;
  readonly #listeners = new Set<{ call: () => void }>();
  #keys: ReadonlyMap<string, ActiveKey> = new Map();

  constructor(read: Pick<StoreReader, 'apiKeyHashes'>) {
    this.#read = read;
  }

  /** The key with a hash, also when it has expired. */
  withHash(hash: string): ActiveKey | undefined {
    return this.#keys.get(hash);
  }

  async reload(): Promise<void> {
    const keys = await this.#read.apiKeyHashes();
    const rates = new Map([...keys.values()].map(({ id, rate }) => [id, rate]));
    // An ancestor that is gone counts with the rate that it had: deleting a key must not free its keys.
    const shared = ({ ancestors }: ApiKey) =>
      ancestors
        .toReversed()
        .map(({ id, rate: then }) => ({ id, rate: rates.get(id) ?? (rates.has(id) ? null : then) }));
    this.#keys = new Map(
      [...keys].map(([hash, key]) => [hash, { ...key, access: new Access(key.permissions), sharedRates: shared(key) }]),
    );
    for (const listener of this.#listeners) listener.call();
  }

  /** Calls the listener when keys may have changed. Returns a function that stops this. */
  onChange(listener: () => void): () => void {
    const entry = { call: listener };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }
}
