import { conform } from '../web-idl.ts';
import { Utf8Decoder } from './utf8-decoder.ts';

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** The labels of four encodings (Encoding Standard 4.2). */
const LABELS: Readonly<Record<Encoding, string>> = {
  'utf-8': 'unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8',
  'utf-16le': 'csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le',
  'utf-16be': 'unicodefffe utf-16be',
  'windows-1252':
    'ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 ' +
    'iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252',
};

/** The characters of windows-1252 in place of the control characters 0x80 to 0x9f. */
const WINDOWS_1252 =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f' +
  '\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

/** Decodes bytes piece by piece; `last` says that no more will come. Throws a TypeError on bad input when fatal. */
interface Decoder {
  decode(bytes: Uint8Array, last: boolean): string;
}

/** A decoder for one of the other encodings, with the methods of the web's class. */
export interface WholeDecoder {
  readonly encoding: string;
  decode(input: Uint8Array, options: { stream?: boolean }): string;
}

/** Makes a decoder for a label that is not among the four; undefined for an unknown label. */
export type MakeLegacy = (label: string, options: object) => WholeDecoder | undefined;

/** Makes decoders for the other encodings. They are many and rarely used, so another part sets this function. */
let makeLegacy: MakeLegacy = () => undefined;

export function setLegacyDecoders(make: MakeLegacy): void {
  makeLegacy = make;
}

/**
 * Decoder (Encoding Standard 7.2). It decodes UTF-8, UTF-16 and windows-1252 itself, and other encodings with
 * {@link MakeLegacy}.
 */
export class TextDecoder {
  readonly #encoding: Encoding | undefined;
  readonly #legacy: WholeDecoder | undefined;
  readonly #fatal: boolean;
  readonly #ignoreBOM: boolean;
  #decoder: Decoder | null = null;
  #bomSeen = false;

  constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    // Only ASCII white space is trimmed (Encoding Standard 4.2).
    const name = String(label)
      .replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '')
      .toLowerCase();
    const encoding = (Object.keys(LABELS) as Encoding[]).find((key) => LABELS[key].split(' ').includes(name));
    this.#encoding = encoding;
    this.#fatal = Boolean(options?.fatal);
    this.#ignoreBOM = Boolean(options?.ignoreBOM);
    if (encoding !== undefined) return;
    this.#legacy = makeLegacy(name, { fatal: this.#fatal, ignoreBOM: this.#ignoreBOM });
    if (this.#legacy === undefined) {
      throw new RangeError(`The encoding label provided ('${String(label)}') is invalid.`);
    }
  }

  get encoding(): string {
    return this.#legacy?.encoding ?? this.#encoding ?? '';
  }

  get fatal(): boolean {
    return this.#fatal;
  }

  get ignoreBOM(): boolean {
    return this.#ignoreBOM;
  }

  decode(input?: ArrayBuffer | ArrayBufferView, options: { stream?: boolean } = {}): string {
    const last = !options?.stream;
    if (this.#legacy !== undefined) return this.#legacy.decode(bytesOf(input), { stream: !last });
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

  #begin(): Decoder {
    this.#bomSeen = false;
    if (this.#encoding === 'utf-8') return new Utf8Decoder(this.#fatal);
    return this.#encoding === 'windows-1252'
      ? { decode: decodeWindows1252 }
      : new Utf16Decoder(this.#encoding ?? 'utf-16le', this.#fatal);
  }

  #withoutBom(text: string): string {
    if (this.#ignoreBOM || this.#bomSeen || text === '' || this.#encoding === 'windows-1252') return text;
    this.#bomSeen = true;
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }
}

conform(TextDecoder);

class Utf16Decoder implements Decoder {
  readonly #encoding: Encoding;
  readonly #fatal: boolean;
  /** The first byte of a unit whose second has not come. */
  #first = -1;
  /** A high surrogate whose other half has not come. */
  #high = '';

  constructor(encoding: Encoding, fatal: boolean) {
    this.#encoding = encoding;
    this.#fatal = fatal;
  }

  decode(bytes: Uint8Array, last: boolean): string {
    let out = '';
    for (const byte of bytes) {
      if (this.#first < 0) this.#first = byte;
      else {
        const first = this.#first;
        out += this.#unit(this.#encoding === 'utf-16be' ? (first << 8) | byte : first | (byte << 8));
        this.#first = -1;
      }
    }
    // A lone half of a pair and a lone byte at the end are one error together.
    const unfinished = this.#high !== '' || this.#first >= 0;
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
    if (this.#fatal) throw new TypeError(`The encoded data was not valid for encoding ${this.#encoding}`);
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
