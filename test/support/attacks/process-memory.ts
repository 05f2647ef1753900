import { open, readFile } from 'node:fs/promises';

const PIECE_BYTES = 8 * 1_048_576;

/**
 * Finds which of the given byte strings are in the readable memory of a process. Linux only; needs the right to trace
 * the process: reads `/proc/<pid>/mem`.
 */
export async function foundInMemory(pid: number, wanted: ReadonlyMap<string, Buffer>): Promise<Set<string>> {
  const found = new Set<string>();
  const overlap = Math.max(...[...wanted.values()].map(({ length }) => length));
  const piece = Buffer.alloc(PIECE_BYTES + overlap);
  const memory = await open(`/proc/${pid}/mem`, 'r');
  try {
    for (const line of (await readFile(`/proc/${pid}/maps`, 'utf8')).split('\n')) {
      const [, from = '', to = '', rights = ''] = /^([\da-f]+)-([\da-f]+) (\S{4})/.exec(line) ?? [];
      // Skips read-only mappings of files, because they only show the file.
      const isFile = !rights.includes('w') && / \/|\[v/.test(line);
      if (!rights.startsWith('r') || isFile) continue;
      const end = Number.parseInt(to, 16);
      for (let at = Number.parseInt(from, 16); at < end; at += PIECE_BYTES) {
        // A page that cannot be read, for instance of a shortened file, holds nothing.
        const length = Math.min(piece.length, end - at);
        const { bytesRead } = await memory.read(piece, 0, length, at).catch(() => ({ bytesRead: 0 }));
        const bytes = piece.subarray(0, bytesRead);
        for (const [name, text] of wanted) if (bytes.includes(text)) found.add(name);
      }
    }
  } finally {
    await memory.close();
  }
  return found;
}

/** The forms of a text in memory: one or two bytes for each character. */
export function spellingsOf(name: string, text: string): [string, Buffer][] {
  return [
    [name, Buffer.from(text, 'utf8')],
    [`${name} in UTF-16`, Buffer.from(text, 'utf16le')],
  ];
}
