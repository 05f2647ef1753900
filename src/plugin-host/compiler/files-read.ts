import { constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';

/** Absolute paths of files with what tells one state of a file from another. */
export type FilesRead = Map<string, string>;

/** Said of every import of what lies elsewhere, whether anything is there or not. */
export const LEADS_OUT = 'The import leads out of the plugins folder';

/** Largest file that goes into a bundle, in bytes: beyond the largest bundle, so that it is that which is complained of. */
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
 * @param mayBeShared whether it may have a second name: one that somebody else's file got here is a way out like a link
 * @returns the reason instead, where it is not allowed, too large or no ordinary file
 */
export async function readSource(
  path: string,
  allowed: (file: string) => boolean,
  mayBeShared: (file: string) => boolean,
): Promise<{ bytes: Buffer; state: string } | string> {
  if (!allowed(path)) return LEADS_OUT;
  let handle: FileHandle | undefined;
  try {
    // Opening a pipe would wait for whoever writes to it.
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
    // Its code says what is wrong; its message would name folders of the machine.
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

/** What tells this state of a file from another; undefined where there is none. */
export async function fileState(file: string): Promise<string | undefined> {
  try {
    return stateOf(await stat(file, { bigint: true }));
  } catch {
    return undefined;
  }
}

/** As much as the file had when it was opened: what grows meanwhile is read again by the next build. */
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
