import type { Clock } from '../../../domain/clock.ts';

/** The height that a node must have reached to be asked about what another node has already shown. */
export interface HeadFloor {
  /** The floor. It is below every block while nothing was seen lately. */
  height(): bigint;
  /** Notes a block in which a node has shown a transaction of ours. */
  raise(block: bigint): void;
}

/**
 * How long a sighting keeps the floor. Nodes of one network lag by seconds. With more time, a node that lied about its
 * height could rule out all others.
 */
const IN_FORCE_MS = 30_000;

/** The floor of a chain on which nothing was ever seen. */
export const NO_FLOOR: HeadFloor = { height: () => -1n, raise() {} };

/** Makes a floor that each sighting raises. It is given up after half a minute without a sighting. */
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
