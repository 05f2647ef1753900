/** A position, counted from 0, in one of the files that went into a bundle. */
export interface OriginalPosition {
  source: string;
  line: number;
  column: number;
}

/** A source map that was read. */
export interface SourceMapText {
  /** The original of a position in the bundle, counted from 0: that of the last entry at or before it in its line. */
  find(line: number, column: number): OriginalPosition | undefined;
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const COMMA = ','.charCodeAt(0);
const SEMICOLON = ';'.charCodeAt(0);

/**
 * The numbers of one entry: column in the bundle, source, line and column in the source. The source is -1 when it is
 * not known.
 */
const NUMBERS = 4;

/**
 * Reads a source map (ECMA-426) of this process's own bundler into a few flat arrays. Node's `SourceMap` makes objects
 * of every entry, and blocks for a second on a large map.
 * @param text its JSON text
 */
export function readSourceMap(text: string): SourceMapText {
  // Not checked: the compiler in this process made the text.
  const { mappings = '', sources = [] } = JSON.parse(text) as { mappings?: string; sources?: string[] };
  const { entries, lines } = decoded(mappings);

  return {
    find(line, column) {
      const from = lines[line];
      const end = lines[line + 1];
      if (from === undefined || end === undefined) return undefined;
      let [low, high] = [from, end];
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((entries[middle * NUMBERS] ?? 0) <= column) low = middle + 1;
        else high = middle;
      }
      if (low === from) return undefined;
      const [, source = -1, originalLine = 0, originalColumn = 0] = entries.subarray((low - 1) * NUMBERS);
      const name = sources[source];
      return name === undefined ? undefined : { source: name, line: originalLine, column: originalColumn };
    },
  };
}

/** All entries in one array, and for each line the index of its first entry. One more index marks the end. */
function decoded(mappings: string): { entries: Int32Array; lines: number[] } {
  const digits = new Uint8Array(128);
  for (let digit = 0; digit < DIGITS.length; digit += 1) digits[DIGITS.charCodeAt(digit)] = digit;

  const entries = new Int32Array(countOf(mappings) * NUMBERS);
  const lines = [0];
  let count = 0;
  /**
   * The current numbers. Each one is stored as the difference to the number before it. The first starts again at 0 in
   * each line.
   */
  const now = new Int32Array(5);
  let fields = 0;
  let value = 0;
  let shift = 0;
  for (let at = 0; at <= mappings.length; at += 1) {
    const mark = at === mappings.length ? SEMICOLON : mappings.charCodeAt(at);
    if (mark !== COMMA && mark !== SEMICOLON) {
      const digit = digits[mark & 127] ?? 0;
      value |= (digit & 31) << shift;
      shift += 5;
      if ((digit & 32) !== 0) continue;
      now[fields] = (now[fields] ?? 0) + ((value & 1) === 1 ? -(value >>> 1) : value >>> 1);
      fields += 1;
      value = 0;
      shift = 0;
      continue;
    }
    if (fields > 0) {
      for (let number = 0; number < NUMBERS; number += 1) entries[count * NUMBERS + number] = now[number] ?? 0;
      if (fields === 1) entries[count * NUMBERS + 1] = -1;
      count += 1;
    }
    fields = 0;
    if (mark === SEMICOLON) {
      lines.push(count);
      now[0] = 0;
    }
  }
  return { entries, lines };
}

/** The most entries that there can be: one more than there are marks between them. */
function countOf(mappings: string): number {
  let count = 1;
  for (let at = 0; at < mappings.length; at += 1) {
    const mark = mappings.charCodeAt(at);
    if (mark === COMMA || mark === SEMICOLON) count += 1;
  }
  return count;
}
