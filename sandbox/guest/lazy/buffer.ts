import { Buffer } from 'buffer/index.js';
import { base64Of, base64UrlOf, bytesFromBase64, bytesFromHex, hexOf } from '../globals/encoding/bytes.ts';
import { latin1Bytes, latin1Text, Utf8Decoder } from '../globals/encoding/text-decoder.ts';
import { encodeUtf8, utf8Length } from '../globals/encoding/text-encoder.ts';

type ToText = (encoding?: string, start?: number, end?: number) => string;

type From = (value: unknown, encodingOrOffset?: unknown, length?: unknown) => Buffer;

/** Converts texts to bytes and back. The package does this if a function is absent, or throws at a text. */
interface Codec {
  bytesOf(text: string): Uint8Array<ArrayBuffer>;
  textOf?(bytes: Uint8Array): string;
}

const UTF_8: Codec = { bytesOf: encodeUtf8, textOf: (bytes) => new Utf8Decoder(false).decode(bytes, true) };

const LATIN_1: Codec = { bytesOf: latin1Bytes, textOf: latin1Text };

/** Codecs by the names of Node's encodings, in lower case. */
const CODECS = new Map<string, Codec>([
  ['utf8', UTF_8],
  ['utf-8', UTF_8],
  ['latin1', LATIN_1],
  ['binary', LATIN_1],
  ['ascii', { bytesOf: latin1Bytes }],
  ['hex', { bytesOf: bytesOfHex, textOf: hexOf }],
  ['base64', { bytesOf: bytesFromBase64, textOf: base64Of }],
  ['base64url', { bytesOf: bytesFromBase64, textOf: base64UrlOf }],
]);

/**
 * Makes Node's Buffer from the package of that name, which browsers' bundles carry too. The package goes through texts
 * byte by byte. So the engine does base64 and hex instead, which is many times as fast, and the codecs of the web's
 * classes do the others. The package also lacks one encoding of Node's, base64url (RFC 4648, section 5).
 */
export function createBufferClass(): typeof Buffer {
  const original = {
    from: Buffer.from as From,
    isEncoding: Buffer.isEncoding,
    byteLength: Buffer.byteLength as (value: unknown, encoding?: string) => number,
    toString: Buffer.prototype.toString satisfies ToText,
    write: Buffer.prototype.write as (text: string, ...rest: unknown[]) => number,
  };
  const methods = {
    from: (value: unknown, encodingOrOffset?: unknown, length?: unknown) => {
      const bytes = typeof value === 'string' ? bytesBy(codecOf(encodingOrOffset), value) : undefined;
      if (bytes !== undefined) return original.from(bytes.buffer);
      // The package reads both alphabets. Only the name `base64url` is unknown to it.
      return original.from(value, isUrlSafe(encodingOrOffset) ? 'base64' : encodingOrOffset, length);
    },
    isEncoding: (encoding: unknown) => isUrlSafe(encoding) || original.isEncoding(encoding as string),
    byteLength: (value: unknown, encoding?: string) =>
      typeof value === 'string' && codecOf(encoding) === UTF_8
        ? utf8Length(value)
        : original.byteLength(value, isUrlSafe(encoding) ? 'base64' : encoding),
  };
  const toString = function (this: Buffer, encoding?: string, start?: number, end?: number): string {
    const textOf = ArrayBuffer.isView(this) ? codecOf(encoding)?.textOf : undefined;
    if (textOf === undefined) return Reflect.apply(original.toString, this, [encoding, start, end]);
    const [first, last] = [placeIn(this, start, 0), placeIn(this, end, this.length)];
    if (last <= first) return '';
    return textOf(new Uint8Array(this.buffer, this.byteOffset + first, last - first));
  };
  const prototype = {
    toString,
    toLocaleString: toString,
    write(this: Buffer, text: string, ...rest: unknown[]): number {
      return Reflect.apply(original.write, this, [text, ...rest.map((given) => (isUrlSafe(given) ? 'base64' : given))]);
    },
  };
  // Restores the name: the bundler has more than one class called Buffer.
  Object.defineProperty(Buffer, 'name', { value: 'Buffer', configurable: true });
  define(Buffer, methods);
  define(Buffer.prototype, prototype);
  return Buffer;
}

/** The codec of an encoding. Without an encoding it is UTF-8, as in Node. */
function codecOf(encoding: unknown): Codec | undefined {
  return encoding === undefined || encoding === null || encoding === '' ? UTF_8 : CODECS.get(nameOf(encoding));
}

/** The bytes of a text; undefined if some of the text is invalid. Node then takes the valid part. */
function bytesBy(codec: Codec | undefined, text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return codec?.bytesOf(text);
  } catch {
    return undefined;
  }
}

/** The bytes of a hex text up to the first character that is no hex digit, as in Node. */
function bytesOfHex(text: string): Uint8Array<ArrayBuffer> {
  const digits = /[^0-9a-f]/i.exec(text)?.index ?? text.length;
  return bytesFromHex(text.slice(0, digits - (digits % 2)));
}

/** A place within a buffer, from an argument that is read as Node reads it. */
function placeIn(buffer: Buffer, given: number | undefined, otherwise: number): number {
  return given === undefined ? otherwise : Math.min(Math.max(Math.trunc(given) || 0, 0), buffer.length);
}

function isUrlSafe(encoding: unknown): boolean {
  return nameOf(encoding) === 'base64url';
}

function nameOf(encoding: unknown): string {
  return typeof encoding === 'string' ? encoding.toLowerCase() : '';
}

function define(target: object, methods: object): void {
  for (const [name, value] of Object.entries(methods)) {
    Object.defineProperty(target, name, { value, writable: true, enumerable: false, configurable: true });
  }
}

/** Node's Buffer. */
export function create(): Record<string, unknown> {
  return { Buffer: createBufferClass() };
}
