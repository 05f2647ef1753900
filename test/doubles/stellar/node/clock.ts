/** The time of the network, which tests may move on. */
export class Clock {
  #ahead = 0n;

  /** Unix seconds. */
  now(): bigint {
    return BigInt(Math.floor(Date.now() / 1000)) + this.#ahead;
  }

  travel(seconds: bigint): void {
    this.#ahead += seconds;
  }
}
