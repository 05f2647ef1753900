import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';

/** The data folder's own record of the database. An earlier copy of the database can be detected with it. */
export interface KnownHistory {
  /** The id of the folder. */
  folder: string;
  epoch: string;
  /** The last count that the folder's instance reached. */
  count: number;
}

/** Keeps {@link KnownHistory} outside the database. */
export interface FolderMemory {
  /** Undefined in a folder that was never used with a database. */
  readonly known: KnownHistory | undefined;
  /** The id of the folder: its own, or a new one. */
  readonly folder: string;
  /** Stores the record. Resolves once it is on disk. */
  keep(known: KnownHistory): Promise<void>;
}

const FILE = 'database-mark.json';

const schema = z.strictObject({ folder: z.string().min(1), epoch: z.string().min(1), count: z.int().nonnegative() });

/**
 * Opens the memory of a data folder whose lock (`lock.ts`) is held.
 * @throws when the file is there and cannot be read
 */
export function openFolderMemory(dataDir: string): FolderMemory {
  const path = join(dataDir, FILE);
  const known = readKnown(path);
  const draft = `${path}.new`;
  return {
    known,
    folder: known?.folder ?? randomUUID(),
    async keep(next) {
      const file = await open(draft, 'w', 0o600);
      try {
        await file.writeFile(`${JSON.stringify(next)}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      // Replaces the file whole or not at all.
      await rename(draft, path);
    },
  };
}

function readKnown(path: string): KnownHistory | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw new Error(`${resolve(path)} cannot be read`, { cause });
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    const advice = 'If no backup was put back since the service ran last, delete it.';
    throw new Error(`${resolve(path)}, which tells how far the database had come, is damaged. ${advice}`, { cause });
  }
}
