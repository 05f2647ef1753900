import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';

/** Encrypts small values for clients. A sealed value reveals nothing, differs each time, and cannot be forged. */
export interface Sealing {
  /** The length of the result depends on the length of the input. */
  seal(plain: Uint8Array): string;
  /** Returns undefined for a text that was not sealed for this purpose. */
  open(sealed: string): Buffer | undefined;
}

const SALT_BYTES = 16;
const TAG_BYTES = 16;
/** The IV may be constant, because each key encrypts one value only. */
const IV = Buffer.alloc(12);

/**
 * The sealed text is base64url of salt, ciphertext and tag of AES-256-GCM. HKDF (RFC 5869) derives the key from the
 * salt.
 * @param keys the keys of all instances: the first seals, all open
 * @param purpose a text sealed for one purpose cannot be opened for another
 */
export function createSealing(
  keys: readonly Uint8Array[],
  randomBytes: (size: number) => Uint8Array,
  purpose: string,
): Sealing {
  const [sealing] = keys;
  if (sealing === undefined) throw new RangeError('Sealing needs a key');
  const keyOf = (key: Uint8Array, salt: Uint8Array) => new Uint8Array(hkdfSync('sha256', key, salt, purpose, 32));
  return {
    seal(plain) {
      const salt = randomBytes(SALT_BYTES);
      const cipher = createCipheriv('aes-256-gcm', keyOf(sealing, salt), IV, { authTagLength: TAG_BYTES });
      const sealed = cipher.update(plain);
      return Buffer.concat([salt, sealed, cipher.final(), cipher.getAuthTag()]).toString('base64url');
    },

    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64url');
      // Refuses other spellings of the same bytes.
      if (bytes.length < SALT_BYTES + TAG_BYTES || bytes.toString('base64url') !== sealed) return undefined;
      const salt = bytes.subarray(0, SALT_BYTES);
      for (const key of keys) {
        const plain = opened(bytes, keyOf(key, salt));
        if (plain !== undefined) return plain;
      }
      return undefined;
    },
  };
}

function opened(bytes: Buffer, key: Uint8Array): Buffer | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, IV, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const plain = decipher.update(bytes.subarray(SALT_BYTES, -TAG_BYTES));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    return undefined;
  }
}
