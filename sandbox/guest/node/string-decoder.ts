import { convertToString, invalidArgType, nodeError } from './node-error.ts';

type Encoding = 'utf8' | 'utf16le' | 'latin1' | 'base64' | 'base64url' | 'hex' | 'ascii';

const NAMES: Readonly<Record<string, Encoding>> = {
  utf8: 'utf8',
  'utf-8': 'utf8',
  ucs2: 'utf16le',
  'ucs-2': 'utf16le',
  utf16le: 'utf16le',
  'utf-16le': 'utf16le',
  latin1: 'latin1',
  binary: 'latin1',
  base64: 'base64',
  base64url: 'base64url',
  hex: 'hex',
  ascii: 'ascii',
};

/** Decodes text that comes in chunks. A chunk may break a character (https://nodejs.org/api/string_decoder.html). */
export class StringDecoder {
  readonly encoding: Encoding;
  readonly #decoder: TextDecoder | undefined;
  /** Bytes that are not a whole unit yet. They wait for the next chunk. */
  #held: Uint8Array = new Uint8Array();
  #high = '';

  constructor(encoding: unknown = 'utf8') {
    const name = NAMES[convertToString(encoding ?? 'utf8').toLowerCase()];
    if (name === undefined)
      throw nodeError('ERR_UNKNOWN_ENCODING', `Unknown encoding: ${convertToString(encoding)}`, TypeError);
    this.encoding = name;
    if (name === 'utf8') this.#decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  }

  write(chunk: unknown): string {
    if (typeof chunk === 'string') return chunk;
    if (!ArrayBuffer.isView(chunk)) {
      throw invalidArgType('buf', 'an instance of Buffer, TypedArray, or DataView', chunk);
    }
    const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    return this.#decoder?.decode(bytes, { stream: true }) ?? this.#write(bytes);
  }

  end(chunk?: unknown): string {
    const text = chunk === undefined ? '' : this.write(chunk);
    if (this.#decoder !== undefined) return text + this.#decoder.decode();
    const rest = this.#high + decoded(this.#held, this.encoding);
    this.#held = new Uint8Array();
    this.#high = '';
    return text + rest;
  }

  #write(bytes: Uint8Array): string {
    const all = Buffer.concat([this.#held, bytes]);
    const whole = all.length - (all.length % unitOf(this.encoding));
    this.#held = all.subarray(whole);
    const text = this.#high + decoded(all.subarray(0, whole), this.encoding);
    // Half of a pair of surrogates waits for the other half.
    const isHalf = this.encoding === 'utf16le' && /[\ud800-\udbff]$/.test(text);
    this.#high = isHalf ? text.slice(-1) : '';
    return isHalf ? text.slice(0, -1) : text;
  }
}

/** Bytes that make a whole number of characters. */
function unitOf(encoding: string): number {
  if (encoding === 'utf16le') return 2;
  return encoding.startsWith('base64') ? 3 : 1;
}

function decoded(bytes: Uint8Array, encoding: Encoding): string {
  return Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength).toString(encoding);
}
