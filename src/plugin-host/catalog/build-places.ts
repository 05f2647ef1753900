import { inTime } from '../../domain/in-time.ts';

/** Limits how much work is done at once. Work that takes long gives its place to the next, and goes on. */
export class BuildPlaces {
  private readonly patienceMs: number;
  private readonly waiting: (() => void)[] = [];
  private free: number;

  /** @param patienceMs how long work may keep its place */
  constructor(places: number, patienceMs: number) {
    this.free = places;
    this.patienceMs = patienceMs;
  }

  /**
   * Does the work once there is a place for it.
   * @returns the rest of the work when it has given up its place; undefined when the work has ended
   */
  async take(work: () => Promise<void>): Promise<{ rest: Promise<void> } | undefined> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      const rest = work();
      const hasEnded = await inTime(
        this.patienceMs,
        rest.then(() => true),
      );
      return hasEnded === true ? undefined : { rest };
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.free += 1;
      else next();
    }
  }
}
