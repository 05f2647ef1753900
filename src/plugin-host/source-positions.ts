import { posix } from 'node:path';
import { readSourceMap, type SourceMapText } from './source-map.ts';

/** Turns positions in a bundle into positions in the author's files. */
export interface SourcePositions {
  /** The text with each stack frame of the bundle naming the author's file, line and column. */
  mapped(text: string): string;
}

/** Positions of one text that are looked up: no stack has so many. */
const MOST_POSITIONS = 1000;

const TOO_LARGE = '    (positions in the bundle: its source map is too large)';

/**
 * Reads a bundle's source map when the first stack trace turns up, since most versions never need it.
 * @param filename the bundle's name in stack frames
 * @param map the source map's JSON text, its sources relative to `root`; null where it is too large to be kept
 * @param root folder that the shown names begin with, for instance `plugins`
 */
export function sourcePositions(filename: string, map: string | null, root: string): SourcePositions {
  const isTooLarge = map === null;
  let text = map ?? '';
  let parsed: SourceMapText | undefined;
  const frame = new RegExp(`${escaped(filename)}:(\\d+):(\\d+)`, 'g');

  function original(whole: string, line: number, column: number): string {
    parsed ??= readSourceMap(text);
    text = '';
    const found = parsed.find(line - 1, column - 1);
    if (found === undefined) return whole;
    return `${posix.join(root, found.source)}:${found.line + 1}:${found.column + 1}`;
  }

  return {
    mapped(said) {
      if (!said.includes(`${filename}:`)) return said;
      let left = MOST_POSITIONS;
      let frames = 0;
      const lines = said.split('\n').map((line) => {
        if (!/^\s*at /.test(line)) return line;
        return line.replace(frame, (whole, row: string, column: string) => {
          frames += 1;
          return isTooLarge || --left < 0 ? whole : original(whole, Number(row), Number(column));
        });
      });
      if (isTooLarge && frames > 0) lines.push(TOO_LARGE);
      return lines.join('\n');
    },
  };
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
