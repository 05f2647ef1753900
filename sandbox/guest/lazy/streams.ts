import * as polyfill from 'web-streams-polyfill';
import { TextDecoder } from '../globals/encoding/text-decoder.ts';
import { TextEncoder } from '../globals/encoding/text-encoder.ts';
import { conformToWebIdl } from '../globals/web-idl.ts';

/** A stream of the guest's own class. A stream of another realm is not recognised. */
export type ByteStream = polyfill.ReadableStream<Uint8Array<ArrayBuffer>>;

/** The prototypes of an object and of all that it holds. */
function prototypesIn(root: object): object[] {
  const met = new Set<object>();
  const found = new Set<object>();
  const meet = (one: unknown) => {
    if (typeof one !== 'object' || one === null || met.has(one)) return;
    met.add(one);
    const prototype = Object.getPrototypeOf(one) as object | null;
    if (prototype !== null) found.add(prototype);
    for (const value of Object.values(one)) meet(value);
  };
  meet(root);
  return [...found];
}

/** The classes of the Streams Standard that plugins see, and functions on streams for other APIs. */
export function createStreamClasses(decoderClass: () => typeof TextDecoder = () => TextDecoder) {
  const { ReadableStream, TransformStream } = polyfill;

  /** Decodes chunks of bytes to text (Encoding Standard 7.6). */
  class TextDecoderStream {
    readonly #decoder: TextDecoder;
    readonly #transform: polyfill.TransformStream<Uint8Array, string>;

    constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
      const Decoder = decoderClass();
      const decoder = new Decoder(label, options);
      const put = (controller: polyfill.TransformStreamDefaultController<string>, text: string) => {
        if (text !== '') controller.enqueue(text);
      };
      this.#decoder = decoder;
      this.#transform = new TransformStream({
        transform: (chunk, controller) => put(controller, decoder.decode(chunk, { stream: true })),
        flush: (controller) => put(controller, decoder.decode()),
      });
    }

    get encoding(): string {
      return this.#decoder.encoding;
    }

    get fatal(): boolean {
      return this.#decoder.fatal;
    }

    get ignoreBOM(): boolean {
      return this.#decoder.ignoreBOM;
    }

    get readable() {
      return this.#transform.readable;
    }

    get writable() {
      return this.#transform.writable;
    }
  }

  /** Encodes chunks of text; a pair of surrogates may come in two chunks (Encoding Standard 7.7). */
  class TextEncoderStream {
    readonly #transform: polyfill.TransformStream<unknown, Uint8Array>;

    constructor() {
      const encoder = new TextEncoder();
      let held = '';
      this.#transform = new TransformStream<unknown, Uint8Array>({
        transform(chunk, controller) {
          const text = `${held}${chunk as string}`;
          const isSplit = /[\ud800-\udbff]$/.test(text);
          held = isSplit ? text.slice(-1) : '';
          const whole = isSplit ? text.slice(0, -1) : text;
          if (whole !== '') controller.enqueue(encoder.encode(whole));
        },
        flush(controller) {
          if (held !== '') controller.enqueue(encoder.encode(held));
        },
      });
    }

    get encoding(): string {
      return 'utf-8';
    }

    get readable() {
      return this.#transform.readable;
    }

    get writable() {
      return this.#transform.writable;
    }
  }

  conformToWebIdl(TextDecoderStream);
  conformToWebIdl(TextEncoderStream);
  return {
    ...polyfill,
    TextDecoderStream,
    TextEncoderStream,
    /** Those of classes that have no name of their own. */
    prototypes: prototypesIn(new ReadableStream().values()),
    /** Getters give these functions out. All strategies share them. */
    sizes: [polyfill.ByteLengthQueuingStrategy, polyfill.CountQueuingStrategy].map(
      (Strategy) => new Strategy({ highWaterMark: 1 }).size,
    ),

    isStream: (value: unknown): value is ByteStream => value instanceof ReadableStream,

    /** A byte stream. `make` makes its bytes at the first read. */
    streamOf(make: () => Uint8Array<ArrayBuffer>): ByteStream {
      return new ReadableStream({
        type: 'bytes',
        pull(controller) {
          const bytes = make();
          if (bytes.length > 0) controller.enqueue(bytes);
          controller.close();
          controller.byobRequest?.respond(0);
        },
      });
    },

    /** Whether a stream was read or canceled. The polyfill keeps the standard's own slot under this name. */
    isDisturbed: (stream: ByteStream): boolean => (stream as unknown as { _disturbed: boolean })._disturbed,

    /** All bytes of a stream. @throws TypeError for a chunk that is not bytes */
    async readAll(stream: ByteStream): Promise<Uint8Array[]> {
      const reader = stream.getReader();
      const chunks: Uint8Array[] = [];
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return chunks;
        if (!(value instanceof Uint8Array)) {
          const error = new TypeError('The stream of a body yields bytes only');
          await reader.cancel(error);
          throw error;
        }
        chunks.push(value);
      }
    },
  };
}

export type StreamClasses = ReturnType<typeof createStreamClasses>;

/** The classes of the Streams Standard, with the functions that other lazy modules use. */
export function create({ decoder }: { decoder(): typeof TextDecoder }): ReturnType<typeof createStreamClasses> {
  return createStreamClasses(decoder);
}
