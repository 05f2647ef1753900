import type { StreamClasses } from '../../lazy/streams.ts';
import { concatBytes, copyOfBytes } from '../encoding/bytes.ts';
import { TextDecoder } from '../encoding/text-decoder.ts';
import { TextEncoder } from '../encoding/text-encoder.ts';
import { conformToWebIdl, tooFewArguments } from '../web-idl.ts';

const encoder = new TextEncoder();

/** The classes Blob and File (File API 3 and 4). Only `stream()` calls `streams`. */
export function createBlobClasses(streams: () => StreamClasses) {
  let bytesIn: (value: unknown) => Uint8Array<ArrayBuffer> | undefined;

  class Blob {
    readonly #bytes: Uint8Array<ArrayBuffer>;
    readonly #type: string;

    constructor(parts: unknown = [], options: unknown = {}) {
      const { endings = 'transparent', type = '' } = optionsOf(options);
      if (endings !== 'transparent' && endings !== 'native')
        throw new TypeError(`'${String(endings)}' is no kind of line ending`);
      this.#bytes = concatBytes(listOf(parts).map((part) => bytesOf(part, endings === 'native')));
      this.#type = typeOf(type);
    }

    get size(): number {
      return this.#bytes.length;
    }

    get type(): string {
      return this.#type;
    }

    async arrayBuffer(): Promise<ArrayBuffer> {
      return this.#bytes.slice().buffer;
    }

    async bytes(): Promise<Uint8Array<ArrayBuffer>> {
      return this.#bytes.slice();
    }

    async text(): Promise<string> {
      return new TextDecoder().decode(this.#bytes);
    }

    slice(start?: number, end?: number, type: unknown = ''): Blob {
      return Blob.#of(this.#bytes.slice(start ?? 0, end ?? this.size), typeOf(type));
    }

    stream(): unknown {
      return streams().streamOf(() => this.#bytes.slice());
    }

    static #of(bytes: Uint8Array<ArrayBuffer>, type: string): Blob {
      return new Blob([bytes], { type });
    }

    static {
      bytesIn = (value) => (typeof value === 'object' && value !== null && #bytes in value ? value.#bytes : undefined);
    }
  }

  class File extends Blob {
    readonly #name: string;
    readonly #lastModified: number;

    constructor(parts: unknown, name: unknown, options: unknown = {}) {
      super(parts, options);
      if (arguments.length < 2) throw tooFewArguments('File', 2);
      const { lastModified } = optionsOf(options);
      this.#name = textOf(name).toWellFormed();
      this.#lastModified = lastModified === undefined ? Date.now() : Math.trunc(Number(lastModified)) || 0;
    }

    get name(): string {
      return this.#name;
    }

    get lastModified(): number {
      return this.#lastModified;
    }
  }

  conformToWebIdl(Blob);
  conformToWebIdl(File);

  function bytesOf(part: unknown, isNative: boolean): Uint8Array {
    const bytes = bytesIn(part) ?? copyOfBytes(part);
    if (bytes !== undefined) return bytes;
    const text = String(part);
    return encoder.encode(isNative ? text.replace(/\r\n?|\n/g, '\n') : text);
  }

  /** The bytes of a Blob, not copied; undefined for anything else. */
  const bytesOfBlob = (value: unknown) => bytesIn(value);
  /** A Blob with the same content, or a File with the same name too; undefined for anything else. */
  const copy = (value: object): Blob | undefined => {
    if (!(value instanceof Blob)) return undefined;
    const { type } = value;
    if (!(value instanceof File)) return value.slice(0, value.size, type);
    return new File([value], value.name, { type, lastModified: value.lastModified });
  };
  return { Blob, File, bytesIn: bytesOfBlob, copy };
}

export type BlobClasses = ReturnType<typeof createBlobClasses>;

function listOf(parts: unknown): unknown[] {
  const isList = typeof parts === 'object' && parts !== null && Symbol.iterator in parts;
  if (!isList) throw new TypeError('The parts of a Blob are a list');
  return [...(parts as Iterable<unknown>)];
}

function optionsOf(options: unknown): { type?: unknown; endings?: unknown; lastModified?: unknown } {
  if (options === undefined || options === null) return {};
  if (typeof options !== 'object' && typeof options !== 'function')
    throw new TypeError('The options are not an object');
  return options;
}

/** A type with anything but printable ASCII counts as none (File API 3.1). */
function typeOf(given: unknown): string {
  const type = String(given);
  return /^[\x20-\x7e]*$/.test(type) ? type.toLowerCase() : '';
}

function textOf(value: unknown): string {
  return String(value);
}
