import { realpathSync } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';

/** Files by absolute path, each with a text that identifies its state. */
export type SourceFileStates = Map<string, string>;

/** The error of every import from a forbidden place, whether a file is there or not. */
export const FORBIDDEN_IMPORT_TEXT = 'The import points outside of the plugins folder';

/**
 * Largest file that goes into a bundle, in bytes. It exceeds the largest bundle, so that a large file fails by the
 * bundle's limit.
 */
const FILE_BYTES = 16 * 1_048_576;

/**
 * The bytes of a file, and its state.
 * @param allowed whether a file may be read, by its path without symbolic links
 * @returns the reason instead, when the file is not allowed or too large
 */
export async function readSource(
  path: string,
  allowed: (file: string) => boolean,
): Promise<{ bytes: Buffer; state: string } | string> {
  if (!allowed(path)) return FORBIDDEN_IMPORT_TEXT;
  try {
    if (!allowed(await realpath(path))) return FORBIDDEN_IMPORT_TEXT;
    // A file that changes after this has another state than the build saw, and is built again.
    const before = await stat(path, { bigint: true });
    const size = Number(before.size);
    if (size > FILE_BYTES) return `The file has ${size} bytes, more than ${FILE_BYTES}`;
    return { bytes: await readFile(path), state: stateOf(before) };
  } catch (error) {
    // The error's code says what is wrong. Its message would name folders of the machine.
    return `Could not read the file: ${(error as NodeJS.ErrnoException).code ?? 'it has no name'}`;
  }
}

/** Reads a file that controls how imports are resolved. Undefined when there is no file that may be read. */
export type ReadText = (path: string) => Promise<string | undefined>;

/** A {@link ReadText} that reports each file to `onRead`, and reads no file twice. */
export function sourceTexts(
  allowed: (file: string) => boolean,
  onRead: (file: string, state: string) => void,
): ReadText {
  const known = new Map<string, Promise<string | undefined>>();

  async function read(path: string): Promise<string | undefined> {
    const source = await readSource(path, allowed);
    if (typeof source === 'string') return undefined;
    onRead(path, source.state);
    return source.bytes.toString();
  }

  return (path) => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const text = read(path);
    known.set(path, text);
    return text;
  };
}

/** Whether each of the files is as it was when it was read. */
export async function areSourceFilesUnchanged(files: SourceFileStates): Promise<boolean> {
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

interface FileState {
  dev: bigint;
  ino: bigint;
  size: bigint;
  mtimeNs: bigint;
  ctimeNs: bigint;
}

function stateOf({ dev, ino, size, mtimeNs, ctimeNs }: FileState): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

/** Every `node_modules` that Node's own resolution looks into for a file in this folder, whether it is there or not. */
export function packageFolders(folder: string): string[] {
  const above = dirname(folder);
  return [join(folder, 'node_modules'), ...(above === folder ? [] : packageFolders(above))];
}

/** A path without symbolic links; undefined when it leads to nothing, or to a place that may not be looked at. */
export function resolveLinks(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** True when `file` lies below `folder`; both absolute. */
export function isInside(folder: string, file: string): boolean {
  return file.startsWith(join(folder, sep));
}
