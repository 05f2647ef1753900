import type { Chain } from '../../chains/chain.ts';
import {
  type ChainConnections,
  type EndpointContacts,
  NO_ENDPOINT_CONTACTS,
  type RelayerEndpoints,
} from '../../chains/rpc-connections.ts';
import { EndablePause } from '../../domain/endable-pause.ts';
import type { NetworkType } from '../../domain/network-type.ts';
import { Turns } from '../../domain/turns.ts';
import { isDisabledByCheck } from '../../features/relayers/records/disabled-reason.ts';
import type { Relayer } from '../../features/relayers/records/relayer.ts';
import { laneKey } from '../../features/transactions/records/lane.ts';
import type { Log } from '../../observability/log.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { LeaseLost } from '../../store/lease.ts';
import type { Store } from '../../store/store.ts';
import type { HeldLease, LeaseRegistry } from '../lease-registry.ts';
import { backOff, type EngineTiming } from '../timing.ts';
import type { Outbox } from '../webhooks/outbox.ts';
import { BalanceWatch } from './balance-watch.ts';
import {
  type CheckFailure,
  disabledReasonOf,
  RelayerChecks,
  type RelayerChecksDeps,
  type RelayerFindings,
} from './relayer-checks.ts';
import { RelayerRounds } from './relayer-rounds.ts';
import { ChainReach, type UnreachedRelayer } from './unreached-chains.ts';

export interface RelayerHealthDeps {
  store: Store;
  leases: LeaseRegistry;
  chains: ReadonlyMap<NetworkType, Chain>;
  connections: ChainConnections;
  contacts?: EndpointContacts | undefined;
  log: Log;
  metrics: Metrics;
  outbox: Outbox;
  timing: EngineTiming;
  keyFault?: RelayerChecksDeps['keyFault'];
  /** Called with a lane whose chain this instance does not reach, so that another instance can drive the lane. */
  onGiveAway?(lane: string): void;
  /** On a clock that never goes back, in milliseconds. */
  elapsed(): number;
  /** In [0, 1), for jitter. */
  random(): number;
}

/** How often a relayer that is not disabled is found unfit before it is. */
const MAX_CHECKS = 3;

/** The most findings that wait to be stored. A send's write waits for all that came before it. */
const SETTLED_AT_ONCE = 8;
/** From one repeated check to the next, over all relayers, in milliseconds. Each takes up to a millisecond of the loop. */
const RECHECK_SPACING_MS = 3;

/** Checks of one relayer, for as long as it is not fit. */
interface Watch {
  ended: Promise<void>;
  pause: EndablePause;
  /** Something changed since the check under way began. */
  again: boolean;
}

/** The state of a watch. */
interface Round {
  /** Repetitions that have failed before this one. */
  failedBefore: number;
  /** The pause before the next repetition, in milliseconds. */
  nextMs: number;
}

/**
 * Checks each relayer at the start, now and then while it is fit, and more often while it is disabled. Only one of
 * several instances checks a relayer. The others read its findings, and one takes over when that instance is gone. An
 * instance that does not reach the chain leaves the relayer and its lane to the others. When no instance reaches the
 * chain, the relayer is disabled.
 */
export class RelayerHealth {
  readonly #deps: RelayerHealthDeps;
  readonly #balances: BalanceWatch;
  readonly #checks: RelayerChecks;
  readonly #rounds: RelayerRounds;
  readonly #reach: ChainReach;
  readonly #contacts: EndpointContacts;
  readonly #contactWatch: EndpointContactWatch;
  /** The relayers of lanes that were given away. */
  readonly #away = new Map<string, readonly string[]>();
  readonly #watches = new Map<string, Watch>();
  /** The relayers whose checks are repeated, because they failed. */
  readonly #repeated = new Set<string>();
  readonly #settling = new Turns(SETTLED_AT_ONCE);
  readonly #pauses = new Set<EndablePause>();
  #starting: Promise<void> | null = null;
  #closed = false;

  constructor(deps: RelayerHealthDeps) {
    this.#deps = deps;
    this.#contacts = deps.contacts ?? NO_ENDPOINT_CONTACTS;
    this.#balances = new BalanceWatch(deps);
    this.#checks = new RelayerChecks({
      ...deps,
      contacts: this.#contacts,
      onBalance: (seen) => this.#balances.record(seen),
    });
    this.#reach = new ChainReach({
      instances: deps.store.instances,
      onDoubt: (id) => this.recheck(id),
      doubtMs: deps.timing.healthMs,
      elapsed: () => deps.elapsed(),
      log: deps.log,
    });
    this.#contactWatch = new EndpointContactWatch({
      ...deps,
      contacts: this.#contacts,
      followMs: deps.timing.confirmMs,
      onLost: (id) => this.#ensureWatched(id),
      onBack: (id) => this.#watches.get(id)?.pause.end(),
    });
    this.#rounds = new RelayerRounds({
      ...deps,
      contacts: this.#contacts,
      checks: this.#checks,
      ensureWatched: (id) => this.#ensureWatched(id),
    });
  }

  /** Resolves when all were checked once, or after `firstCheckMs`; the checks go on in either case. */
  start(): Promise<void> {
    this.#starting ??= this.#checkAll();
    return this.#starting;
  }

  async #checkAll(): Promise<void> {
    const { store, timing } = this.#deps;
    await this.#reach.start();
    const relayers = await store.read.allRelayers();
    const checked = Promise.all(relayers.map(({ id }) => this.#watch(id)));
    await this.#atMost(timing.firstCheckMs, checked);
    this.#rounds.start();
  }

  /** Ends after the checks under way; a second call does nothing more. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const pause of this.#pauses) pause.end();
    for (const { pause } of this.#watches.values()) pause.end();
    await Promise.allSettled([this.#starting]);
    await Promise.all([this.#rounds.close(), this.#contactWatch.close()]);
    await Promise.all([...this.#watches.values()].map(({ ended }) => ended));
    await Promise.all([this.#reach.close(), this.#balances.close()]);
  }

  /** The relayers whose chain this instance does not reach. */
  get unreached(): UnreachedRelayer[] {
    return this.#reach.unreached;
  }

  /**
   * Whether the lane is for another instance: this one reaches the chain for none of the lane's relayers, and another
   * may.
   */
  isAway(lane: string): boolean {
    return this.#away.get(lane)?.every((id) => this.#reach.isForOthers(id)) === true;
  }

  /** Checks a relayer once more, now, because something that the checks depend on has changed. */
  recheck(id: string): void {
    if (this.#closed) return;
    const watch = this.#watches.get(id);
    if (watch === undefined) {
      this.#ensureWatched(id);
    } else {
      watch.again = true;
      watch.pause.end();
    }
  }

  #ensureWatched(id: string): void {
    if (!this.#closed && !this.#watches.has(id)) void this.#watch(id);
  }

  /**
   * Another instance has disabled a relayer, wants it checked, or has stopped watching it. The instance that makes the
   * rounds then watches the relayer too, in case the other one ends.
   */
  recheckWatched(id: string): void {
    if (!this.#watches.has(id)) {
      if (this.#rounds.isMaking) this.#ensureWatched(id);
      return;
    }
    this.#deps.leases.askAgain(leaseOf(id));
    this.recheck(id);
  }

  /** The relayers that are being watched. */
  get watched(): string[] {
    return [...this.#watches.keys()];
  }

  /** Watches a relayer until it is fit. Resolves after the first check. */
  #watch(id: string): Promise<void> {
    return new Promise((resolve) => {
      const watch: Watch = { pause: new EndablePause(), again: false, ended: Promise.resolve() };
      this.#watches.set(id, watch);
      watch.ended = this.#checkUntilFit(id, watch, resolve);
    });
  }

  async #checkUntilFit(id: string, watch: Watch, onFirst: () => void): Promise<void> {
    do {
      await this.#checkUnderLease(id, watch, onFirst);
    } while (watch.again && !this.#closed);
    this.#watches.delete(id);
    this.#repeated.delete(id);
    onFirst();
  }

  async #checkUnderLease(id: string, watch: Watch, onFirst: () => void): Promise<void> {
    let lease = await this.#turn(id, watch);
    for (let round = 0; !this.#closed && lease !== undefined; round += 1) {
      watch.again = false;
      const nextMs = this.#pauseAfter(round);
      const fit = await this.#check(id, lease, watch, { failedBefore: Math.max(round - 1, 0), nextMs });
      onFirst();
      if (fit && !watch.again) break;
      if (!fit) this.#repeated.add(id);
      // While an instance that does not reach the chain has the lease, no other one could find the relayer fit or drive
      // its lane.
      if (this.#reach.isLost(id) && this.#reach.isShared) await lease.release();
      await watch.pause.last(fit ? 0 : nextMs);
      lease = await this.#turn(id, watch);
    }
    // The waiter for the first check need not wait until the lease is given back.
    onFirst();
    await lease?.release();
  }

  /**
   * From one repetition to the next. Thousands of relayers that became unfit at the same time are not checked again at
   * the same time, and take only a part of the main loop.
   */
  #pauseAfter(round: number): number {
    const { timing, random } = this.#deps;
    const usual = timing.recheckMs[Math.min(round, timing.recheckMs.length - 1)] ?? 0;
    return Math.floor(Math.max(usual, this.#repeated.size * RECHECK_SPACING_MS) * (1 + random() / 2));
  }

  /** Waits for the relayer's lease; undefined when another instance found the relayer fit, or all is to end. */
  async #turn(id: string, watch: Watch): Promise<HeldLease | undefined> {
    const { leases, log, timing, random } = this.#deps;
    for (let round = 1; !this.#closed; round += 1) {
      try {
        // An instance that does not reach the chain takes the lease for a moment only.
        if (this.#reach.isDoubted(id)) leases.askAgain(leaseOf(id));
        const lease = await leases.hold(leaseOf(id));
        if (lease !== undefined || (await this.#isFit(id))) return lease;
      } catch (error) {
        log.error({ err: error, relayer: id }, 'relayer check failed');
      }
      const pause = backOff(round, timing, random);
      // The other instance may be gone by the end of its lease.
      const left = leases.elsewhereMs(leaseOf(id));
      await watch.pause.last(left > 0 ? Math.min(pause, Math.max(left, timing.retryMs)) : pause);
    }
    return undefined;
  }

  /** Whether the checks of another instance found the relayer fit. */
  async #isFit(id: string): Promise<boolean> {
    const { read } = this.#deps.store;
    const relayer = await read.relayer(id);
    if (relayer === undefined) return true;
    // The holder of the lease may not reach the chain. A check from here may then find something else.
    if (this.#reach.isDoubted(id)) return false;
    if (this.#contacts.contactOf(relayer)?.servedAt == null) return false;
    const pinned = await read.chainIdentity(relayer.networkType, relayer.network);
    return relayer.disabledReason === null && pinned !== undefined;
  }

  /** @returns true when there is no reason to check again */
  async #check(id: string, lease: HeldLease, watch: Watch, round: Round): Promise<boolean> {
    const { store, log, metrics } = this.#deps;
    try {
      const relayer = await store.read.relayer(id);
      if (relayer === undefined) {
        this.#reach.found(id);
        return true;
      }
      const findings = await this.#findingsOf(relayer, watch);
      if (findings === undefined) return false;
      const { failures } = findings;
      await this.#pin(relayer, findings, lease);
      if (!(await this.#isForOthers(relayer, findings))) {
        await this.#settling.take(() => this.#settle(relayer, failures, lease, round));
      }
      metrics.count('relayer_checks', { relayer_id: id, result: failures.length === 0 ? 'passed' : 'failed' });
      return failures.length === 0;
    } catch (error) {
      if (error instanceof LeaseLost) await lease.release();
      else log.error({ err: error, relayer: id }, 'relayer check failed');
      return false;
    }
  }

  /**
   * Returns what the checks find; undefined when the service or the relayer ended before that was certain. A relayer
   * must be found unfit {@link MAX_CHECKS} times in a row: one odd answer or a short interruption must not disable it. The
   * start waits for the first check, so before the first contact the pauses are shorter.
   */
  async #findingsOf(relayer: Relayer, watch: Watch): Promise<RelayerFindings | undefined> {
    let findings = await this.#checks.all(relayer);
    const { confirmMs } = this.#deps.timing;
    const pauseMs = findings.pinned === undefined ? confirmMs / 4 : confirmMs;
    for (let check = 1; check < MAX_CHECKS; check += 1) {
      const isCertain = findings.failures.length === 0 || findings.isSilence === true;
      if (isCertain || relayer.disabledReason !== null) break;
      await watch.pause.last(pauseMs);
      const current = this.#closed ? undefined : await this.#deps.store.read.relayer(relayer.id);
      if (current === undefined) return undefined;
      findings = await this.#checks.all(current);
    }
    return findings;
  }

  /** Whether the checks failed only because this instance does not reach the chain, and another one may reach it. */
  async #isForOthers(relayer: Relayer, { failures, pinned }: RelayerFindings): Promise<boolean> {
    const { id, network, networkType, address } = relayer;
    const [first] = failures;
    if (first === undefined || failures.some(({ isFact }) => isFact === true)) {
      this.#reach.found(id);
      return false;
    }
    if (await this.#reach.lost(id, { network, cause: first.cause })) return false;
    this.#deps.log.warn({ relayer: id, network, cause: first.cause }, 'chain not reached, left to other instances');
    if (pinned !== undefined) await this.#giveAway(laneKey(networkType, pinned, address), relayer);
    return true;
  }

  async #giveAway(lane: string, { networkType, address }: Relayer): Promise<void> {
    const { read } = this.#deps.store;
    const sharing: string[] = [];
    for (const { id, network } of await read.relayersWith({ networkType, address })) {
      const identity = await read.chainIdentity(networkType, network);
      if (identity !== undefined && laneKey(networkType, identity, address) === lane) sharing.push(id);
    }
    this.#away.set(lane, sharing);
    if (this.isAway(lane)) this.#deps.onGiveAway?.(lane);
  }

  /**
   * The first contact with a network pins its chain: endpoints that later serve another one are refused. A development
   * chain that was started anew is pinned anew.
   */
  async #pin(
    { networkType, network }: Relayer,
    { identity, pinned }: RelayerFindings,
    lease: HeldLease,
  ): Promise<void> {
    if (identity === null || identity === pinned) return;
    await lease.write(async (writer) => {
      if (pinned !== undefined) await writer.unpinChainIdentity(networkType, network, pinned);
      await writer.pinChainIdentity(networkType, network, identity);
    });
    if (pinned !== undefined) this.#deps.log.warn({ network, was: pinned, is: identity }, 'the chain was reset');
  }

  async #settle(
    { id, network }: Relayer,
    failures: readonly CheckFailure[],
    lease: HeldLease,
    { failedBefore, nextMs }: Round,
  ): Promise<void> {
    const { store, log, outbox } = this.#deps;
    const reason = disabledReasonOf(failures, (await store.now()) + nextMs);
    const before = await lease.write(async (writer) => {
      const relayer = await writer.relayer(id);
      if (relayer === undefined || (relayer.disabledReason === null && reason === null)) return undefined;
      const changed = { ...relayer, disabledReason: reason };
      await writer.putRelayer(changed);
      const wasDisabled = isDisabledByCheck(relayer.disabledReason);
      if (reason === null && wasDisabled) await outbox.relayerEnabled(writer, changed, failedBefore);
      if (reason !== null && !wasDisabled) await outbox.relayerDisabled(writer, changed, reason);
      return { wasDisabled };
    });
    outbox.committed();
    if (reason !== null && before?.wasDisabled === false) store.hints.send({ topic: 'relayer', id });
    if (reason !== null) {
      const causes = failures.map(({ type, cause }) => `${type}: ${cause}`);
      const isNews = before?.wasDisabled !== true;
      log.warn({ relayer: id, network, causes }, isNews ? 'relayer disabled' : 'relayer still disabled');
    } else if (before?.wasDisabled === true) {
      log.info({ relayer: id, network }, 'relayer enabled');
    }
  }

  async #atMost(milliseconds: number, done: Promise<unknown>): Promise<void> {
    const pause = new EndablePause();
    this.#pauses.add(pause);
    void done.then(() => pause.end());
    await pause.last(milliseconds);
    this.#pauses.delete(pause);
  }
}

function leaseOf(relayerId: string): string {
  return `relayer:${relayerId}`;
}

export interface EndpointContactWatchDeps {
  store: Pick<Store, 'read'>;
  contacts: EndpointContacts;
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
export class EndpointContactWatch {
  readonly #deps: EndpointContactWatchDeps;
  readonly #stop: () => void;
  readonly #pause = new EndablePause();
  /** Functions that match relayers whose contact has changed since the last look. */
  #changed: ((relayer: RelayerEndpoints) => boolean)[] = [];
  #following: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(deps: EndpointContactWatchDeps) {
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
      log.error({ err: error }, 'a change of an endpoint’s health could not be handled');
    }
  }
}
