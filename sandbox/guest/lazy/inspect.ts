import { format, formatWithOptions, inspect, stripVTControlCharacters } from 'node-inspect-extracted';
import type { RuntimeServices } from '../lazy-module-loader.ts';

/** Shows values as text, as Node does. */
export function create({ isInCall, atCall }: Pick<RuntimeServices, 'isInCall' | 'atCall'>): Record<string, unknown> {
  // The set of options is fixed, so one assignment restores them all. Options that a call sets hold for that call.
  // Options that the module sets hold for all calls, until it is evaluated anew.
  const options = (inspect as unknown as { readonly defaultOptions: object }).defaultOptions;
  const original = { ...options };
  let ofModule: object | undefined = isInCall() ? original : undefined;
  atCall((isAnew) => {
    if (isAnew) {
      Object.assign(options, original);
      ofModule = undefined;
      return;
    }
    ofModule ??= { ...options };
    Object.assign(options, ofModule);
  });
  return { inspect, format, formatWithOptions, stripVTControlCharacters };
}
