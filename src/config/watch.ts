import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

export interface WatchOptions {
  /** Files that the service read at its start; one need not exist. */
  files: readonly string[];
  /** A folder whose JSON files it read; need not exist. */
  folder: string;
  /** Told once of each change: the files that are not what they were at the start. */
  onChange(files: string[]): void;
  everyMs?: number;
}

const EVERY_MS = 5_000;

/**
 * Compares files with what they were now and then, which finds changes on every file system and by every editor.
 * @returns what ends it; safe to call twice
 */
export function watchConfiguration({ files, folder, onChange, everyMs = EVERY_MS }: WatchOptions): () => void {
  const first = digests(files, folder);
  let told = '';
  const look = async () => {
    const [before, now] = await Promise.all([first, digests(files, folder)]);
    const changed = [...new Set([...before.keys(), ...now.keys()])].filter(
      (path) => before.get(path) !== now.get(path),
    );
    const state = JSON.stringify(changed.map((path) => [path, now.get(path)]));
    if (changed.length > 0 && state !== told) onChange(changed.toSorted());
    told = state;
  };
  // One that cannot be read now is looked at the next time.
  const timer = setInterval(() => void look().catch(() => undefined), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Each file that is there, with a digest of its content: a file may hold secrets, which are not kept for this. */
async function digests(files: readonly string[], folder: string): Promise<Map<string, string>> {
  const names = await readdir(folder).catch(() => []);
  const inside = names.filter((name) => /\.json$/i.test(name)).map((name) => join(folder, name));
  const found = new Map<string, string>();
  for (const path of [...files, ...inside].map((one) => resolve(one))) {
    const content = await readFile(path).catch(() => undefined);
    if (content !== undefined) found.set(path, createHash('sha256').update(content).digest('hex'));
  }
  return found;
}
