import { createCipheriv, createDecipheriv, createHash, createSecretKey, type KeyObject } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Kysely } from 'kysely';
import type { Log } from '../observability/log.ts';
import type { Tables } from './schema.ts';

/** The place of a sealed secret. The secret opens in this place only, so records cannot be swapped. */
export interface SealedPlace {
  table: string;
  row: string;
  field: string;
}

/** Seals secrets for the database: AES-256-GCM, in the form `1.<key id>.<base64url of IV, ciphertext and tag>`. */
export interface Sealer {
  /** Seals a secret under the first key. */
  seal(secret: string, place: SealedPlace): string;
  /**
   * Opens a secret with the key that it was sealed under. A text that is no seal is damaged: no secret is stored in clear.
   * @throws UnsealableSecret
   */
  open(sealed: string, place: SealedPlace): string;
  /** What each text begins with that is sealed under the first key. */
  readonly prefix: string;
  /** True when the text does not begin with the prefix. */
  isOutdated(text: string): boolean;
}

/** A secret that no key opens, or that was changed or moved. The error never contains the secret or a key. */
export class UnsealableSecret extends Error {
  readonly reason: 'unknown-key' | 'damaged';

  constructor(reason: UnsealableSecret['reason'], { table, row, field }: SealedPlace, options?: { cause?: unknown }) {
    const why = reason === 'unknown-key' ? 'was sealed with another STORAGE_ENCRYPTION_KEY' : 'is damaged';
    super(`The secret in field ${field} of record ${row} of table ${table} ${why}`, options);
    this.name = 'UnsealableSecret';
    this.reason = reason;
  }
}

/** Stands for a stored address that is damaged. It is never reached (RFC 2606), and says why wherever it is shown. */
export const DAMAGED_URL = 'http://the-stored-address-is-damaged.invalid';

const KEY_BYTES = 32;

/** NIST SP 800-38D, 8.2.2: 96 random bits are good for 2^32 seals under one key. */
const IV_BYTES = 12;

const TAG_BYTES = 16;

const FORM = /^1\.([0-9a-f]{16})\.([A-Za-z0-9_-]+)$/;

/**
 * Makes a sealer from keys of 32 bytes. The first key seals, all keys open. To rotate, put the new key before the old.
 * @throws RangeError on a key of another length
 */
export function createSealer(keys: readonly Uint8Array[], randomBytes: (size: number) => Uint8Array): Sealer {
  const ring = keys.map(toRingKey);
  const [sealing] = ring;
  if (sealing === undefined) throw new RangeError('Sealing needs a key');

  const prefix = `1.${sealing.id}.`;

  return {
    prefix,
    seal(secret, place) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealing.key, iv, { authTagLength: TAG_BYTES });
      cipher.setAAD(boundTo(place));
      const sealed = Buffer.concat([iv, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${prefix}${sealed.toString('base64url')}`;
    },

    open(sealed, place) {
      const [, id, text = ''] = FORM.exec(sealed) ?? [];
      const bytes = Buffer.from(text, 'base64url');
      if (id === undefined || bytes.length < IV_BYTES + TAG_BYTES) throw new UnsealableSecret('damaged', place);
      const named = ring.filter((key) => key.id === id);
      const isKnown = named.length > 0;
      let cause: unknown;
      // An unknown id may itself be damaged. The tag tells whether a key is the right one.
      for (const { key } of isKnown ? named : ring) {
        try {
          const iv = bytes.subarray(0, IV_BYTES);
          const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
          decipher.setAAD(boundTo(place));
          decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
          const secret = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
          return Buffer.concat([secret, decipher.final()]).toString('utf8');
        } catch (error) {
          cause = error;
        }
      }
      throw new UnsealableSecret(isKnown ? 'damaged' : 'unknown-key', place, { cause });
    },

    isOutdated: (text) => !text.startsWith(prefix),
  };
}

/** Makes a key object, which does not show its bytes when it is printed. */
function toRingKey(bytes: Uint8Array): { id: string; key: KeyObject } {
  if (bytes.length !== KEY_BYTES) throw new RangeError(`A sealing key has ${KEY_BYTES} bytes, not ${bytes.length}`);
  const id = createHash('sha256').update('isolayer sealing key id\0').update(bytes).digest('hex').slice(0, 16);
  return { id, key: createSecretKey(bytes) };
}

function boundTo({ table, row, field }: SealedPlace): Buffer {
  return Buffer.from(JSON.stringify([table, row, field]), 'utf8');
}

const CHECK_PLACE: SealedPlace = { table: 'meta', row: 'seal-check', field: 'value' };

const CHECK_TEXT = 'isolayer';

/**
 * Checks that one of the keys sealed this database, by a value that is sealed at its first start.
 * @throws when no key opens the value: the service would otherwise mix secrets under two keys
 */
export async function checkSealingKeys(db: Kysely<Tables>, sealer: Sealer): Promise<void> {
  const stored = await db.selectFrom('meta').select('value').where('key', '=', CHECK_PLACE.row).executeTakeFirst();
  if (stored !== undefined) {
    try {
      sealer.open(stored.value, CHECK_PLACE);
    } catch (cause) {
      throw new Error(
        'STORAGE_ENCRYPTION_KEY (or the file storage-key of the data folder) is not the key that this database was sealed with. Start with that key; to change it, give both, the new one first: <new>,<old>.',
        { cause },
      );
    }
    if (!sealer.isOutdated(stored.value)) return;
  }
  const value = sealer.seal(CHECK_TEXT, CHECK_PLACE);
  await db
    .insertInto('meta')
    .values({ key: CHECK_PLACE.row, value })
    .onConflict((on) => on.column('key').doUpdateSet({ value }))
    .execute();
}

const FILE = 'storage-key';

/** The permission bits of group and others. */
const NOT_THE_OWNER = 0o077;

interface StorageKeyOptions {
  /** Locked by this process (`lock.ts`). */
  dataDir: string;
  /** `STORAGE_ENCRYPTION_KEY`: base64 of 32 bytes; several, the newest first, with commas between. */
  configured: string | undefined;
  randomBytes: (size: number) => Uint8Array;
  log: Log;
}

/**
 * Returns the keys that secrets are sealed with; the first one seals. These are the configured keys, else the one in
 * the file `storage-key` of the data folder. That file is made at the first start and readable by its owner only.
 * @throws when a key is not base64 of 32 bytes; the message never shows the key
 */
export function loadSealingKey({ dataDir, configured, randomBytes, log }: StorageKeyOptions): Uint8Array[] {
  if (configured !== undefined && configured.trim() !== '') {
    return configured.split(',').map((key) => parseKey(key, 'STORAGE_ENCRYPTION_KEY'));
  }
  const path = join(dataDir, FILE);
  const stored = readIfThere(path);
  if (stored !== undefined) {
    if ((statSync(path).mode & NOT_THE_OWNER) !== 0) {
      log.warn({ path: resolve(path) }, 'the storage key can be read by others than its owner; chmod 600 it');
    }
    return [parseKey(stored, resolve(path))];
  }
  const key = randomBytes(KEY_BYTES);
  writeKey(path, Buffer.from(key).toString('base64'));
  log.info({ path: resolve(path) }, 'storage key made');
  return [key];
}

function parseKey(text: string, source: string): Uint8Array {
  const trimmed = text.trim();
  const key = Buffer.from(trimmed, 'base64');
  if (key.length !== KEY_BYTES || key.toString('base64').replace(/=+$/, '') !== trimmed.replace(/=+$/, '')) {
    throw new Error(`${source} must be base64 of ${KEY_BYTES} bytes, as \`openssl rand -base64 ${KEY_BYTES}\` prints`);
  }
  return key;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw new Error(`The storage key ${resolve(path)} cannot be read`, { cause });
  }
}

/** Writes the file whole or not at all: half a key would lock the operator out of every secret. */
function writeKey(path: string, text: string): void {
  const draft = `${path}.new`;
  const file = openSync(draft, 'w', 0o600);
  try {
    writeSync(file, `${text}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
}
