import type { CallerSignal, Clock, PluginVersion } from '../contract.ts';
import type { SandboxProcess, SandboxProcesses } from './sandbox-processes.ts';

/** A call that asks for a place. */
export interface QueuedCall {
  readonly pluginId: string;
  /**
   * The version to run. It is asked for again when a place is free, because the plugin may have been edited during the
   * wait.
   */
  version(): PluginVersion;
  /** Latest moment to begin, on the clock's `elapsed`. */
  readonly waitUntil: number;
  /** Aborted when the caller no longer waits for the call. */
  readonly signal: CallerSignal;
}

/** A place in a child, to be given back with {@link CallQueues.leave}. */
export interface ChildSeat {
  child: SandboxProcess;
  version: PluginVersion;
}

/** Why a call got no place. */
export type NoSeatReason = 'queue-full' | 'waited-too-long' | 'canceled' | 'backed-off' | 'closed';

interface Waiting {
  applicant: QueuedCall;
  settle(result: ChildSeat | NoSeatReason): void;
}

/** The most waiting calls of one plugin. */
const QUEUE_LENGTH = 1000;

/** A child with this many running calls is busy: its plugin gets another child if it may. */
const BUSY = 4;

/**
 * Decides which call runs where and when. Each plugin has its own queue, so a full or slow queue never delays the calls
 * of another plugin.
 */
export class CallQueues {
  private readonly children: SandboxProcesses;
  private readonly clock: Clock;
  private readonly queues = new Map<string, Waiting[]>();
  private readonly running = new Map<string, number>();
  private closed = false;
  private readonly ending = Promise.withResolvers<void>();

  constructor(children: SandboxProcesses, clock: Clock) {
    this.children = children;
    this.clock = clock;
  }

  get isClosed(): boolean {
    return this.closed;
  }

  /** Resolves when all calls are refused from now on. */
  get closing(): Promise<void> {
    return this.ending.promise;
  }

  get queued(): number {
    let count = 0;
    for (const queue of this.queues.values()) count += queue.length;
    return count;
  }

  /** The calls of one plugin. */
  load(pluginId: string): { running: number; queued: number } {
    return { running: this.running.get(pluginId) ?? 0, queued: this.queues.get(pluginId)?.length ?? 0 };
  }

  /** Returns a place at once when one is free. Otherwise the promise resolves with a place or the reason for none. */
  enter(applicant: QueuedCall): ChildSeat | Promise<ChildSeat | NoSeatReason> {
    const queue = this.queues.get(applicant.pluginId);
    const seat = queue === undefined && !this.closed ? this.seat(applicant) : undefined;
    return seat ?? this.wait(applicant, queue ?? []);
  }

  /** Gives a place back, once for each seat. `lost`: the child died or refused the call. */
  leave({ child }: ChildSeat, lost = false): void {
    const { pluginId } = child;
    const left = (this.running.get(pluginId) ?? 1) - 1;
    if (left === 0) this.running.delete(pluginId);
    else this.running.set(pluginId, left);
    this.children.leave(child, lost);
    if (this.queues.size > 0) this.pump();
  }

  /** Gives free places to waiting calls, plugin by plugin, and asks for the children that are missing. */
  pump(): void {
    let short = 0;
    for (const [pluginId, queue] of this.queues) {
      for (let first = queue[0]; first !== undefined; first = queue[0]) {
        const seat = this.seat(first.applicant);
        if (seat === undefined) break;
        queue.shift();
        first.settle(seat);
      }
      const next = queue[0];
      if (next === undefined) this.queues.delete(pluginId);
      else if (!this.isFull(next.applicant.version()) && !this.children.provide(next.applicant.version())) short++;
    }
    this.children.fill(short);
  }

  /** Refuses the calls that have waited too long. */
  tick(): void {
    const now = this.clock.elapsed();
    for (const queue of [...this.queues.values()]) {
      for (const waiting of queue.filter(({ applicant }) => applicant.waitUntil <= now)) {
        waiting.settle('waited-too-long');
      }
    }
  }

  /** Refuses the waiting calls of a plugin that is backed off. */
  sendAway(pluginId: string): void {
    for (const waiting of [...(this.queues.get(pluginId) ?? [])]) waiting.settle('backed-off');
  }

  /** Refuses all waiting calls, and all calls from now on. */
  close(): void {
    this.closed = true;
    this.ending.resolve();
    for (const queue of [...this.queues.values()]) for (const waiting of [...queue]) waiting.settle('closed');
  }

  private seat(applicant: QueuedCall): ChildSeat | undefined {
    const version = applicant.version();
    if (this.isFull(version)) return undefined;
    const child = this.children.best(version);
    if (child === undefined) return undefined;
    if (child.running >= BUSY) this.children.grow(version);
    this.children.enter(child);
    this.running.set(version.pluginId, (this.running.get(version.pluginId) ?? 0) + 1);
    return { child, version };
  }

  private isFull({ pluginId, limits }: PluginVersion): boolean {
    return (this.running.get(pluginId) ?? 0) >= limits.concurrency;
  }

  private wait(applicant: QueuedCall, queue: Waiting[]): Promise<ChildSeat | NoSeatReason> {
    const { pluginId, signal } = applicant;
    if (this.closed) return Promise.resolve('closed');
    if (signal.aborted) return Promise.resolve('canceled');
    if (queue.length >= QUEUE_LENGTH) return Promise.resolve('queue-full');
    return new Promise((resolve) => {
      const cancel = () => waiting.settle('canceled');
      const waiting: Waiting = {
        applicant,
        settle: (result) => {
          signal.removeEventListener('abort', cancel);
          this.remove(pluginId, waiting);
          resolve(result);
        },
      };
      signal.addEventListener('abort', cancel, { once: true });
      queue.push(waiting);
      this.queues.set(pluginId, queue);
      this.pump();
    });
  }

  private remove(pluginId: string, waiting: Waiting): void {
    const queue = this.queues.get(pluginId);
    const at = queue?.indexOf(waiting) ?? -1;
    if (at >= 0) queue?.splice(at, 1);
    if (queue?.length === 0) this.queues.delete(pluginId);
  }
}
