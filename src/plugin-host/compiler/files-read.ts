import { constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';

/** Files by absolute path, each with a text that identifies its state. */
export type FilesRead = Map<string, string>;

/** The error of every import from a forbidden place, whether a file is there or not. */
export const LEADS_OUT = 'The import leads out of the plugins folder';

/**
 * Largest file that goes into a bundle, in bytes. It exceeds the largest bundle, so that a large file fails by the
 * bundle's limit.
 */
const FILE_BYTES = 16 * 1_048_576;

interface FileState {
  dev: bigint;
  ino: bigint;
  size: bigint;
  mtimeNs: bigint;
  ctimeNs: bigint;
}

/**
 * The bytes of a file, and its state.
 * @param allowed whether a file may be read, by its path without symbolic links
 * @param mayBeShared whether a file may have a second name (hard link): such a name for another user's file leads out,
 *   like a link
 * @returns the reason instead, when the file is not allowed, too large or no ordinary file
 */
export async function readSource(
  path: string,
  allowed: (file: string) => boolean,
  mayBeShared: (file: string) => boolean,
): Promise<{ bytes: Buffer; state: string } | string> {
  if (!allowed(path)) return LEADS_OUT;
  let handle: FileHandle | undefined;
  try {
    // `O_NONBLOCK`: opening a pipe would wait for its writer.
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const opened = await handle.stat({ bigint: true });
    if (!opened.isFile()) return 'The import is no ordinary file';
    // A folder above it may have become a link since the path was found.
    const real = await realpath(path);
    const there = await stat(real, { bigint: true });
    if (!allowed(real) || there.dev !== opened.dev || there.ino !== opened.ino) return LEADS_OUT;
    if (opened.nlink > 1n && !mayBeShared(real)) {
      return `The file ${basename(real)} has ${opened.nlink} names (hard links): replace it by a copy of its own`;
    }
    const size = Number(opened.size);
    if (size > FILE_BYTES) return `The file has ${size} bytes, more than ${FILE_BYTES}`;
    return { bytes: await firstBytes(handle, size), state: stateOf(opened) };
  } catch (error) {
    // The error's code says what is wrong. Its message would name folders of the machine.
    return `Could not read the file: ${(error as NodeJS.ErrnoException).code ?? 'it has no name'}`;
  } finally {
    await handle?.close();
  }
}

/** Whether each of the files is as it was when it was read. */
export async function areUnchanged(files: FilesRead): Promise<boolean> {
  for (const [file, state] of files) if ((await fileState(file)) !== state) return false;
  return true;
}

/** A text that identifies the file's state; undefined when there is no file. */
export async function fileState(file: string): Promise<string | undefined> {
  try {
    return stateOf(await stat(file, { bigint: true }));
  } catch {
    return undefined;
  }
}

/**
 * Reads as many bytes as the file had when it was opened. When the file grows meanwhile, the next build reads it again.
 */
async function firstBytes(handle: FileHandle, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await handle.read(bytes, filled, size - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

function stateOf({ dev, ino, size, mtimeNs, ctimeNs }: FileState): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}
