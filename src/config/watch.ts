import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** Each file that is there, with a digest of its content: a file may hold secrets, which are not kept for this. */
export type FileDigests = ReadonlyMap<string, string>;

/** What the configuration is made of. */
export interface ConfigurationFiles {
  /** One need not exist. */
  files: readonly string[];
  /** A folder whose JSON files belong to it; need not exist. */
  folder: string;
}

export interface WatchOptions extends ConfigurationFiles {
  /** The files as they were when the configuration was read. */
  since: FileDigests;
  /** Told of each change once, with the files that it is made of. When it rejects, it is told again with the next look. */
  onChange(files: string[]): Promise<void>;
  everyMs?: number;
  /** How long files have to be as they are before they are read. */
  quietMs?: number;
}

const EVERY_MS = 1000;
const QUIET_MS = 100;

/** So many quiet times a file may be missing or empty that was not: editors and deployments take files away and back. */
const PATIENCE = 20;

/**
 * Compares files with what they were now and then, which finds changes on every file system and by every editor.
 * @returns what ends it, and resolves when the change that is told of has been dealt with; safe to call twice
 */
export function watchConfiguration(options: WatchOptions): () => Promise<void> {
  const { onChange, everyMs = EVERY_MS, quietMs = QUIET_MS } = options;
  let told = options.since;
  let closed = false;
  let looking: Promise<void> | undefined;
  const look = async () => {
    if (differing(told, await digestsOf(options)).length === 0) return;
    const now = await settled(options, told, quietMs, () => closed);
    const changed = differing(told, now);
    if (closed || changed.length === 0) return;
    await onChange(changed);
    told = now;
  };
  const timer = setInterval(() => {
    // What cannot be read or used now is looked at the next time.
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

export async function digestsOf({ files, folder }: ConfigurationFiles): Promise<FileDigests> {
  const names = await readdir(folder).catch(() => []);
  const inside = names.filter((name) => /^[^.].*\.json$/i.test(name)).map((name) => join(folder, name));
  const found = new Map<string, string>();
  for (const path of [...files, ...inside].map((one) => resolve(one))) {
    const content = await readFile(path).catch(() => undefined);
    if (content !== undefined) found.set(path, digestOf(content));
  }
  return found;
}

/** The files once nobody is writing them any more: twice the same, with a quiet time between. */
async function settled(
  files: ConfigurationFiles,
  told: FileDigests,
  quietMs: number,
  isOver: () => boolean,
): Promise<FileDigests> {
  let before = await digestsOf(files);
  for (let missing = 0; !isOver(); ) {
    await new Promise((resolve) => setTimeout(resolve, quietMs));
    const now = await digestsOf(files);
    const isHalf = [...told.keys()].some((path) => (now.get(path) ?? EMPTY) === EMPTY);
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
