import type { AuditedChange } from '../../domain/settings/audit.ts';
import type { Log } from '../../observability/log.ts';
import type { Store } from '../../store/store.ts';

/** Settings that are kept in memory, as far as they can change. */
type Kind = AuditedChange['resource'];

export interface SettingsFeedDeps {
  store: Pick<Store, 'read' | 'hints' | 'instances'>;
  log: Log;
  /** How often a change of another instance is looked for of which nothing was heard, in milliseconds. */
  everyMs?: number;
}

const EVERY_MS = 1_000;

/**
 * Keeps what is held in memory of settings as the store has it: after a change of this instance before it is answered,
 * after one of another instance when that tells of it, and within a second where its word is lost.
 */
export class SettingsFeed {
  readonly #deps: SettingsFeedDeps;
  readonly #reloads = new Map<Kind, () => Promise<void>>();
  #seen = 0;
  #looking: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #stopHearing: () => void = () => {};

  constructor(deps: SettingsFeedDeps) {
    this.#deps = deps;
  }

  /** Has settings of a kind read now, and after each change of them. */
  async follow(kind: Kind, reload: () => Promise<void>): Promise<void> {
    this.#reloads.set(kind, reload);
    await reload();
  }

  /** Begins to look for changes of other instances, where there may be any. */
  async start(): Promise<void> {
    const { store, everyMs = EVERY_MS } = this.#deps;
    if (store.instances === null) return;
    this.#seen = await store.read.latestChange();
    await this.#reloadAll();
    this.#stopHearing = store.hints.listen((heard) => {
      if (heard === 'missed' || heard.topic === 'settings') this.#look();
    });
    this.#timer = setInterval(() => this.#look(), everyMs);
  }

  /** Resolves once this instance goes by a change that it has made; the others are told. */
  async changed(kind: Kind): Promise<void> {
    await this.#reloads.get(kind)?.();
    this.#deps.store.hints.send({ topic: 'settings', id: kind });
  }

  /** Safe to call twice. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopHearing();
    await this.#looking;
  }

  /** One look after the other. */
  #look(): void {
    this.#looking = this.#looking
      .then(async () => {
        const latest = await this.#deps.store.read.latestChange();
        if (latest === this.#seen) return;
        await this.#reloadAll();
        this.#seen = latest;
      })
      .catch((error: unknown) => this.#deps.log.warn({ err: error }, 'changed settings were not read'));
  }

  async #reloadAll(): Promise<void> {
    for (const reload of this.#reloads.values()) await reload();
  }
}
