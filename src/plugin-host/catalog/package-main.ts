import { readFile, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';

/** The largest `package.json` that is read, in bytes. */
const MAX_BYTES = 262_144;
const ENDS = ['', '.ts', '.js', '.mjs', '.cjs', '/index.ts', '/index.js'];

/**
 * The file that the `package.json` of a plugin's folder names as its `main`, relative to that folder.
 * @param folder absolute
 * @returns undefined when no such file exists
 */
export async function packageMain(folder: string): Promise<string | undefined> {
  const main = await mainOf(join(folder, 'package.json'));
  if (main === undefined) return undefined;
  const path = posix.join('.', main);
  if (path.startsWith('../')) return undefined;
  for (const end of ENDS) if (await isFile(join(folder, path + end))) return path + end;
  return undefined;
}

async function mainOf(file: string): Promise<string | undefined> {
  try {
    const facts = await stat(file);
    if (!facts.isFile() || facts.size > MAX_BYTES) return undefined;
    const { main } = JSON.parse(await readFile(file, 'utf8')) as { main?: unknown };
    return typeof main === 'string' && main !== '' ? main : undefined;
  } catch {
    return undefined;
  }
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (facts) => facts.isFile(),
    () => false,
  );
}
