import type { EventPlace } from '../../domain/transaction/transaction-event.ts';
import { createSealing } from '../cursors/cursor-sealing.ts';

/**
 * How far a client has read: among the transactions, which are those of all instances, and among the calls of one
 * instance.
 */
export interface Cursor {
  transactions: EventPlace;
  /** The instance, 8 hexadecimal digits, and the position among its calls. */
  calls: { of: string; place: number };
}

/**
 * Turns cursors into event ids. Positions count the events of all keys, so the ids are sealed. A client cannot tell how
 * many events its key may not see, and cannot forge a position.
 */
export interface CursorIds {
  /** Returns a different id each time. */
  idOf(cursor: Cursor): string;
  /** Returns undefined for a text that is not an event id. */
  cursorOf(id: string): Cursor | undefined;
}

/** Three positions and an instance. The length is constant, so it reveals nothing. */
const PLAIN_BYTES = 3 * 8 + 4;

/** @param keys the keys of all instances: the first seals, all open */
export function createCursorIds(keys: readonly Uint8Array[], randomBytes: (size: number) => Uint8Array): CursorIds {
  const sealing = createSealing(keys, randomBytes, 'isolayer ids of events');
  return {
    idOf: (cursor) => sealing.seal(plainOf(cursor)),
    cursorOf(id) {
      const plain = sealing.open(id);
      return plain === undefined ? undefined : cursorIn(plain);
    },
  };
}

function plainOf({ transactions, calls }: Cursor): Buffer {
  const plain = Buffer.alloc(PLAIN_BYTES);
  plain.writeBigUInt64BE(BigInt(transactions.written), 0);
  plain.writeBigUInt64BE(BigInt(transactions.position), 8);
  plain.writeBigUInt64BE(BigInt(calls.place), 16);
  plain.write(calls.of, 24, 'hex');
  return plain;
}

function cursorIn(plain: Buffer): Cursor {
  const numberAt = (at: number) => Number(plain.readBigUInt64BE(at));
  return {
    transactions: { written: numberAt(0), position: numberAt(8) },
    calls: { of: plain.toString('hex', 24), place: numberAt(16) },
  };
}
