import { Deflate, Inflate } from 'pako';
import { conformToWebIdl } from '../globals/web-idl.ts';
import type { RuntimeServices } from '../lazy-module-loader.ts';
import type { StreamClasses } from './streams.ts';

/** The formats, each with zlib's window bits for it (zlib.h, deflateInit2 and inflateInit2). */
const WINDOWS = { deflate: 15, 'deflate-raw': -15, gzip: 31 } as const;

type Format = keyof typeof WINDOWS;

const PIECE_BYTES = 16_384;

/** zlib's flush mode that passes on all data so far. */
const SYNC_FLUSH = 2;

type Pako = Deflate | Inflate;

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * CompressionStream and DecompressionStream (Compression Standard). All work is done in the isolate. So the data that a
 * few bytes expand to counts against the isolate's memory and time.
 */
export function createCompressionClasses({ TransformStream }: Pick<StreamClasses, 'TransformStream'>) {
  function formatOf(given: unknown): Format {
    const format = `${given as string}`;
    if (!Object.hasOwn(WINDOWS, format)) throw new TypeError(`'${format}' is no format of compression here`);
    return format as Format;
  }

  /** A stream that sends bytes through one of pako's two classes. */
  function through(pako: Pako, push: (bytes: Bytes) => void, finish: () => void) {
    return new TransformStream<unknown, Uint8Array>({
      start(controller) {
        pako.onData = (bytes) => controller.enqueue(bytes.slice());
        pako.onEnd = () => undefined;
      },
      transform(chunk) {
        const bytes = bytesOf(chunk);
        for (let at = 0; at < bytes.length; at += PIECE_BYTES) push(bytes.slice(at, at + PIECE_BYTES));
      },
      flush: finish,
    });
  }

  class CompressionStream {
    readonly #transform: InstanceType<typeof TransformStream<unknown, Uint8Array>>;

    constructor(format: unknown) {
      const windowBits = WINDOWS[formatOf(format)];
      const pako = new Deflate({ windowBits, chunkSize: PIECE_BYTES });
      const push = (bytes: Bytes, isLast = false) => void pako.push(bytes, isLast);
      this.#transform = through(pako, push, () => push(new Uint8Array(0), true));
    }

    get readable() {
      return this.#transform.readable;
    }

    get writable() {
      return this.#transform.writable;
    }
  }

  class DecompressionStream {
    readonly #transform: InstanceType<typeof TransformStream<unknown, Uint8Array>>;

    constructor(format: unknown) {
      const windowBits = WINDOWS[formatOf(format)];
      const pako = new Inflate({ windowBits, chunkSize: PIECE_BYTES });
      const push = (bytes: Bytes) => {
        const isBehind = pako.ended;
        pako.push(bytes, SYNC_FLUSH);
        if (pako.err !== 0) throw new TypeError(`The compressed data was not valid: ${pako.msg}`);
        // Nothing may follow the end of the compressed data.
        if (isBehind || (pako.ended && unread(pako) > 0))
          throw new TypeError('There is more behind the compressed data');
      };
      this.#transform = through(pako, push, () => {
        if (!pako.ended) throw new TypeError('The compressed data is cut short');
      });
    }

    get readable() {
      return this.#transform.readable;
    }

    get writable() {
      return this.#transform.writable;
    }
  }

  conformToWebIdl(CompressionStream);
  conformToWebIdl(DecompressionStream);
  return { CompressionStream, DecompressionStream };
}

/** The number of bytes of the last piece that were not read. */
function unread(pako: Inflate): number {
  return (pako as unknown as { strm: { avail_in: number } }).strm.avail_in;
}

function bytesOf(chunk: unknown): Uint8Array<ArrayBuffer> {
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
  if (!ArrayBuffer.isView(chunk)) throw new TypeError('A chunk is neither a buffer nor a view of one');
  return new Uint8Array(chunk.buffer as ArrayBuffer, chunk.byteOffset, chunk.byteLength);
}

/** The classes of the Compression Standard. */
export function create({ streams }: RuntimeServices): Record<string, unknown> {
  return createCompressionClasses(streams());
}
