import type { Log } from '../observability/log.ts';
import type { Store } from '../store/store.ts';
import type { AuditedChange } from './audit/record.ts';

/** The kinds of settings that are held in memory and can change. */
type Kind = AuditedChange['resource'];

export interface SettingsFeedDeps {
  store: Pick<Store, 'read' | 'hints' | 'instances'>;
  log: Log;
  /**
   * The time between two checks for changes of other instances, in milliseconds. The checks find changes whose hint was
   * lost.
   */
  everyMs?: number;
}

const EVERY_MS = 1_000;

/**
 * Keeps settings in memory equal to the store. A change of this instance is read before its request is answered. A
 * change of another instance is read when its hint arrives, or within a second if the hint is lost.
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

  /** Reads settings of a kind now, and again after each change of them. */
  async follow(kind: Kind, reload: () => Promise<void>): Promise<void> {
    this.#reloads.set(kind, reload);
    await reload();
  }

  /** Starts checking for changes of other instances, if there can be any. */
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

  /** Reloads settings that this instance has changed, and sends a hint to the other instances. */
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

  /** Checks for changes, one check at a time. */
  #look(): void {
    this.#looking = this.#looking
      .then(async () => {
        const latest = await this.#deps.store.read.latestChange();
        if (latest === this.#seen) return;
        await this.#reloadAll();
        this.#seen = latest;
      })
      .catch((error: unknown) => this.#deps.log.warn({ err: error }, 'changed settings could not be read'));
  }

  async #reloadAll(): Promise<void> {
    for (const reload of this.#reloads.values()) await reload();
  }
}
