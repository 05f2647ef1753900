import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { invalidRequest } from '../domain/errors.ts';
import type { EventPlace } from '../features/transactions/records/transaction-event.ts';
import { NO_CURSOR } from './paging.ts';

/*
 * Positions in lists and event streams count the rows of all keys. What clients get of them is encrypted: a client
 * cannot tell how much others do, and cannot forge a position.
 */

/**
 * How far a client has read: among the transactions, which are those of all instances, and among the calls of one
 * instance.
 */
export interface Cursor {
  transactions: EventPlace;
  /** The instance, 8 hexadecimal digits, and the position among its calls. */
  calls: { of: string; place: number };
}

/** Turns cursors into event ids. */
export interface CursorIds {
  /** Returns a different id each time. */
  idOf(cursor: Cursor): string;
  /** Returns undefined for a text that is not an event id. */
  cursorOf(id: string): Cursor | undefined;
}

/** Three positions and an instance. The length is constant, so it reveals nothing. */
const EVENT_BYTES = 3 * 8 + 4;

/** @param keys the keys of all instances: the first encrypts, all decrypt */
export function createCursorIds(keys: readonly Uint8Array[], randomBytes: RandomBytes): CursorIds {
  const sealing = createSealing(keys, randomBytes, 'isolayer ids of events');
  return {
    idOf({ transactions, calls }) {
      const plain = Buffer.alloc(EVENT_BYTES);
      plain.writeBigUInt64BE(BigInt(transactions.written), 0);
      plain.writeBigUInt64BE(BigInt(transactions.position), 8);
      plain.writeBigUInt64BE(BigInt(calls.place), 16);
      plain.write(calls.of, 24, 'hex');
      return sealing.seal(plain);
    },

    cursorOf(id) {
      const plain = sealing.open(id);
      if (plain === undefined) return undefined;
      const numberAt = (at: number) => Number(plain.readBigUInt64BE(at));
      return {
        transactions: { written: numberAt(0), position: numberAt(8) },
        calls: { of: plain.toString('hex', 24), place: numberAt(16) },
      };
    },
  };
}

/** Turns positions in a list that only grows into cursors. */
export interface PlaceCursors {
  cursorOf(place: number): string;
  /** @throws AppError `INVALID_REQUEST` for a text that is not a cursor */
  placeOf(cursor: string): number;
}

/** @param keys the keys of all instances: the first encrypts, all decrypt */
export function createPlaceCursors(keys: readonly Uint8Array[], randomBytes: RandomBytes): PlaceCursors {
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

type RandomBytes = (size: number) => Uint8Array;

const SALT_BYTES = 16;
const TAG_BYTES = 16;
/** The IV may be constant, because each key encrypts one value only. */
const IV = Buffer.alloc(12);

/**
 * The text is base64url of salt, ciphertext and tag of AES-256-GCM. HKDF (RFC 5869) derives the key from the salt.
 * @param purpose a text of one purpose cannot be opened for another
 */
function createSealing(keys: readonly Uint8Array[], randomBytes: RandomBytes, purpose: string) {
  const [first] = keys;
  if (first === undefined) throw new RangeError('Cursors need a key');
  const keyOf = (key: Uint8Array, salt: Uint8Array) => new Uint8Array(hkdfSync('sha256', key, salt, purpose, 32));
  return {
    seal(plain: Uint8Array): string {
      const salt = randomBytes(SALT_BYTES);
      const cipher = createCipheriv('aes-256-gcm', keyOf(first, salt), IV, { authTagLength: TAG_BYTES });
      const ciphertext = cipher.update(plain);
      return Buffer.concat([salt, ciphertext, cipher.final(), cipher.getAuthTag()]).toString('base64url');
    },

    open(text: string): Buffer | undefined {
      const bytes = Buffer.from(text, 'base64url');
      // Refuses other spellings of the same bytes.
      if (bytes.length < SALT_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) return undefined;
      const salt = bytes.subarray(0, SALT_BYTES);
      for (const key of keys) {
        const decipher = createDecipheriv('aes-256-gcm', keyOf(key, salt), IV, { authTagLength: TAG_BYTES });
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        const plain = decipher.update(bytes.subarray(SALT_BYTES, -TAG_BYTES));
        try {
          return Buffer.concat([plain, decipher.final()]);
        } catch {
          // Encrypted with another key.
        }
      }
      return undefined;
    },
  };
}
