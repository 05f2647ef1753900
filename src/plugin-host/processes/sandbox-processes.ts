import type {
  Confinement,
  Death,
  DriverMessage,
  HostMessage,
  LoadFailure,
  PluginVersion,
} from '../../../sandbox/protocol.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../observability/log.ts';
import { hasRoom, isIdle, newSandboxProcess, type SandboxProcess } from './sandbox-process.ts';

export interface SandboxProcessesDeps {
  threads: () => readonly number[];
  /** Called when each thread has a child: one more thread could take the next. */
  moreThreads: () => void;
  post: (thread: number, message: HostMessage) => void;
  clock: Clock;
  log: Log;
  /** All children together, the spare among them. */
  maxProcesses: number;
  /** How long a child without a call is kept, in ms. */
  idleMs: number;
}

export interface SandboxProcessesEvents {
  /** Something may be possible now that was not before. */
  changed(): void;
  spawned(child: SandboxProcess): void;
  /**
   * A child has loaded a version, or could not.
   * @returns whether its calls are to meet that version; else it goes on with the one before
   */
  loaded(child: SandboxProcess, version: string, failure: LoadFailure | null): boolean;
  /** The child is being killed, or is dead; comes before its calls end, and once. */
  dying(child: SandboxProcess, death: Death): void;
  /** `watched` is false when the child's driver thread ended: nobody has killed it then. */
  gone(child: SandboxProcess, closed: Closed, watched: boolean): void;
}

export type Closed = Extract<DriverMessage, { type: 'closed' }>;

/** How long a module that failed to evaluate is taken at its word, in ms. */
const RELOAD_MS = 5000;

/** How long a child must have been idle to be ended for the sake of a spare, in ms. */
const SPARE_MS = 5000;

/** Pauses between attempts while children do not start, in ms: doubling from the first to the last. */
const RETRY_FIRST_MS = 250;
const RETRY_LAST_MS = 5000;

/**
 * The child processes: who has which, when one is opened, loaded, ended. One spare is kept ready; at the cap the idle
 * child that was used least recently gives way.
 */
export class SandboxProcesses {
  private readonly deps: SandboxProcessesDeps;
  private readonly events: SandboxProcessesEvents;
  private readonly all = new Map<number, SandboxProcess>();
  private readonly owned = new Map<string, SandboxProcess[]>();
  private lastId = 0;
  private failedStarts = 0;
  private startFailure = '';
  private retryAt = 0;
  private closed = false;
  private emptied: (() => void) | undefined;
  /** What the operating system grants the children, as the latest one found. */
  confinement: Confinement | undefined;

  constructor(deps: SandboxProcessesDeps, events: SandboxProcessesEvents) {
    this.deps = deps;
    this.events = events;
  }

  get size(): number {
    return this.all.size;
  }

  list(): IterableIterator<SandboxProcess> {
    return this.all.values();
  }

  /** True once a child is ready, or the first attempts to start one have failed. */
  get settled(): boolean {
    return this.failedStarts > 0 || this.hasReady();
  }

  /** Why no child starts, while that is so and none that is ready is left; a single attempt may fail. */
  get stuck(): string | null {
    return this.failedStarts < 2 || this.hasReady() ? null : this.startFailure;
  }

  private hasReady(): boolean {
    return this.count(({ state }) => state === 'spare' || state === 'owned') > 0;
  }

  /** The plugin's least busy child that may take a call of this version now. */
  best(version: PluginVersion): SandboxProcess | undefined {
    let best: SandboxProcess | undefined;
    for (const child of this.of(version.pluginId)) {
      if (hasRoom(child, version) && (best === undefined || child.running < best.running)) best = child;
    }
    return best;
  }

  enter(child: SandboxProcess): void {
    child.running++;
  }

  /** `lost`: the call's end says that the child is dying, though it may be a while until `closed` says so. */
  leave(child: SandboxProcess, lost: boolean): void {
    child.running--;
    if (lost) child.draining = true;
    if (child.running === 0) child.idleSince = this.deps.clock.elapsed();
    if (child.draining && isIdle(child)) this.end(child, 'gives way to another plugin');
  }

  /**
   * Sees to it that a child will be able to take a call of this version.
   * @returns false when that takes a process which is not there yet: see {@link fill}
   */
  provide(version: PluginVersion): boolean {
    const mine = this.of(version.pluginId).filter(({ draining }) => !draining);
    if (mine.some(({ loading }) => loading === version.version)) return true;
    const stale = mine.filter((child) => child.version !== version.version);
    for (const child of stale) if (child.loading === undefined) this.load(child, version);
    if (stale.length > 0 || mine.length >= version.limits.processes) return true;
    if (mine.length > 0 && !this.hasSecondFree()) return true;
    for (const child of this.all.values()) {
      if (child.state !== 'spare') continue;
      this.own(child, version);
      return true;
    }
    return false;
  }

  /** Has the plugin's children load a version while they serve another; false when there are none. */
  tryOut(version: PluginVersion): boolean {
    const mine = this.of(version.pluginId).filter(({ draining }) => !draining);
    for (const child of mine) this.load(child, version);
    return mine.length > 0;
  }

  /** Gives a busy plugin one more child if one is to be had without taking it from others. */
  grow(version: PluginVersion): void {
    if (this.of(version.pluginId).length < version.limits.processes && this.provide(version)) this.fill(0);
  }

  /** Nobody's second child is the last free one: its calls may hold it for as long as they like. */
  private hasSecondFree(): boolean {
    if (this.all.size < this.deps.maxProcesses) return true;
    return this.count(({ state }) => state === 'opening' || state === 'spare') > 1;
  }

  /**
   * Opens a child for each of the `short` plugins, as far as the cap lets, or a spare when there are none: beside it
   * those that somebody waits for would start more slowly.
   */
  fill(short: number): void {
    if (this.closed || this.deps.clock.elapsed() < this.retryAt) return;
    let free = this.count(({ state }) => state === 'opening' || state === 'spare');
    const wanted = Math.max(short, 1);
    while (free < wanted && this.all.size < this.deps.maxProcesses && this.open()) free++;
    const onTheWay = free + this.count(({ state, draining }) => state === 'closing' || draining);
    for (let missing = short - onTheWay; missing > 0; missing--) if (!this.giveWay()) return;
  }

  /** Ends what has been idle for long, and lets what failed to load or to start be tried again. */
  tick(): void {
    const now = this.deps.clock.elapsed();
    let spares = 0;
    for (const child of this.all.values()) {
      // Others are left over where nobody waited any more when they were ready.
      if (child.state === 'spare' && ++spares > 1 && child.idleSince <= now - this.deps.idleMs) this.end(child, 'idle');
      if (!isIdle(child)) continue;
      if (child.idleSince <= now - this.deps.idleMs) this.end(child, 'idle');
      // A module that took too long on a busy machine would otherwise be broken for as long as it is called.
      else if (child.failedAt !== undefined && child.failedAt <= now - RELOAD_MS) child.version = undefined;
    }
    if (this.all.size >= this.deps.maxProcesses && this.count(({ state }) => state !== 'owned') === 0) {
      const quiet = this.longestIdle();
      if (quiet !== undefined && quiet.idleSince <= now - SPARE_MS) this.end(quiet, 'makes room for a spare');
    }
    this.events.changed();
  }

  /** Takes in what a driver thread says of a child. Capability requests are the gateway's. */
  handle(message: Exclude<DriverMessage, { type: 'request' }>): void {
    const child = this.all.get(message.child);
    if (child === undefined) return;
    switch (message.type) {
      case 'spawned':
        child.pids = message.pids;
        this.confinement = message.confinement;
        this.events.spawned(child);
        return;
      case 'ready':
        this.failedStarts = 0;
        if (child.state === 'opening') child.state = 'spare';
        break;
      case 'loaded':
        if (child.loading === message.message.version) child.loading = undefined;
        if (!this.events.loaded(child, message.message.version, message.message.failure)) break;
        child.version = message.message.version;
        child.isolateBytes = message.message.isolate_bytes;
        child.failedAt = message.message.failure === null ? undefined : this.deps.clock.elapsed();
        break;
      case 'meter':
        child.rssBytes = message.rss_bytes;
        child.isolates = message.isolates;
        break;
      case 'dying':
        this.die(child, message);
        break;
      case 'closed':
        this.remove(child, message, true);
        break;
      default:
        throw new Error(`Unknown message ${JSON.stringify(message satisfies never)}`);
    }
    this.events.changed();
  }

  /** The children of a thread that ended: nobody watches them any more. */
  threadLost(thread: number): void {
    for (const child of [...this.all.values()].filter((one) => one.thread === thread)) {
      const detail = 'its driver thread ended';
      this.remove(child, { type: 'closed', child: child.id, cause: 'died', detail, culprit: 0, stderr: '' }, false);
    }
    this.events.changed();
  }

  /** Ends every child; resolves when the last one is gone. */
  async closeAll(): Promise<void> {
    this.closed = true;
    if (this.all.size === 0) return;
    const gone = new Promise<void>((resolve) => {
      this.emptied = resolve;
    });
    for (const child of this.all.values()) this.end(child, 'the server stops');
    await gone;
  }

  private of(pluginId: string): SandboxProcess[] {
    return this.owned.get(pluginId) ?? [];
  }

  private count(matches: (child: SandboxProcess) => boolean): number {
    let count = 0;
    for (const child of this.all.values()) if (matches(child)) count++;
    return count;
  }

  private open(): boolean {
    const [thread, held] = this.quietestThread() ?? [];
    if (thread === undefined) return false;
    if (held !== 0) this.deps.moreThreads();
    const child = newSandboxProcess(++this.lastId, thread, this.deps.clock.elapsed());
    this.all.set(child.id, child);
    this.deps.post(thread, { type: 'open', child: child.id });
    return true;
  }

  /** With the number of its children. */
  private quietestThread(): [number, number] | undefined {
    const load = new Map(this.deps.threads().map((thread) => [thread, 0]));
    for (const { thread } of this.all.values()) {
      const known = load.get(thread);
      if (known !== undefined) load.set(thread, known + 1);
    }
    return [...load].sort(([, a], [, b]) => a - b)[0];
  }

  private own(child: SandboxProcess, version: PluginVersion): void {
    child.state = 'owned';
    child.pluginId = version.pluginId;
    child.idleSince = this.deps.clock.elapsed();
    this.owned.set(version.pluginId, [...this.of(version.pluginId), child]);
    this.load(child, version);
  }

  private load(child: SandboxProcess, version: PluginVersion): void {
    child.loading = version.version;
    this.deps.post(child.thread, { type: 'load', child: child.id, version });
  }

  /** Makes the child that is missed least free for another plugin, or keeps one from taking more calls. */
  private giveWay(): boolean {
    const idle = this.longestIdle();
    if (idle !== undefined) {
      this.end(idle, 'gives way to another plugin');
      return true;
    }
    for (const children of this.owned.values()) {
      const surplus = children.at(-1);
      if (surplus === undefined || children.length < 2 || children.some(({ draining }) => draining)) continue;
      surplus.draining = true;
      return true;
    }
    return false;
  }

  private longestIdle(): SandboxProcess | undefined {
    return [...this.all.values()].filter(isIdle).sort((a, b) => a.idleSince - b.idleSince)[0];
  }

  private end(child: SandboxProcess, reason: string): void {
    if (child.state === 'closing') return;
    this.disown(child);
    child.state = 'closing';
    this.deps.post(child.thread, { type: 'close', child: child.id, reason });
  }

  private disown(child: SandboxProcess): void {
    const others = this.of(child.pluginId).filter((other) => other !== child);
    if (others.length === 0) this.owned.delete(child.pluginId);
    else this.owned.set(child.pluginId, others);
  }

  private remove(child: SandboxProcess, closed: Closed, watched: boolean): void {
    this.all.delete(child.id);
    this.disown(child);
    if (child.state === 'opening' && closed.cause !== 'closed') this.startFailed(closed);
    child.state = 'closing';
    if (watched) this.die(child, closed);
    this.events.gone(child, closed, watched);
    if (this.all.size === 0) this.emptied?.();
  }

  private die(child: SandboxProcess, death: Death): void {
    if (child.dying) return;
    child.dying = true;
    child.draining = true;
    this.events.dying(child, death);
  }

  private startFailed({ detail, stderr }: Closed): void {
    const pause = Math.min(RETRY_FIRST_MS * 2 ** this.failedStarts, RETRY_LAST_MS);
    this.failedStarts++;
    this.startFailure = [detail, stderr.trim().split('\n').at(-1)].filter(Boolean).join(': ');
    this.retryAt = this.deps.clock.elapsed() + pause;
    this.deps.log.error({ detail, stderr, retryInMs: pause }, 'a sandbox process did not start');
  }
}
