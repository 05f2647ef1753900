import type { Chain } from '../chains/chain.ts';
import type { ChainConnections, EndpointContacts } from '../chains/rpc-connections.ts';
import type { Clock } from '../domain/clock.ts';
import { EndablePause } from '../domain/endable-pause.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { Relayer } from '../features/relayers/records/relayer.ts';
import type { Timestamp } from '../features/transactions/records/transaction.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Signer } from '../signers/signer.ts';
import type { Hint } from '../store/instances.ts';
import type { Store } from '../store/store.ts';
import { ChangeFeed } from './change-feed.ts';
import type { Engine } from './engine.ts';
import type { ParkedTransaction } from './lane/broadcast-history.ts';
import { Lane, type LaneDeps, type LaneWake } from './lane/lane.ts';
import type { CrashPoint } from './lane/lane-step.ts';
import { TransactionLedger } from './lane/ledger.ts';
import { type LaneOrigin, OldCalls } from './lane/restored-lane.ts';
import { type HeldLease, LeaseRegistry } from './lease-registry.ts';
import { RelayerHealth, type RelayerHealthDeps } from './relayers/relayer-health.ts';
import type { UnreachedRelayer } from './relayers/unreached-chains.ts';
import { SwapRounds } from './swap-rounds.ts';
import { defaultTiming, type EngineTiming } from './timing.ts';
import type { Outbox } from './webhooks/outbox.ts';

export interface EngineDeps {
  store: Store;
  chains: ReadonlyMap<NetworkType, Chain>;
  connections: ChainConnections;
  /** How the endpoints answer; absent where they are not watched. */
  contacts?: EndpointContacts | undefined;
  signerOf(relayer: Relayer): Promise<Signer>;
  keyFault?: RelayerHealthDeps['keyFault'];
  log: Log;
  metrics: Metrics;
  /** Takes the events that webhooks tell. */
  outbox: Outbox;
  clock: Clock;
  /** In [0, 1), for jitter. */
  random(): number;
  /** A new id (`domain/id.ts`), for transactions that the engine itself makes. */
  newId(): string;
  timing?: EngineTiming | undefined;
  /** Called at each moment of a transaction's life. */
  onCheckpoint?: ((step: CrashPoint) => void) | undefined;
}

/** How long a free lane is left to the instance whose share it is in, in milliseconds. */
const LEFT_MS = 1_000;

/**
 * The engine: one lane for each account with work, and a sweeper that finds the work in the store. Instances on one
 * store share the lanes by leases. Each takes the free lanes that have work, and gives back those without work.
 */
export function createEngine(deps: EngineDeps): Engine {
  return new Scheduler(deps);
}

class Scheduler implements Engine {
  readonly #store: Store;
  readonly #log: Log;
  readonly #timing: EngineTiming;
  readonly #feed: ChangeFeed;
  readonly #leases: LeaseRegistry;
  readonly #health: RelayerHealth;
  readonly #swaps: SwapRounds;
  readonly #laneDeps: LaneDeps;
  readonly #lanes = new Map<string, Lane>();
  /** How this instance last began each lane, or how it found its lease at the start. */
  readonly #origins = new Map<string, Pick<LaneOrigin, 'upTo' | 'oldCalls'> & { token: number }>();
  readonly #pause = new EndablePause();
  /** Free lanes that are left to other instances, and since when. */
  readonly #left = new Map<string, number>();
  /** Wakes each lane when it knows that something is due. */
  readonly #alarms = new Map<string, NodeJS.Timeout>();
  /** The last lane that the present search has looked at. */
  #searched = '';
  /** The place of the last transaction that was accepted before the start. */
  #acceptedBefore = 0;
  /** When that was; null if there were no calls then that could act again. */
  #startedAt: Timestamp | null = null;
  #stopListening: () => void = () => {};
  #sweeping: Promise<void> | null = null;
  #closing: Promise<void> | null = null;
  #closed = false;

  constructor(deps: EngineDeps) {
    const { store, chains, connections, signerOf, log, metrics, outbox, clock, random } = deps;
    const { newId, timing = defaultTiming, onCheckpoint = () => {} } = deps;
    this.#store = store;
    this.#log = log;
    this.#timing = timing;
    this.#feed = new ChangeFeed(
      (error) => log.error({ err: error }, 'change listener failed'),
      (id) => store.hints.send({ topic: 'transaction', id }),
    );
    const elapsed = () => clock.elapsed();
    const leases = new LeaseRegistry({ store, elapsed, log });
    this.#leases = leases;
    this.#health = new RelayerHealth({
      store,
      leases,
      chains,
      connections,
      log,
      metrics,
      outbox,
      timing,
      onGiveAway: (lane) => this.#giveAway(lane),
      contacts: deps.contacts,
      keyFault: deps.keyFault,
      elapsed,
      random,
    });
    this.#swaps = new SwapRounds({
      store,
      leases,
      chains,
      connections,
      newId,
      timing,
      random,
      log,
      onSwap: (lane) => this.wake(lane),
    });
    this.#laneDeps = {
      store,
      origin: (lease, isDoubted) => this.#originOf(lease, isDoubted),
      sources: { store, chains, connections, signerOf, recheck: (relayerId) => this.recheck(relayerId) },
      leases,
      ledgerUnder: (lease, onDoubt) =>
        new TransactionLedger(lease, { feed: this.#feed, metrics, outbox, chains, log, onDoubt }),
      timing,
      random,
      log,
      elapsed,
      newId,
      onCheckpoint,
      onFault: (networkType) => metrics.count('lane_faults', { network_type: networkType }),
    };
  }

  async start(): Promise<void> {
    if (this.#closed || this.#sweeping !== null) return;
    const upTo = await this.#store.read.latestAcceptance();
    const now = await this.#store.now();
    this.#acceptedBefore = upTo;
    // After the operator's word that the service did not run since the copy was made, no call has sent anything then.
    const { release } = await this.#store.read.history();
    this.#startedAt = release === null && (await this.#hasCalls()) ? now : null;
    // Where another instance has a lane now, it may sign what is accepted after this.
    for (const [name, token] of await this.#store.read.expiredLeases(now)) {
      this.#origins.set(name, { token, upTo, oldCalls: this.#oldCallsOf(this.#startedAt) });
    }
    if (this.#closed) return;
    this.#stopListening = this.#store.hints.listen((heard) => this.#onHint(heard));
    this.#sweeping = this.#sweep();
    await this.#health.start();
    this.#swaps.start();
  }

  wake(key: string): void {
    this.#feed.notifyAny();
    if (this.#closed || this.#sweeping === null) return;
    void this.#drive(key).then((outcome) => {
      if (outcome === 'elsewhere') this.#store.hints.send({ topic: 'lane', id: key });
    });
  }

  recheck(relayerId: string): void {
    this.#health.recheck(relayerId);
    this.#store.hints.send({ topic: 'relayer', id: relayerId });
  }

  onChange(transactionId: string, listener: () => void): () => void {
    return this.#feed.on(transactionId, listener);
  }

  onNews(listener: () => void): () => void {
    return this.#feed.onAny(listener);
  }

  parked(): ParkedTransaction[] {
    return [...this.#lanes.values()].flatMap((lane) => lane.parked);
  }

  unreached(): UnreachedRelayer[] {
    return this.#health.unreached;
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#closed = true;
    this.#stopListening();
    this.#pause.end();
    for (const alarm of this.#alarms.values()) clearTimeout(alarm);
    const { watched } = this.#health;
    const lanes = [...this.#lanes.values()].map((lane) => lane.close());
    const ended = Promise.all([this.#sweeping, this.#health.close(), this.#swaps.close(), ...lanes]);
    const patience = new EndablePause();
    void ended.then(() => patience.end());
    await patience.last(this.#timing.closeMs);
    await this.#leases.close();
    // Other instances wait for these leases to end. The leases are free now.
    for (const key of this.#lanes.keys()) this.#store.hints.send({ topic: 'lane', id: key });
    for (const id of watched) this.#store.hints.send({ topic: 'relayer', id });
  }

  #onHint(heard: Hint | 'missed'): void {
    if (heard === 'missed') {
      this.#feed.notifyAny();
      this.#searched = '';
      this.#pause.end();
    } else if (heard.topic === 'transaction') {
      this.#feed.notifyHere(heard.id);
    } else if (heard.topic === 'relayer') {
      this.#health.recheckWatched(heard.id);
    } else if (heard.topic === 'lane') {
      this.#feed.notifyAny();
      this.#leases.askAgain(heard.id);
      void this.#drive(heard.id);
    }
  }

  /**
   * What is old in a lane. Nothing puts the store of a single process back while it runs, so that is what was accepted
   * before the start. Instances share a database that can lose its last commits at any time, when a standby takes over.
   * So there it is all that a lane finds when it comes from an instance that had it since the start, or after a commit
   * in doubt. What was accepted since the start in a lane that nobody had in between was sent by nobody.
   */
  async #originOf({ name, token }: HeldLease, isDoubted: boolean): Promise<LaneOrigin | undefined> {
    const { read, leases } = this.#store;
    const isAlone = !Number.isFinite(leases.lastsMs);
    if (isAlone && isDoubted) return undefined;
    const known = this.#origins.get(name);
    const atStart = known ?? { token: 0, upTo: this.#acceptedBefore, oldCalls: this.#oldCallsOf(this.#startedAt) };
    const isUntouched = isAlone || (!isDoubted && atStart.token === token - 1);
    const now = await this.#store.now();
    const found = async () => ({
      upTo: await read.latestAcceptance(),
      oldCalls: this.#oldCallsOf((await this.#hasCalls()) ? now : null),
    });
    const { upTo, oldCalls } = isUntouched ? atStart : await found();
    this.#origins.set(name, { token, upTo, oldCalls });
    const { release } = await read.history();
    const isInForce = release?.endsAt != null && now < release.endsAt;
    return { upTo, oldCalls, release: isInForce ? release : null };
  }

  #oldCallsOf(startedAt: Timestamp | null): OldCalls | null {
    return startedAt === null ? null : new OldCalls(startedAt);
  }

  /** Whether there are durable calls that go on, or triggers that make some. */
  async #hasCalls(): Promise<boolean> {
    const { read } = this.#store;
    const [calls, triggers] = await Promise.all([read.openCalls(), read.triggers()]);
    return triggers.length + Object.keys(calls).length > 0;
  }

  /** Runs a lane, and again when it is due. */
  async #drive(key: string): Promise<LaneWake> {
    if (this.#closed) return 'not now';
    if (this.#health.isAway(key)) return 'elsewhere';
    const lane = this.#lanes.get(key) ?? new Lane(key, this.#laneDeps);
    this.#lanes.set(key, lane);
    const outcome = await lane.wake();
    this.#setAlarm(key);
    return outcome;
  }

  #setAlarm(key: string): void {
    clearTimeout(this.#alarms.get(key));
    this.#alarms.delete(key);
    const lane = this.#lanes.get(key);
    const wait = lane === undefined ? Number.POSITIVE_INFINITY : lane.dueAt - this.#laneDeps.elapsed();
    // A lane that waits for longer is given back before that, and a search finds it.
    if (this.#closed || wait > this.#timing.idleMs) return;
    this.#alarms.set(
      key,
      setTimeout(() => void this.#drive(key), Math.max(wait, 0)),
    );
  }

  async #sweep(): Promise<void> {
    while (!this.#closed) {
      await this.#pause.last(await this.#search());
    }
  }

  /**
   * Searches the store for lanes with work that nobody does: those of instances that are gone, and those of which a
   * hint was lost. @returns how long the next search may wait, in milliseconds
   */
  async #search(): Promise<number> {
    const { sweepMs, sweepFloorMs } = this.#timing;
    try {
      this.#releaseIdleLanes();
      const { lanes, upTo = '' } = await this.#store.read.dueLanes(await this.#store.now(), this.#searched);
      this.#searched = upTo;
      const wanted = lanes.filter((lane) => !this.#health.isAway(lane) && !this.#isLeft(lane));
      // Asked for at once, so that the store takes them together.
      await Promise.all(wanted.map((lane) => this.#leases.hold(lane)));
      for (const lane of wanted) if (this.#leases.has(lane)) void this.#drive(lane);
      if (upTo !== '') return sweepFloorMs;
      this.#forgetLeft();
      return Math.max(
        Math.min(sweepMs, this.#leases.freeAgainMs, this.#left.size > 0 ? LEFT_MS : sweepMs),
        sweepFloorMs,
      );
    } catch (error) {
      this.#log.error({ err: error }, 'sweep failed');
      return sweepMs;
    }
  }

  /** Whether to leave a free lane to the instance whose share it is in. It is not left for long. */
  #isLeft(lane: string): boolean {
    const { instances } = this.#store;
    const isFree = !this.#leases.has(lane) && this.#leases.elsewhereMs(lane) === 0;
    const now = this.#laneDeps.elapsed();
    const since = this.#left.get(lane) ?? now;
    if (instances === null || !isFree || instances.isOurs(lane) || now - since >= LEFT_MS) {
      this.#left.delete(lane);
      return false;
    }
    this.#left.set(lane, since);
    return true;
  }

  /** Forgets lanes that were left and have had no more work since. */
  #forgetLeft(): void {
    const before = this.#laneDeps.elapsed() - this.#timing.idleMs;
    for (const [lane, since] of this.#left) if (since < before) this.#left.delete(lane);
  }

  /** Gives back the lane's lease, which ends what the lane has under way, and tells other instances that it is free. */
  #giveAway(key: string): void {
    const lane = this.#lanes.get(key);
    this.#lanes.delete(key);
    this.#setAlarm(key);
    this.#log.warn({ lane: key }, 'lane given away');
    void (lane?.release() ?? Promise.resolve()).then(() => this.#store.hints.send({ topic: 'lane', id: key }));
  }

  /** Gives back idle lanes, so that other instances may take them. A lane that is woken later is taken again. */
  #releaseIdleLanes(): void {
    const idleBefore = this.#laneDeps.elapsed() - this.#timing.idleMs;
    for (const [key, lane] of this.#lanes) {
      if (lane.idleSince === null || lane.idleSince > idleBefore) continue;
      this.#lanes.delete(key);
      this.#setAlarm(key);
      void lane.release();
    }
  }
}
