import type { EndpointContacts } from '../../chains/rpc-connections.ts';
import type { EndpointContact } from '../../egress/rpc/endpoint-pool.ts';
import type { Relayer } from '../../features/relayers/records/relayer.ts';
import type { Log } from '../../observability/log.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Store } from '../../store/store.ts';
import { type HeldLease, LeaseRegistry } from '../lease-registry.ts';
import { RepeatingTask } from '../repeating-task.ts';
import type { EngineTiming } from '../timing.ts';
import type { RelayerChecks, SharedIdentityChecks } from './relayer-checks.ts';

export interface RelayerRoundsDeps {
  store: Store;
  checks: Pick<RelayerChecks, 'seemWell'>;
  contacts: Pick<EndpointContacts, 'contactOf'>;
  /** Takes up a relayer that is disabled or seems to be unwell; does nothing for one that was taken up before. */
  ensureWatched(relayerId: string): void;
  metrics: Metrics;
  timing: EngineTiming;
  log: Log;
  /** On a clock that never goes back, in milliseconds. */
  elapsed(): number;
  /** In [0, 1), for jitter. */
  random(): number;
}

/**
 * The lease of the instance that makes the rounds. It is one lease for all relayers: the relayers' own leases stay
 * free, and nothing is written for a fit relayer.
 */
const LEASE = 'relayer-rounds';
/**
 * A round has so many looks, each at an equal part of the relayers. What a look asks of an endpoint goes in one request.
 */
const LOOKS = 240;
/** The most looks under way. Endpoints that hang make a round longer, but do not add looks. */
const AT_ONCE = 16;

/**
 * Looks at every relayer once in a while, evenly spread over the time, so that hundreds of relayers cause no burst.
 * Only one of the instances on a store does so. It hands over relayers that it suspects, and disabled relayers whose
 * instance is gone.
 */
export class RelayerRounds {
  readonly #deps: RelayerRoundsDeps;
  readonly #leases: LeaseRegistry;
  readonly #rounds: RepeatingTask;
  readonly #looks = new Set<Promise<void>>();
  #lease: HeldLease | undefined;

  constructor(deps: RelayerRoundsDeps) {
    const { store, elapsed, log, timing, random } = deps;
    this.#deps = deps;
    this.#rounds = new RepeatingTask({ name: 'relayer round', once: () => this.#round(), timing, log, random });
    this.#leases = new LeaseRegistry({ store, elapsed, log });
  }

  start(): void {
    this.#rounds.start();
  }

  /** Whether this instance makes the rounds. */
  get isMaking(): boolean {
    return !this.#rounds.isClosed && this.#lease?.isLive() === true;
  }

  /** Ends after the looks under way. Safe to call twice. */
  async close(): Promise<void> {
    await this.#rounds.close();
    await Promise.all(this.#looks);
    await this.#leases.close();
  }

  /** @returns how long the next round may wait, in milliseconds */
  async #round(): Promise<number> {
    const { store, ensureWatched, timing, random } = this.#deps;
    const lease = await this.#leases.hold(LEASE);
    this.#lease = lease;
    const relayers = await store.read.allRelayers();
    if (lease === undefined) {
      await this.#lookFromHere(relayers);
      return Math.max(Math.min(this.#leases.elsewhereMs(LEASE), timing.healthMs), timing.retryMs);
    }
    for (const { id, disabledReason } of relayers) if (disabledReason !== null) ensureWatched(id);
    const fit = relayers.filter(({ disabledReason }) => disabledReason === null);
    const share: SharedIdentityChecks = new Map();
    const size = Math.ceil(fit.length / LOOKS);
    for (let start = 0; start < fit.length; start += size) {
      const some = fit.slice(start, start + size);
      await this.#rounds.pause(((timing.healthMs * some.length) / fit.length) * (0.75 + random() / 2));
      if (this.#looks.size >= AT_ONCE) await Promise.race(this.#looks);
      if (this.#rounds.isClosed || !lease.isLive()) return 0;
      this.#begin(some, share);
    }
    return fit.length === 0 ? timing.healthMs : 0;
  }

  /**
   * Looks, on an instance that makes no rounds, at endpoints that have not served for long. Otherwise the instance
   * would not know that it reaches none of them.
   */
  async #lookFromHere(relayers: readonly Relayer[]): Promise<void> {
    const { contacts, timing, elapsed } = this.#deps;
    const isUnheard = ({ servedAt }: Readonly<EndpointContact>) =>
      elapsed() - (servedAt ?? Number.NEGATIVE_INFINITY) > timing.healthMs;
    // Relayers with the same endpoints share one contact, so one of them is enough.
    const unheard = new Map(relayers.map((relayer) => [contacts.contactOf(relayer), relayer]));
    for (const [contact, relayer] of unheard) {
      if (contact !== undefined && !isUnheard(contact)) continue;
      if (this.#looks.size >= AT_ONCE) await Promise.race(this.#looks);
      if (this.#rounds.isClosed) return;
      this.#begin([relayer], new Map());
    }
  }

  #begin(relayers: readonly Relayer[], share: SharedIdentityChecks): void {
    const looks = Promise.all(relayers.map(({ id }) => this.#look(id, share)));
    const look = looks.then(() => void this.#looks.delete(look));
    this.#looks.add(look);
  }

  async #look(id: string, share: SharedIdentityChecks): Promise<void> {
    const { store, checks, ensureWatched, metrics, log } = this.#deps;
    try {
      const relayer = await store.read.relayer(id);
      if (relayer === undefined) return;
      if (relayer.disabledReason === null && (await checks.seemWell(relayer, share))) {
        metrics.count('relayer_checks', { relayer_id: id, result: 'passed' });
      } else ensureWatched(id);
    } catch (error) {
      log.error({ err: error, relayer: id }, 'relayer check failed');
    }
  }
}
