import { closeSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Log } from '../observability/log.ts';

const KEY_BYTES = 32;
const FILE = 'storage-key';
/** The permission bits of group and others. */
const NOT_THE_OWNER = 0o077;

export interface StorageKeyOptions {
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
