import type { Contacts, Served } from '../../chains/connections.ts';
import type { Log } from '../../observability/log.ts';
import type { Store } from '../../store/store.ts';
import { Pause } from '../pause.ts';

export interface ContactWatchDeps {
  store: Pick<Store, 'read'>;
  contacts: Contacts;
  /** How long a change has to last before it is followed, in milliseconds. */
  followMs: number;
  /** Called when none of the relayer's endpoints has served a call for that long. */
  onLost(relayerId: string): void;
  /** Called when one of the relayer's endpoints serves again. */
  onBack(relayerId: string): void;
  log: Log;
}

/**
 * Learns from ordinary calls that none of a relayer's endpoints serves. That is sooner than the next round of checks,
 * and costs nothing. Ignores short interruptions. Endpoints that come and go are followed once in a while.
 */
export class ContactWatch {
  readonly #deps: ContactWatchDeps;
  readonly #stop: () => void;
  readonly #pause = new Pause();
  /** Functions that match relayers whose contact has changed since the last look. */
  #changed: ((relayer: Served) => boolean)[] = [];
  #following: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(deps: ContactWatchDeps) {
    this.#deps = deps;
    this.#stop = deps.contacts.onContact((concerns) => {
      this.#changed.push(concerns);
      if (this.#changed.length === 1) this.#following = this.#follow();
    });
  }

  /** Safe to call twice. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stop();
    this.#pause.end();
    await this.#following;
  }

  async #follow(): Promise<void> {
    const { store, contacts, followMs, onLost, onBack, log } = this.#deps;
    await this.#pause.last(followMs);
    const changed = this.#changed;
    this.#changed = [];
    if (this.#closed) return;
    try {
      for (const relayer of await store.read.allRelayers()) {
        if (!changed.some((concerns) => concerns(relayer))) continue;
        if (contacts.contactOf(relayer)?.isLost === true) onLost(relayer.id);
        else onBack(relayer.id);
      }
    } catch (error) {
      log.error({ err: error }, 'change of contact not followed');
    }
  }
}
