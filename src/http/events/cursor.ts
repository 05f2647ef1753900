import type { EventPlace } from '../../domain/transaction/transaction-event.ts';
import { createSealing } from '../cursors/cursor-sealing.ts';

/** Up to where a client has read: of transactions, which all instances tell of, and of the calls of one instance. */
export interface Cursor {
  transactions: EventPlace;
  /** The instance, 8 hexadecimal digits, and the place among its calls. */
  calls: { of: string; place: number };
}

/**
 * Cursors as the ids of events. Places count what happens to everybody, so a client sees them sealed: it cannot tell how
 * much happened that its key may not see, and cannot make up a place.
 */
export interface CursorIds {
  /** Another one each time. */
  idOf(cursor: Cursor): string;
  /** Undefined for what was never an id of an event. */
  cursorOf(id: string): Cursor | undefined;
}

/** Three places and an instance, always as long: its length tells nothing. */
const PLAIN_BYTES = 3 * 8 + 4;

/** @param keys those of all instances: the first seals, all open */
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
