/** How many times less often the pool is asked while no block takes a transaction of the lane. */
const STANDSTILL = 5;

/**
 * When the lane's transactions were last taken by a block, and when a node was last asked which of them its pool has.
 * Times are of a clock that never goes back, in milliseconds.
 */
export class PoolWatch {
  #movedAt: number | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #hasRoom = false;

  /** A block took a transaction of the lane, which makes room in the pool. */
  moved(elapsed: number): void {
    this.#movedAt = elapsed;
    this.#hasRoom = true;
  }

  /** How long nothing of the lane has got into a block; undefined while nothing ever did. */
  standsFor(elapsed: number): number | undefined {
    return this.#movedAt === undefined ? undefined : elapsed - this.#movedAt;
  }

  /** Whether to ask a node now: soon after a block has made room, and otherwise less often. */
  isDue(elapsed: number, poolMs: number): boolean {
    const waited = elapsed - this.#askedAt;
    return waited >= poolMs && (this.#hasRoom || waited >= STANDSTILL * poolMs);
  }

  /** A node is asked now. Returns whether a block has made room since the last time. */
  ask(elapsed: number): boolean {
    const hadRoom = this.#hasRoom;
    this.#askedAt = elapsed;
    this.#hasRoom = false;
    return hadRoom;
  }
}
