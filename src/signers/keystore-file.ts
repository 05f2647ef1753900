import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { KeyFault } from './held-key.ts';
import { keyInClear } from './key-in-clear.ts';
import { KeystoreError, openKeystore } from './keystore.ts';

/** The longest file that is read, in bytes. Keystores have a few hundred. */
const MAX_FILE = 65_536;

/**
 * Opens a keystore file and returns its 32 bytes.
 * @throws KeyFault that names the file and the cause, and shows nothing of its content
 */
export async function openKeystoreFile(path: string, passphrase: Uint8Array): Promise<Buffer> {
  return await readKeystoreFile(path, (text) => openKeystore(text, passphrase));
}

/** Reads a keystore file, and returns what `use` makes of its text. Needs no passphrase. */
export async function readKeystoreFile<T>(path: string, use: (text: string) => T | Promise<T>): Promise<T> {
  try {
    return await use(await readKeystore(path));
  } catch (cause) {
    throw new KeyFault(reasonOf(cause, path), { cause });
  }
}

async function readKeystore(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(MAX_FILE + 1);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    if (bytesRead > MAX_FILE) throw new KeystoreError('format', `it is longer than ${MAX_FILE} bytes`);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

function reasonOf(error: unknown, path: string): string {
  if (error instanceof KeystoreError && error.kind === 'passphrase') {
    return `the passphrase does not open keystore ${path} (${error.message})`;
  }
  if (error instanceof KeystoreError && error.kind === 'clear') {
    return `${path} is no keystore: ${error.message}; put the key under a passphrase with \`npm run isolayer -- keystore import <another file>\` and delete this one`;
  }
  if (error instanceof KeystoreError) return `keystore ${path} cannot be read: ${error.message}`;
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'ENOENT') {
    const clear = keyInClear(basename(path));
    if (clear !== undefined) return `the path of the keystore is ${clear}; it has to be that of a file`;
    return `there is no keystore at ${path}; make one with \`npm run isolayer -- keystore new ${path}\``;
  }
  return `keystore ${path} cannot be read${typeof code === 'string' ? ` (${code})` : ''}`;
}
