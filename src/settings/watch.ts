import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** Each existing file, with a digest of its content. Digests are kept because the content may hold secrets. */
export type FileDigests = ReadonlyMap<string, string>;

/** The files of the configuration. */
export interface ConfigurationFiles {
  /** The paths of single files. They need not exist. */
  files: readonly string[];
  /** The folder of network files. It need not exist. */
  folder: string;
}

export interface WatchOptions extends ConfigurationFiles {
  /** The files as they were when the configuration was read. */
  since: FileDigests;
  /** Called once for each change, with the changed files. When it rejects, the next check calls it again. */
  onChange(files: string[]): Promise<void>;
  everyMs?: number;
  /** How long files must stay unchanged before they are read. */
  quietMs?: number;
}

const EVERY_MS = 1000;
const QUIET_MS = 100;

/**
 * How many quiet times a known file may stay missing or empty before that counts as a change. Editors and deployments
 * remove files and put them back.
 */
const PATIENCE = 20;

/**
 * Compares files with their last state at intervals. This finds changes on every file system and by every editor.
 * @returns a function that stops watching, and resolves when a change in progress has been handled; safe to call twice
 */
export function watchConfiguration(options: WatchOptions): () => Promise<void> {
  const { onChange, everyMs = EVERY_MS, quietMs = QUIET_MS } = options;
  let known = options.since;
  let closed = false;
  let looking: Promise<void> | undefined;
  const look = async () => {
    if (differing(known, await digestFiles(options)).length === 0) return;
    const now = await settled(options, known, quietMs, () => closed);
    const changed = differing(known, now);
    if (closed || changed.length === 0) return;
    await onChange(changed);
    known = now;
  };
  const timer = setInterval(() => {
    // A failure is tried again with the next check.
    looking ??= look()
      .catch(() => undefined)
      .finally(() => {
        looking = undefined;
      });
  }, everyMs);
  timer.unref();
  return async () => {
    closed = true;
    clearInterval(timer);
    await looking;
  };
}

export async function digestFiles({ files, folder }: ConfigurationFiles): Promise<FileDigests> {
  const names = await readdir(folder).catch(() => []);
  const inside = names.filter((name) => /^[^.].*\.json$/i.test(name)).map((name) => join(folder, name));
  const found = new Map<string, string>();
  for (const path of [...files, ...inside].map((one) => resolve(one))) {
    const content = await readFile(path).catch(() => undefined);
    if (content !== undefined) found.set(path, digestOf(content));
  }
  return found;
}

/** Waits until the files are no longer being written: two reads are equal, with a quiet time between. */
async function settled(
  files: ConfigurationFiles,
  known: FileDigests,
  quietMs: number,
  isOver: () => boolean,
): Promise<FileDigests> {
  let before = await digestFiles(files);
  for (let missing = 0; !isOver(); ) {
    await new Promise((resolve) => setTimeout(resolve, quietMs));
    const now = await digestFiles(files);
    const isHalf = [...known.keys()].some((path) => (now.get(path) ?? EMPTY) === EMPTY);
    if (isHalf) missing += 1;
    if (differing(before, now).length === 0 && (!isHalf || missing > PATIENCE)) return now;
    before = now;
  }
  return before;
}

function differing(before: FileDigests, now: FileDigests): string[] {
  const all = [...new Set([...before.keys(), ...now.keys()])];
  return all.filter((path) => before.get(path) !== now.get(path)).toSorted();
}

function digestOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

const EMPTY = digestOf(new Uint8Array());
