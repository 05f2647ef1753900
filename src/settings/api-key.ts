import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MIN_KEY_LENGTH } from './environment.ts';
import { fileErrorCode } from './json-file.ts';
import { ConfigurationError } from './problems.ts';

/** The key that callers present. */
export interface MasterApiKey {
  key: string;
  /** The file that holds the key; null: the key is from the environment. */
  file: string | null;
  /** Whether this start created the key. */
  isNew: boolean;
}

/**
 * Returns the key from the environment, or else from `<dataDir>/api-key`. If the file does not exist, creates it,
 * readable by its owner only.
 * @throws ConfigurationError when the file cannot be read or written, or holds something else
 */
export async function openMasterApiKey(
  given: string | undefined,
  dataDir: string,
  random = randomBytes,
): Promise<MasterApiKey> {
  if (given !== undefined) return { key: given, file: null, isNew: false };
  const file = join(dataDir, 'api-key');
  try {
    const known = await readKey(file);
    if (known !== undefined) return { key: known, file, isNew: false };
    return { key: await makeKey(dataDir, file, random), file, isNew: true };
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw problemWith(file, `cannot be read or made (${fileErrorCode(error)})`);
  }
}

async function readKey(file: string): Promise<string | undefined> {
  let text: string;
  try {
    text = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (fileErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  if (text.length < MIN_KEY_LENGTH || !/^[\x21-\x7e]+$/.test(text)) {
    throw problemWith(file, `does not hold a key of at least ${MIN_KEY_LENGTH} visible characters`);
  }
  // Copying the folder may have made the file readable by others.
  if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, 0o600);
  return text;
}

async function makeKey(dataDir: string, file: string, random: (size: number) => Buffer): Promise<string> {
  const key = random(32).toString('hex');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // `wx`: if two processes start at once, the second fails and does not overwrite the first one's key.
  await writeFile(file, `${key}\n`, { mode: 0o600, flag: 'wx' });
  return key;
}

function problemWith(file: string, message: string): ConfigurationError {
  return new ConfigurationError([{ file, path: '', message, advice: 'Delete it to have one made, or set API_KEY' }]);
}
