import { format, formatWithOptions, inspect, stripVTControlCharacters } from 'node-inspect-extracted';

/** How Node shows values as text. */
export function part(): Record<string, unknown> {
  return { inspect, format, formatWithOptions, stripVTControlCharacters };
}
