import { readSource } from '../files-read.ts';

/** Reads a file that controls how imports are resolved. Undefined when there is no file that may be read. */
export type ReadText = (path: string) => Promise<string | undefined>;

/** A {@link ReadText} that reports each file to `onRead`, and reads no file twice. */
export function sourceTexts(
  allowed: (file: string) => boolean,
  mayBeShared: (file: string) => boolean,
  onRead: (file: string, state: string) => void,
): ReadText {
  const known = new Map<string, Promise<string | undefined>>();

  async function read(path: string): Promise<string | undefined> {
    const source = await readSource(path, allowed, mayBeShared);
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
