import { inspect } from 'node:util';

/** SGR codes: https://man7.org/linux/man-pages/man4/console_codes.4.html */
const COLOURS: Readonly<Record<string, number>> = { fatal: 31, error: 31, warn: 33, info: 32, debug: 90, trace: 90 };

interface Entry {
  level: string;
  time: string;
  msg?: string;
  err?: { message?: string; stack?: string };
}

/** Formats a log entry, one line of JSON, for people: time, level, text, then the fields. */
export function humanLine(json: string, isColoured: boolean): string {
  const { level, time, msg = '', err, ...fields } = JSON.parse(json) as Entry;
  const name = level.toUpperCase().padEnd(5);
  const told = Object.entries(fields).map(([field, value]) => `${field}=${shown(value)}`);
  if (err !== undefined) told.push(`error=${shown(err.message)}`);
  const first = [time, isColoured ? `\u001b[${COLOURS[level] ?? 0}m${name}\u001b[0m` : name, msg].join(' ');
  const line = [first, ...told].join('  ');
  // Only errors show their stack, because an operator has to look into them.
  const stack = level === 'error' || level === 'fatal' ? stackOf(err) : [];
  return `${[line, ...stack].join('\n')}\n`;
}

function stackOf(err: Entry['err']): string[] {
  const lines = err?.stack?.split('\n') ?? [];
  return lines.filter((line) => /^\s+at |^caused by/.test(line)).map((line) => `    ${printable(line.trim())}`);
}

/** Shows plain text unchanged, and anything else as JSON. */
function shown(value: unknown): string {
  if (typeof value === 'string' && /^[\w.:/@+-]+$/.test(value)) return value;
  return printable(JSON.stringify(value) ?? inspect(value));
}

/** Escapes control characters, so that a value can neither start a new line nor control the terminal. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
}
