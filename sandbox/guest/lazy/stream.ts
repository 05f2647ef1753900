import Stream from 'readable-stream/lib/stream.js';
import type { RuntimeServices } from '../lazy-module-loader.ts';

type Transform = new () => { readonly _events: { readonly prefinish: object } };

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
  return {
    Stream,
    unnamed: unnamed(Stream['Readable'] as new (options: object) => Readable, Stream['PassThrough'] as Transform),
  };
}

/** Objects to which only a stream leads. All calls share them. */
function unnamed(Readable: new (options: object) => Readable, PassThrough: Transform): object[] {
  const sample = new Readable({ read() {} });
  const prototypes = [sample._readableState.buffer, sample[Symbol.asyncIterator]()].map(
    (one) => Object.getPrototypeOf(one) as object,
  );
  return [...prototypes, new PassThrough()._events.prefinish];
}
