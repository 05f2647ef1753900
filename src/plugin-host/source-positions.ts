import { SourceMap, type SourceMapPayload } from 'node:module';
import { posix } from 'node:path';

/** Turns positions in a bundle into positions in the author's files. */
export interface SourcePositions {
  /** The text with each stack frame of the bundle naming the author's file, line and column. */
  mapped(text: string): string;
}

/**
 * Reads a bundle's source map when the first stack trace turns up, since most versions never need it.
 * @param filename the bundle's name in stack frames
 * @param map the source map's JSON text, its sources relative to `root`
 * @param root folder that the shown names begin with, for instance `plugins`
 */
export function sourcePositions(filename: string, map: string, root: string): SourcePositions {
  let parsed: SourceMap | undefined;
  const frame = new RegExp(`${escaped(filename)}:(\\d+):(\\d+)`, 'g');

  function original(whole: string, line: number, column: number): string {
    parsed ??= new SourceMap(payloadOf(map));
    const entry = parsed.findEntry(line - 1, column - 1);
    if (!('originalSource' in entry)) return whole;
    return `${posix.join(root, entry.originalSource)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  }

  return {
    mapped(text) {
      if (!text.includes(`${filename}:`)) return text;
      return text
        .split('\n')
        .map((line) =>
          /^\s*at /.test(line)
            ? line.replace(frame, (whole, row: string, column: string) => original(whole, Number(row), Number(column)))
            : line,
        )
        .join('\n');
    },
  };
}

/** Made by the compiler in this process; only its reading is lazy. */
function payloadOf(map: string): SourceMapPayload {
  return JSON.parse(map) as SourceMapPayload;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
