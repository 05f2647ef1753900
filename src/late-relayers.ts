import type { RelayerEntry } from './config/configuration.ts';
import { messageOf } from './domain/errors.ts';
import type { Engine } from './engine/engine.ts';
import { Pause } from './engine/pause.ts';
import { type AddressParts, type LateRelayer, withAddresses } from './relayer-addresses.ts';
import { applyChangedDeclarations } from './services/declarations/declarations.ts';
import type { Store } from './store/store.ts';

export interface LateRelayersDeps extends Omit<AddressParts, 'read'> {
  store: Pick<Store, 'read' | 'write'>;
  /** The relayers that the configuration declares now. */
  declared(): readonly RelayerEntry[];
  engine: Pick<Engine, 'recheck'>;
  /** The time between tries, in milliseconds. */
  everyMs?: number;
}

const EVERY_MS = 10_000;

/**
 * Declared relayers that do not exist yet, because their signers do not return their keys. Each is created once its
 * signer does. Other relayers do not wait for them.
 */
export class LateRelayers {
  readonly #deps: LateRelayersDeps;
  readonly #pause = new Pause();
  /** The last logged reason of each waiting relayer. */
  readonly #reasons = new Map<string, string>();
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(deps: LateRelayersDeps) {
    this.#deps = deps;
  }

  /** Logs the waiting relayers, and retries them from now on. */
  add(late: readonly LateRelayer[]): void {
    for (const { id, signerId, error } of late) {
      const reason = messageOf(error);
      if (this.#reasons.get(id) === reason) continue;
      this.#reasons.set(id, reason);
      const waits = { relayerId: id, signer: signerId, err: error };
      this.#deps.log.error(waits, 'a relayer waits for its signer, which does not return its key; it is tried again');
    }
    if (late.length > 0 && !this.#isClosed) this.#running ??= this.#run();
  }

  /** Stops after the try under way. Safe to call twice. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#pause.end();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { everyMs = EVERY_MS, log } = this.#deps;
    while (this.#reasons.size > 0 && !this.#isClosed) {
      await this.#pause.last(everyMs);
      if (this.#isClosed) return;
      await this.#tryAgain().catch((error: unknown) => log.error({ err: error }, 'a relayer that waits was not made'));
    }
    this.#running = undefined;
  }

  async #tryAgain(): Promise<void> {
    const { store, declared, engine, log } = this.#deps;
    // Relayers that exist by now, or are not declared any more, do not wait any longer.
    const there = new Set((await store.read.allRelayers()).map(({ id }) => id));
    const entries = declared().filter(({ id }) => this.#reasons.has(id) && !there.has(id));
    const wanted = new Set(entries.map(({ id }) => id));
    for (const id of this.#reasons.keys()) if (!wanted.has(id)) this.#reasons.delete(id);

    const { addressed, late } = await withAddresses(entries, { ...this.#deps, read: store.read });
    if (addressed.length > 0) await applyChangedDeclarations(store, addressed);
    for (const { id, address } of addressed) {
      this.#reasons.delete(id);
      engine.recheck(id);
      log.info({ relayerId: id, address }, 'a relayer was made after its signer had returned its key');
    }
    this.add(late);
  }
}
