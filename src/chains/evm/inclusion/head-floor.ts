import type { Clock } from '../../../domain/clock.ts';

/** The height that a node must have reached to be asked about what another node has already shown. */
export interface HeadFloor {
  /** Below every block while nothing was seen lately. */
  height(): bigint;
  /** Notes a block in which a node has shown a transaction of ours. */
  raise(block: bigint): void;
}

/** Nodes of one network lag by seconds. Longer in force, one that lied about its height could rule out all others. */
const IN_FORCE_MS = 30_000;

/** Nothing was ever seen. */
export const NO_FLOOR: HeadFloor = { height: () => -1n, raise() {} };

/** A floor that each sighting raises, and that is given up when there was none for half a minute. */
export function createHeadFloor(clock: Clock): HeadFloor {
  let floor = -1n;
  let raisedAt = 0;
  const height = () => (clock.elapsed() - raisedAt < IN_FORCE_MS ? floor : -1n);
  return {
    height,
    raise(block) {
      if (block < height()) return;
      floor = block;
      raisedAt = clock.elapsed();
    },
  };
}
