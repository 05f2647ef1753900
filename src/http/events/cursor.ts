import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { EventPlace } from '../../domain/transaction/transaction-event.ts';

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

const SALT_BYTES = 16;
const TAG_BYTES = 16;
/** Three places and an instance, always as long: its length tells nothing. */
const PLAIN_BYTES = 3 * 8 + 4;
const ID = /^[\w-]{80}$/;
/** Each key seals one id only. */
const NONCE = Buffer.alloc(12);

/**
 * Ids in base64url: salt, ciphertext and tag of AES-256-GCM, under a key that HKDF (RFC 5869) makes of the salt.
 * @param keys those of all instances: the first seals, all open
 */
export function createCursorIds(keys: readonly Uint8Array[], randomBytes: (size: number) => Uint8Array): CursorIds {
  const [sealing] = keys;
  if (sealing === undefined) throw new RangeError('Sealing needs a key');
  return {
    idOf(cursor) {
      const salt = randomBytes(SALT_BYTES);
      const cipher = createCipheriv('aes-256-gcm', keyOf(sealing, salt), NONCE, { authTagLength: TAG_BYTES });
      const sealed = cipher.update(plainOf(cursor));
      return Buffer.concat([salt, sealed, cipher.final(), cipher.getAuthTag()]).toString('base64url');
    },

    cursorOf(id) {
      if (!ID.test(id)) return undefined;
      const bytes = Buffer.from(id, 'base64url');
      const salt = bytes.subarray(0, SALT_BYTES);
      for (const key of keys) {
        const plain = opened(bytes, keyOf(key, salt));
        if (plain !== undefined) return cursorIn(plain);
      }
      return undefined;
    },
  };
}

function keyOf(key: Uint8Array, salt: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, salt, 'isolayer ids of events', 32));
}

function opened(bytes: Buffer, key: Uint8Array): Buffer | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, NONCE, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const plain = decipher.update(bytes.subarray(SALT_BYTES, -TAG_BYTES));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    return undefined;
  }
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
