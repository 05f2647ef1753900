/** So many times as long the pool is left alone while no block takes anything of the lane. */
const STANDSTILL = 5;

/**
 * When the lane's transactions were last taken by a block, and when a node was last asked which of them its pool has.
 * Times are of a clock that never goes back, in milliseconds.
 */
export class PoolWatch {
  #movedAt: number | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #hasRoom = false;

  /** A block took something of the lane: so much room there is in the pool. */
  moved(elapsed: number): void {
    this.#movedAt = elapsed;
    this.#hasRoom = true;
  }

  /** How long nothing of the lane has got into a block; undefined while nothing ever did. */
  standsFor(elapsed: number): number | undefined {
    return this.#movedAt === undefined ? undefined : elapsed - this.#movedAt;
  }

  /** Whether a node is to be asked now: when a block has made room, and else more rarely. */
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
