import { checkString, wrongValue } from '../node-error.ts';

/** Codes by which a terminal turns a style on and off (ECMA-48, select graphic rendition). */
export const COLORS: Readonly<Record<string, readonly [on: number, off: number]>> = {
  reset: [0, 0],
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  blink: [5, 25],
  inverse: [7, 27],
  hidden: [8, 28],
  strikethrough: [9, 29],
  doubleunderline: [21, 24],
  black: [30, 39],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
  white: [37, 39],
  bgBlack: [40, 49],
  bgRed: [41, 49],
  bgGreen: [42, 49],
  bgYellow: [43, 49],
  bgBlue: [44, 49],
  bgMagenta: [45, 49],
  bgCyan: [46, 49],
  bgWhite: [47, 49],
  framed: [51, 54],
  overlined: [53, 55],
  gray: [90, 39],
  grey: [90, 39],
  redBright: [91, 39],
  greenBright: [92, 39],
  yellowBright: [93, 39],
  blueBright: [94, 39],
  magentaBright: [95, 39],
  cyanBright: [96, 39],
  whiteBright: [97, 39],
  bgGray: [100, 49],
  bgRedBright: [101, 49],
  bgGreenBright: [102, 49],
  bgYellowBright: [103, 49],
  bgBlueBright: [104, 49],
  bgMagentaBright: [105, 49],
  bgCyanBright: [106, 49],
  bgWhiteBright: [107, 49],
};

/**
 * Puts a text between the codes of its styles. Without `validateStream: false` the text stays plain, because no
 * terminal is there to ask.
 */
export function styleText(format: unknown, text: unknown, options?: { validateStream?: unknown }): string {
  checkString(text, 'text');
  const names = Array.isArray(format) ? (format as unknown[]) : [format];
  const styles = names
    .filter((name) => name !== 'none')
    .map((name) => {
      const style = Object.hasOwn(COLORS, name as string) ? COLORS[name as string] : undefined;
      if (style === undefined)
        throw wrongValue(
          'format',
          name,
          `must be one of: ${Object.keys(COLORS)
            .map((known) => `'${known}'`)
            .join(', ')}`,
        );
      return style;
    });
  // Node asks the terminal for its colours by default. Here it counts as a terminal that shows none.
  if (options?.validateStream !== false) return text;
  const before = styles.map(([on]) => `\u001B[${on}m`).join('');
  const after = styles
    .map(([, off]) => `\u001B[${off}m`)
    .reverse()
    .join('');
  return `${before}${text}${after}`;
}
