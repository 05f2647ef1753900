import Stream from 'readable-stream/lib/stream.js';

/** Node's streams, by the package that Node's own authors make of them. */
export function part(): Record<string, unknown> {
  return { Stream };
}
