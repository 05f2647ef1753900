import type { Buffer as PackagedBuffer } from 'buffer/index.js';
import type * as streams from 'web-streams-polyfill';

/** The streams of the Streams Standard, and Node's Buffer. Their types come from the packages that implement them. */
declare global {
  var ReadableStream: typeof streams.ReadableStream;
  type ReadableStream<R = unknown> = streams.ReadableStream<R>;
  var WritableStream: typeof streams.WritableStream;
  type WritableStream<W = unknown> = streams.WritableStream<W>;
  var TransformStream: typeof streams.TransformStream;
  type TransformStream<I = unknown, O = unknown> = streams.TransformStream<I, O>;
  var CountQueuingStrategy: typeof streams.CountQueuingStrategy;
  var ByteLengthQueuingStrategy: typeof streams.ByteLengthQueuingStrategy;
  var ReadableStreamDefaultReader: typeof streams.ReadableStreamDefaultReader;
  type ReadableStreamDefaultReader<R = unknown> = streams.ReadableStreamDefaultReader<R>;
  var ReadableStreamBYOBReader: typeof streams.ReadableStreamBYOBReader;
  type ReadableStreamBYOBReader = streams.ReadableStreamBYOBReader;
  var ReadableStreamDefaultController: typeof streams.ReadableStreamDefaultController;
  type ReadableStreamDefaultController<R = unknown> = streams.ReadableStreamDefaultController<R>;
  var ReadableByteStreamController: typeof streams.ReadableByteStreamController;
  type ReadableByteStreamController = streams.ReadableByteStreamController;
  var ReadableStreamBYOBRequest: typeof streams.ReadableStreamBYOBRequest;
  type ReadableStreamBYOBRequest = streams.ReadableStreamBYOBRequest;
  var WritableStreamDefaultWriter: typeof streams.WritableStreamDefaultWriter;
  type WritableStreamDefaultWriter<W = unknown> = streams.WritableStreamDefaultWriter<W>;
  var WritableStreamDefaultController: typeof streams.WritableStreamDefaultController;
  type WritableStreamDefaultController = streams.WritableStreamDefaultController;
  var TransformStreamDefaultController: typeof streams.TransformStreamDefaultController;
  type TransformStreamDefaultController<O = unknown> = streams.TransformStreamDefaultController<O>;
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
