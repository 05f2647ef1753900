import type { ChildDeath, Clock, Confinement, LoadFailure, Log, PluginVersion } from '../contract.ts';
import type { ChildNews } from './child/child-supervisor.ts';
import type { ChildOrder } from './child/children.ts';

export interface SandboxProcessesDeps {
  threads: () => readonly number[];
  /** Called when a child is opened and each thread has one already. Another thread could take the next child. */
  moreThreads: () => void;
  post: (thread: number, message: ChildOrder) => void;
  clock: Clock;
  log: Log;
  /** The most children, including the spare. */
  maxProcesses: number;
  /** How long a child without a call is kept, in ms. */
  idleMs: number;
}

export interface SandboxProcessesEvents {
  /** A child has changed, so calls that wait may get a place now. */
  changed(): void;
  spawned(child: SandboxProcess): void;
  /**
   * A child has loaded a version, or could not.
   * @returns whether the child's calls use that version; otherwise they use the one before
   */
  loaded(child: SandboxProcess, version: string, failure: LoadFailure | null): boolean;
  /** The child is being killed, or is dead. Called once, before the child's calls end. */
  dying(child: SandboxProcess, death: ChildDeath): void;
  /** The child is gone. `watched` is false when its driver thread ended: then nothing has killed the child yet. */
  gone(child: SandboxProcess, closed: ProcessClosedMessage, watched: boolean): void;
}

export type ProcessClosedMessage = Extract<ChildNews, { type: 'closed' }>;

/** How long after a failed evaluation a module is loaded again, in ms. */
const RELOAD_MS = 5000;

/** How long a child must be idle before it may be ended to make room for a spare, in ms. */
const SPARE_MS = 5000;

/** Pauses between attempts while children do not start, in ms. The pause doubles from the first value to the last. */
const RETRY_FIRST_MS = 250;
const RETRY_LAST_MS = 5000;

/**
 * Opens, loads and ends the child processes, and gives them to plugins. Keeps one spare ready. At the limit, ends the
 * idle child that was used least recently.
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
  /** How the operating system confines the children, as the latest child reported. */
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

  /** Why no child starts. Null when a child is ready, or when only one attempt has failed. */
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
      if (hasRoomForCall(child, version) && (best === undefined || child.running < best.running)) best = child;
    }
    return best;
  }

  enter(child: SandboxProcess): void {
    child.running++;
  }

  /**
   * Takes a call off the child. `lost`: the call's end says that the child is dying, and `closed` may come much later.
   */
  leave(child: SandboxProcess, lost: boolean): void {
    child.running--;
    if (lost) child.draining = true;
    if (child.running === 0) child.idleSince = this.deps.clock.elapsed();
    if (child.draining && isIdle(child)) this.end(child, 'gives way to another plugin');
  }

  /**
   * Makes sure that a child will be able to take a call of this version.
   * @returns false when that needs a process that does not exist yet: see {@link fill}
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

  /** Makes the plugin's children load a version while they serve another. False when there are no children. */
  tryOut(version: PluginVersion): boolean {
    const mine = this.of(version.pluginId).filter(({ draining }) => !draining);
    for (const child of mine) this.load(child, version);
    return mine.length > 0;
  }

  /** Gives a busy plugin one more child, but takes none from another plugin. */
  grow(version: PluginVersion): void {
    if (this.of(version.pluginId).length < version.limits.processes && this.provide(version)) this.fill(0);
  }

  /**
   * Whether a plugin may have a second child. It never gets the last free one, because its calls may hold it for any
   * length of time.
   */
  private hasSecondFree(): boolean {
    if (this.all.size < this.deps.maxProcesses) return true;
    return this.count(({ state }) => state === 'opening' || state === 'spare') > 1;
  }

  /**
   * Opens a child for each of the `short` plugins, up to the limit. When `short` is 0, opens a spare. A spare would
   * slow the start of children that calls wait for.
   */
  fill(short: number): void {
    if (this.closed || this.deps.clock.elapsed() < this.retryAt) return;
    let free = this.count(({ state }) => state === 'opening' || state === 'spare');
    const wanted = Math.max(short, 1);
    while (free < wanted && this.all.size < this.deps.maxProcesses && this.open()) free++;
    const onTheWay = free + this.count(({ state, draining }) => state === 'closing' || draining);
    for (let missing = short - onTheWay; missing > 0; missing--) if (!this.giveWay()) return;
  }

  /** Ends children that have been idle for long. Lets failed loads and failed starts be tried again. */
  tick(): void {
    const now = this.deps.clock.elapsed();
    let spares = 0;
    for (const child of this.all.values()) {
      // More than one spare is left when calls stopped waiting before their child was ready.
      if (child.state === 'spare' && ++spares > 1 && child.idleSince <= now - this.deps.idleMs) this.end(child, 'idle');
      if (!isIdle(child)) continue;
      if (child.idleSince <= now - this.deps.idleMs) this.end(child, 'idle');
      // Loads the module again: it may have been too slow only because the machine was busy. Otherwise it would stay
      // broken for as long as it is called.
      else if (child.failedAt !== undefined && child.failedAt <= now - RELOAD_MS) child.version = undefined;
    }
    if (this.all.size >= this.deps.maxProcesses && this.count(({ state }) => state !== 'owned') === 0) {
      const quiet = this.longestIdle();
      if (quiet !== undefined && quiet.idleSince <= now - SPARE_MS) this.end(quiet, 'makes room for a spare');
    }
    this.events.changed();
  }

  /** Handles what a driver thread reports of a child. The gateway handles capability requests. */
  handle(message: Exclude<ChildNews, { type: 'request' }>): void {
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

  /** Removes the children of a thread that ended, because nothing watches them any more. */
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

  /** The thread with the fewest children, and how many it has. */
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

  /**
   * Frees a process for another plugin: ends the child that has been idle longest. When no child is idle, stops a
   * plugin's surplus child from taking more calls.
   */
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

  private remove(child: SandboxProcess, closed: ProcessClosedMessage, watched: boolean): void {
    this.all.delete(child.id);
    this.disown(child);
    if (child.state === 'opening' && closed.cause !== 'closed') this.startFailed(closed);
    child.state = 'closing';
    if (watched) this.die(child, closed);
    this.events.gone(child, closed, watched);
    if (this.all.size === 0) this.emptied?.();
  }

  private die(child: SandboxProcess, death: ChildDeath): void {
    if (child.dying) return;
    child.dying = true;
    child.draining = true;
    this.events.dying(child, death);
  }

  private startFailed({ detail, stderr }: ProcessClosedMessage): void {
    const pause = Math.min(RETRY_FIRST_MS * 2 ** this.failedStarts, RETRY_LAST_MS);
    this.failedStarts++;
    this.startFailure = [detail, stderr.trim().split('\n').at(-1)].filter(Boolean).join(': ');
    this.retryAt = this.deps.clock.elapsed() + pause;
    this.deps.log.error({ detail, stderr, retryInMs: pause }, 'a sandbox process did not start');
  }
}

/** One child process as the host sees it. An `id` is never used again. */
export interface SandboxProcess {
  readonly id: number;
  /** The driver thread that owns the child. */
  readonly thread: number;
  /**
   * `opening`: it starts, without a plugin. `spare`: ready for any plugin. `owned`: it belongs to one plugin until it
   * ends. `closing`: it ends.
   */
  state: 'opening' | 'spare' | 'owned' | 'closing';
  /** Empty until owned. */
  pluginId: string;
  /** The version that new calls may run; the child keeps an older one only for the calls that have begun. */
  version: string | undefined;
  /** Measured size of one isolate of that version, in bytes. */
  isolateBytes: number;
  /** When that version's module failed to evaluate, on the clock's `elapsed`; absent when it did not fail. */
  failedAt: number | undefined;
  /** The version that the child is evaluating. */
  loading: string | undefined;
  running: number;
  /** Takes no more calls: it is dying, or another plugin gets the process. */
  draining: boolean;
  dying: boolean;
  /** Its memory in bytes, as last metered. */
  rssBytes: number;
  isolates: number;
  pids: readonly number[];
  /** When it last had no call, on the clock's `elapsed`. */
  idleSince: number;
}

export function newSandboxProcess(id: number, thread: number, now: number): SandboxProcess {
  return {
    id,
    thread,
    state: 'opening',
    pluginId: '',
    version: undefined,
    isolateBytes: 0,
    failedAt: undefined,
    loading: undefined,
    running: 0,
    draining: false,
    dying: false,
    rssBytes: 0,
    isolates: 0,
    pids: [],
    idleSince: now,
  };
}

/**
 * How much of its memory limit a child may fill with new isolates. The rest is a reserve, because memory is measured
 * only now and then.
 */
const FILLED = 15 / 16;
/** How much an isolate grows in a call that works in it, as a part of its size when it was new. */
const GROWTH = 1 / 6;

/**
 * Whether the child may take one more call of this version. Its measured memory, the isolate that the call may need and
 * the growth of all isolates must stay well below the plugin's `process_mb`. A child without a call always may take
 * one: otherwise the plugin could never run.
 */
export function hasRoomForCall(child: SandboxProcess, version: PluginVersion): boolean {
  if (child.state !== 'owned' || child.draining || child.version !== version.version) return false;
  if (child.running === 0) return true;
  const newIsolates = Math.max(0, child.running + 1 - child.isolates);
  const mostBytes = version.limits.process_mb * 1_048_576;
  if (newIsolates === 0) return child.rssBytes <= mostBytes;
  const bytes = isolateBytes(child);
  return child.rssBytes + newIsolates * bytes + (child.running + 1) * bytes * GROWTH <= mostBytes * FILLED;
}

/**
 * The size of one isolate of the child. A new isolate still has garbage from its start. So in a child with many
 * isolates, the child's memory divided by their number is the better figure.
 */
function isolateBytes({ isolateBytes, isolates, rssBytes }: SandboxProcess): number {
  return isolates > 0 && rssBytes > 0 ? Math.min(isolateBytes, rssBytes / isolates) : isolateBytes;
}

/** Whether the child can be ended without harm to a call or to a load. */
export function isIdle(child: SandboxProcess): boolean {
  return child.state === 'owned' && child.running === 0 && child.loading === undefined;
}
