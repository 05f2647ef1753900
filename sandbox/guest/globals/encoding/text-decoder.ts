import { Utf8Decoder } from './utf8-decoder.ts';

type Encoding = 'utf-8' | 'utf-16le' | 'windows-1252';

/** The labels of three encodings (Encoding Standard 4.2). */
const LABELS: Readonly<Record<Encoding, string>> = {
  'utf-8': 'unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8',
  'utf-16le': 'csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le',
  'windows-1252':
    'ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 ' +
    'iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252',
};

/** What windows-1252 has in place of the control characters 0x80 to 0x9f. */
const WINDOWS_1252 =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f' +
  '\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

/** Decodes bytes piece by piece; `last` says that no more will come. Throws a TypeError on bad input when fatal. */
interface Decoder {
  decode(bytes: Uint8Array, last: boolean): string;
}

/** Decoder for UTF-8, UTF-16LE and windows-1252 (Encoding Standard 7.2). */
export class TextDecoder {
  readonly #encoding: Encoding;
  readonly #fatal: boolean;
  readonly #ignoreBOM: boolean;
  #decoder: Decoder | null = null;
  #bomSeen = false;

  constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    const name = String(label).trim().toLowerCase();
    const encoding = (Object.keys(LABELS) as Encoding[]).find((key) => LABELS[key].split(' ').includes(name));
    if (encoding === undefined) throw new RangeError(`The encoding label provided ('${String(label)}') is invalid.`);
    this.#encoding = encoding;
    this.#fatal = Boolean(options?.fatal);
    this.#ignoreBOM = Boolean(options?.ignoreBOM);
  }

  get encoding(): string {
    return this.#encoding;
  }

  get fatal(): boolean {
    return this.#fatal;
  }

  get ignoreBOM(): boolean {
    return this.#ignoreBOM;
  }

  decode(input?: ArrayBuffer | ArrayBufferView, options: { stream?: boolean } = {}): string {
    const last = !options?.stream;
    this.#decoder ??= this.#begin();
    try {
      return this.#withoutBom(this.#decoder.decode(bytesOf(input), last));
    } catch (error) {
      this.#decoder = null;
      throw error;
    } finally {
      if (last) this.#decoder = null;
    }
  }

  get [Symbol.toStringTag](): string {
    return 'TextDecoder';
  }

  #begin(): Decoder {
    this.#bomSeen = false;
    if (this.#encoding === 'utf-8') return new Utf8Decoder(this.#fatal);
    return this.#encoding === 'utf-16le' ? new Utf16LeDecoder(this.#fatal) : { decode: decodeWindows1252 };
  }

  #withoutBom(text: string): string {
    if (this.#ignoreBOM || this.#bomSeen || text === '' || this.#encoding === 'windows-1252') return text;
    this.#bomSeen = true;
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }
}

class Utf16LeDecoder implements Decoder {
  readonly #fatal: boolean;
  #low = -1;
  /** A high surrogate whose other half has not come. */
  #high = '';

  constructor(fatal: boolean) {
    this.#fatal = fatal;
  }

  decode(bytes: Uint8Array, last: boolean): string {
    let out = '';
    for (const byte of bytes) {
      if (this.#low < 0) this.#low = byte;
      else {
        out += this.#unit(this.#low | (byte << 8));
        this.#low = -1;
      }
    }
    // A lone half of a pair and a lone byte at the end are one error together.
    const unfinished = this.#high !== '' || this.#low >= 0;
    return last && unfinished ? out + this.#replacement() : out;
  }

  #unit(unit: number): string {
    const text = String.fromCharCode(unit);
    const before = this.#high;
    this.#high = '';
    if (unit >= 0xdc00 && unit <= 0xdfff) return before === '' ? this.#replacement() : before + text;
    const lone = before === '' ? '' : this.#replacement();
    if (unit < 0xd800 || unit > 0xdfff) return lone + text;
    this.#high = text;
    return lone;
  }

  #replacement(): string {
    if (this.#fatal) throw new TypeError('The encoded data was not valid for encoding utf-16le');
    return '\ufffd';
  }
}

function decodeWindows1252(bytes: Uint8Array): string {
  let out = '';
  for (const byte of bytes) out += byte < 0x80 || byte > 0x9f ? String.fromCharCode(byte) : WINDOWS_1252[byte - 0x80];
  return out;
}

function bytesOf(input: unknown): Uint8Array {
  if (input === undefined) return new Uint8Array(0);
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  throw new TypeError('The "input" argument must be an ArrayBuffer or a view of one');
}
