import type { Buffer as PackagedBuffer } from 'buffer/index.js';
import type * as streams from 'web-streams-polyfill';

/** The streams of the Streams Standard, and Node's Buffer, as their packages describe them. */
declare global {
  var ReadableStream: typeof streams.ReadableStream;
  type ReadableStream<R = unknown> = streams.ReadableStream<R>;
  var WritableStream: typeof streams.WritableStream;
  type WritableStream<W = unknown> = streams.WritableStream<W>;
  var TransformStream: typeof streams.TransformStream;
  type TransformStream<I = unknown, O = unknown> = streams.TransformStream<I, O>;
  var CountQueuingStrategy: typeof streams.CountQueuingStrategy;
  var ByteLengthQueuingStrategy: typeof streams.ByteLengthQueuingStrategy;
  type CompressionFormat = 'gzip' | 'deflate' | 'deflate-raw';
  interface ByteTransform {
    readonly readable: ReadableStream<Uint8Array>;
    readonly writable: WritableStream<ArrayBuffer | ArrayBufferView>;
  }
  var CompressionStream: new (format: CompressionFormat) => ByteTransform;
  var DecompressionStream: new (format: CompressionFormat) => ByteTransform;
  var Buffer: typeof PackagedBuffer;
  type Buffer = PackagedBuffer;
}
