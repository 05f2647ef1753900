import { invalidRequest } from '../../domain/errors.ts';
import { NO_CURSOR } from '../paging.ts';
import { createSealing } from './cursor-sealing.ts';

/**
 * Places in a list that only grows, as clients see them. A list that is a part of one that all share counts what happens
 * to everybody, so its places are sealed.
 */
export interface PlaceCursors {
  cursorOf(place: number): string;
  /** @throws AppError `INVALID_REQUEST` for what was never a cursor */
  placeOf(cursor: string): number;
}

/** @param keys those of all instances: the first seals, all open */
export function createPlaceCursors(
  keys: readonly Uint8Array[],
  randomBytes: (size: number) => Uint8Array,
): PlaceCursors {
  const sealing = createSealing(keys, randomBytes, 'isolayer places of deliveries');
  return {
    cursorOf(place) {
      const plain = Buffer.alloc(8);
      plain.writeBigUInt64BE(BigInt(place));
      return sealing.seal(plain);
    },

    placeOf(cursor) {
      const plain = sealing.open(cursor);
      if (plain === undefined) throw invalidRequest(`cursor: ${NO_CURSOR}`);
      return Number(plain.readBigUInt64BE());
    },
  };
}
