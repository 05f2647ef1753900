import { posix } from 'node:path';
import { TraceMap, traceSegment } from '@jridgewell/trace-mapping';

/** Turns positions in a bundle into positions in the author's files. */
export interface SourcePositions {
  /**
   * Returns the text with the author's file, line and column in each stack frame of the bundle, and without the frames
   * of the runtime.
   */
  mapped(text: string): string;
}

/** The most frames of one text that are looked up. No stack has so many. */
const MAX_FRAMES = 1000;

/**
 * The guest runtime's own frames. They tell an author nothing. The group is the text behind the last frame: the
 * properties of the error.
 */
const OF_RUNTIME = /^\s*at (?:[^(]* \()??isolayer:\d+:\d+\)?(\D.*)?$/;
/** Modules of the runtime that are part of the bundle. */
const RUNTIME_SOURCE = /(?:^|\/)sandbox\/guest\/(?:modules|sdk|plugin-error\.ts)/;
/** A package above the plugins folder. The path of that folder is not shown. */
const PACKAGE_ABOVE = /^\.\.\/.*?(node_modules\/.*)$/;

const TOO_LARGE = '    (positions in the bundle: its source map is too large)';

/**
 * Reads a bundle's source map only when the first stack trace comes, because most versions never need it.
 * @param filename the bundle's name in stack frames
 * @param map the source map's JSON text, its sources relative to `root`; null when it is too large to be kept
 * @param root folder that the shown names begin with, for instance `plugins`
 */
export function sourcePositions(filename: string, map: string | null, root: string): SourcePositions {
  const isTooLarge = map === null;
  let text = map ?? '';
  let parsed: TraceMap | undefined;
  const frame = new RegExp(`^(\\s*at .*?)${escaped(filename)}:(\\d+):(\\d+)`);

  function original(line: number, column: number): string | undefined {
    parsed ??= new TraceMap(text);
    text = '';
    const found = originalPosition(parsed, line - 1, column - 1);
    if (found === undefined || RUNTIME_SOURCE.test(found.source)) return undefined;
    const source = PACKAGE_ABOVE.exec(found.source)?.[1] ?? posix.join(root, found.source);
    return `${source}:${found.line + 1}:${found.column + 1}`;
  }

  return {
    mapped(said) {
      if (!/^\s*at /m.test(said)) return said;
      let frames = 0;
      const lines: string[] = [];
      for (const line of said.split('\n')) {
        const [whole = '', begin = '', row, column] = frame.exec(line) ?? [];
        if (whole !== '') frames += 1;
        if (whole === '' || isTooLarge || frames > MAX_FRAMES) {
          const ofRuntime = OF_RUNTIME.exec(line);
          if (ofRuntime === null) lines.push(line);
          else if (ofRuntime[1] !== undefined) lines.push((lines.pop() ?? '') + ofRuntime[1]);
          continue;
        }
        const place = original(Number(row), Number(column));
        const rest = line.slice(whole.length);
        // A frame that the map does not know is the bundler's own code.
        if (place !== undefined) lines.push(begin + place + rest);
        else if (rest.length > 1) lines.push((lines.pop() ?? '') + rest.replace(/^\)/, ''));
      }
      if (isTooLarge && frames > 0) lines.push(TOO_LARGE);
      return lines.join('\n');
    },
  };
}

/** The original of a position, all counted from 0: that of the last entry at or before it in its line. */
export function originalPosition(
  map: TraceMap,
  line: number,
  column: number,
): { source: string; line: number; column: number } | undefined {
  const [, at, originalLine, originalColumn] = traceSegment(map, line, column) ?? [];
  const source = at === undefined ? undefined : map.sources[at];
  if (typeof source !== 'string' || originalLine === undefined || originalColumn === undefined) return undefined;
  return { source, line: originalLine, column: originalColumn };
}

/** A frame of the author's own files, once it is mapped. */
const PLACE = /^\s+at (?:async )?(?:.* \()?(plugins\/(?!.*node_modules\/).+?):(\d+):(\d+)\)?/m;

/** The first place in the author's own files that a mapped stack names. */
export function positionInStack(stack: string): { file: string; line: number; column: number } | undefined {
  const [, file, line, column] = PLACE.exec(stack) ?? [];
  return file === undefined ? undefined : { file, line: Number(line), column: Number(column) };
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
