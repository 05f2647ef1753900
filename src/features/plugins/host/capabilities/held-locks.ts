import { FIXED_LIMITS } from '../../../../../sandbox/contract.ts';
import type { KvLock } from '../../records/kv.ts';

/** The locks that one plugin call holds. All of them are released when the call ends, however it ends. */
export class HeldLocks {
  /** The locks by their fences, each with the function that releases it. */
  readonly #held = new Map<number, { lock: KvLock; release: () => void }>();
  #ended = false;

  /** True when the call may take no further lock. */
  get full(): boolean {
    return this.#held.size >= FIXED_LIMITS.locks;
  }

  get all(): readonly KvLock[] {
    if (this.#held.size === 0) return NONE;
    return [...this.#held.values()].map(({ lock }) => lock);
  }

  /** Notes a lock that was taken. A lock that comes after the call's end is released at once. */
  hold(lock: KvLock, release: () => void): void {
    if (this.#ended) release();
    else this.#held.set(lock.fence, { lock, release });
  }

  /** Forgets a lock that is about to be released. Undefined when the call does not hold it. */
  letGo(fence: number): { lock: KvLock; release: () => void } | undefined {
    const held = this.#held.get(fence);
    this.#held.delete(fence);
    return held;
  }

  /** Keeps a lock under the fence by which the guest knows it from an earlier run. */
  rename(fence: number, known: number): void {
    const held = this.letGo(fence);
    if (held !== undefined) this.#held.set(known, held);
  }

  /** Releases all locks. Safe to call twice. */
  end(): void {
    this.#ended = true;
    for (const { release } of this.#held.values()) release();
    this.#held.clear();
  }
}

const NONE: readonly KvLock[] = [];
