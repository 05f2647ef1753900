import { invalidRequest } from '../../domain/errors.ts';
import { NO_CURSOR } from '../paging.ts';
import { createSealing } from './cursor-sealing.ts';

/**
 * Turns positions in a list that only grows into cursors for clients. Positions count the rows of all keys, so they are
 * sealed: a client that sees a part of the list must not learn how much others do.
 */
export interface PlaceCursors {
  cursorOf(place: number): string;
  /** @throws AppError `INVALID_REQUEST` for a text that is not a cursor */
  placeOf(cursor: string): number;
}

/** @param keys the keys of all instances: the first seals, all open */
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
