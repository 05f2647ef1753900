import Stream from 'readable-stream/lib/stream.js';
import type { RuntimeServices } from '../lazy-module-loader.ts';

interface Readable {
  readonly _readableState: { readonly buffer: object };
  [Symbol.asyncIterator](): object;
}

/** Node's streams, from the package that Node's own authors make of them. */
export function create({ changed }: Pick<RuntimeServices, 'changed'>): Record<string, unknown> {
  const setMark = Stream['setDefaultHighWaterMark'] as (ofObjects: unknown, mark: unknown) => void;
  Stream['setDefaultHighWaterMark'] = (ofObjects: unknown, mark: unknown) => {
    changed();
    setMark(ofObjects, mark);
  };
  return { Stream, unnamed: unnamed(Stream['Readable'] as new (options: object) => Readable) };
}

/** Prototypes to which only a stream leads. All calls share them. */
function unnamed(Readable: new (options: object) => Readable): object[] {
  const sample = new Readable({ read() {} });
  return [sample._readableState.buffer, sample[Symbol.asyncIterator]()].map(
    (one) => Object.getPrototypeOf(one) as object,
  );
}
