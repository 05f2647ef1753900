import { format, formatWithOptions, inspect, stripVTControlCharacters } from 'node-inspect-extracted';
import type { PartWorld } from '../part-world.ts';

/** How Node shows values as text. */
export function part({ isInCall, atCall }: Pick<PartWorld, 'isInCall' | 'atCall'>): Record<string, unknown> {
  // Neither more nor fewer can be given to it. What a call sets holds for the call, and what the module set for all.
  const options = (inspect as unknown as { readonly defaultOptions: object }).defaultOptions;
  let ofModule = isInCall() ? { ...options } : undefined;
  atCall(() => {
    ofModule ??= { ...options };
    Object.assign(options, ofModule);
  });
  return { inspect, format, formatWithOptions, stripVTControlCharacters };
}
