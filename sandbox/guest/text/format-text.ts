import { floor, isFiniteNumber, stringSlice, toNumber, toText } from '../intrinsics/primordials.ts';
import { formatValue } from './log-line.ts';

const LONGEST = 8192;

/**
 * Fills in the placeholders of the first console argument, as the Console Standard 2.2.1 and Node do: `%s`, `%d`, `%i`,
 * `%f`, `%j`, `%o`, `%O`, `%c` and `%%`. The arguments without a placeholder follow.
 */
export function filledIn(values: readonly unknown[]): readonly unknown[] {
  const first = values[0];
  if (values.length < 2 || typeof first !== 'string') return values;
  let text = '';
  let from = 0;
  let used = 1;
  for (let at = 0; at < first.length - 1 && used <= values.length; at++) {
    if (first[at] !== '%') continue;
    const place = first[at + 1] as string;
    const filled = place === '%' ? '%' : used < values.length ? fill(place, values[used]) : undefined;
    if (filled === undefined) continue;
    if (place !== '%') used++;
    text += stringSlice(first, from, at) + filled;
    from = at + 2;
    at++;
  }
  if (from === 0) return values;
  const rest: unknown[] = [text + stringSlice(first, from)];
  for (let index = used; index < values.length; index++) rest[index - used + 1] = values[index];
  return rest;
}

/** The text for a placeholder; undefined when the letter is not a placeholder. */
function fill(place: string, value: unknown): string | undefined {
  switch (place) {
    case 's':
      if (typeof value === 'bigint') return `${toText(value)}n`;
      return typeof value === 'object' || typeof value === 'function' ? formatValue(value, LONGEST) : toText(value);
    case 'd':
      return typeof value === 'bigint' ? `${toText(value)}n` : toText(numberOf(value));
    case 'i':
      return typeof value === 'bigint' ? `${toText(value)}n` : toText(whole(numberOf(value)));
    case 'f':
      return typeof value === 'symbol' ? 'NaN' : toText(numberOf(value));
    case 'j':
    case 'o':
    case 'O':
      return formatValue(value, LONGEST);
    case 'c':
      return '';
    default:
      return undefined;
  }
}

/** A value as a number. Objects, symbols and functions are not converted and become NaN. */
function numberOf(value: unknown): number {
  return typeof value === 'object' || typeof value === 'symbol' || typeof value === 'function'
    ? Number.NaN
    : toNumber(value);
}

function whole(number: number): number {
  if (!isFiniteNumber(number)) return Number.NaN;
  return number < 0 ? -floor(-number) : floor(number);
}
