import { conformToWebIdl } from '../web-idl.ts';

/** UTF-16 units that are joined at once; more would overflow the stack of the call. */
const BATCH = 4096;

/** The shortest run of ASCII bytes that is converted at once. */
const LONG_RUN = 64;

/** Most UTF-16 units that one step adds. */
const STEP = LONG_RUN + 2;

/** UTF-8 decoder that can be fed piece by piece (Encoding Standard 8.1.1). */
export class Utf8Decoder {
  readonly #fatal: boolean;
  #point = 0;
  #needed = 0;
  #seen = 0;
  #lower = 0x80;
  #upper = 0xbf;

  /** A fatal decoder throws a TypeError on malformed input; others put U+FFFD in its place. */
  constructor(fatal: boolean) {
    this.#fatal = fatal;
  }

  /** `last` says that no more bytes will come, so that an unfinished sequence is malformed. */
  decode(bytes: Uint8Array, last: boolean): string {
    const units = new Uint16Array(Math.min(BATCH, bytes.length) + STEP);
    let count = 0;
    let out = '';
    let index = 0;
    while (index < bytes.length) {
      if (count >= BATCH) {
        out += textOfUtf16(units.subarray(0, count));
        count = 0;
      }
      if (this.#needed === 0) {
        const end = asciiEnd(bytes, index);
        if (end - index < LONG_RUN) {
          while (index < end) units[count++] = bytes[index++] as number;
        } else {
          out += textOfUtf16(units.subarray(0, count)) + latin1Text(bytes.subarray(index, end));
          count = 0;
          index = end;
        }
        for (let unit = shortPointAt(bytes, index); unit > 0 && count < BATCH; unit = shortPointAt(bytes, index)) {
          units[count++] = unit;
          index += unit < 0x800 ? 2 : 3;
        }
        const byte = bytes[index] ?? 0;
        if (byte < 0x80 || count >= BATCH) continue;
        index++;
        if (!this.#lead(byte)) units[count++] = this.#malformed();
        continue;
      }
      const byte = bytes[index++] as number;
      if (byte < this.#lower || byte > this.#upper) {
        this.#reset();
        units[count++] = this.#malformed();
        index--; // It may begin the next character.
      } else if (this.#continuation(byte)) {
        count = putPoint(units, count, this.#point);
        this.#reset();
      }
    }
    if (last && this.#needed > 0) {
      this.#reset();
      units[count++] = this.#malformed();
    }
    return out + textOfUtf16(units.subarray(0, count));
  }

  /** Takes the first byte of a sequence; false when it is none. */
  #lead(byte: number): boolean {
    if (byte >= 0xc2 && byte <= 0xdf) this.#expect(1, byte & 0x1f);
    else if (byte >= 0xe0 && byte <= 0xef) {
      if (byte === 0xe0) this.#lower = 0xa0;
      if (byte === 0xed) this.#upper = 0x9f;
      this.#expect(2, byte & 0x0f);
    } else if (byte >= 0xf0 && byte <= 0xf4) {
      if (byte === 0xf0) this.#lower = 0x90;
      if (byte === 0xf4) this.#upper = 0x8f;
      this.#expect(3, byte & 0x07);
    } else return false;
    return true;
  }

  #expect(needed: number, point: number): void {
    this.#needed = needed;
    this.#seen = 0;
    this.#point = point;
  }

  /** Takes a further byte; true when the character is complete. */
  #continuation(byte: number): boolean {
    this.#lower = 0x80;
    this.#upper = 0xbf;
    this.#point = (this.#point << 6) | (byte & 0x3f);
    return ++this.#seen === this.#needed;
  }

  #reset(): void {
    this.#expect(0, 0);
    this.#lower = 0x80;
    this.#upper = 0xbf;
  }

  #malformed(): number {
    if (this.#fatal) throw new TypeError('The encoded data was not valid for encoding utf-8');
    return 0xfffd;
  }
}

function asciiEnd(bytes: Uint8Array, from: number): number {
  let end = from;
  while (end < bytes.length && (bytes[end] as number) < 0x80) end++;
  return end;
}

/**
 * The code point of a whole character of two or three bytes at `at`, as nearly all are. 0 if the bytes need a closer
 * look.
 */
function shortPointAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const second = bytes[at + 1] ?? 0;
  const third = bytes[at + 2] ?? 0;
  if ((second & 0xc0) !== 0x80) return 0;
  if (first >= 0xc2 && first <= 0xdf) return ((first & 0x1f) << 6) | (second & 0x3f);
  // After E0 and ED, not every continuation byte is valid.
  if (first < 0xe1 || first > 0xef || first === 0xed || (third & 0xc0) !== 0x80) return 0;
  return ((first & 0x0f) << 12) | ((second & 0x3f) << 6) | (third & 0x3f);
}

/** Writes the one or two units of a code point, and returns where the next one goes. */
function putPoint(units: Uint16Array, at: number, point: number): number {
  if (point < 0x10000) {
    units[at] = point;
    return at + 1;
  }
  units[at] = 0xd800 + ((point - 0x10000) >> 10);
  units[at + 1] = 0xdc00 + ((point - 0x10000) & 0x3ff);
  return at + 2;
}

/** A text with one character for each byte. The character's code is the byte. */
export function latin1Text(bytes: Uint8Array): string {
  let out = '';
  for (let from = 0; from < bytes.length; from += BATCH) out += textOfUtf16(bytes.subarray(from, from + BATCH));
  return out;
}

/** The bytes of a text: the lower half of each UTF-16 unit. */
export function latin1Bytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

/** The text of UTF-16 units. More than a few thousand units would overflow the stack. */
export function textOfUtf16(units: Uint8Array | Uint16Array): string {
  return Reflect.apply(String.fromCharCode, null, units);
}

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
type MakeLegacy = (label: string, options: object) => WholeDecoder | undefined;

/** Makes decoders for the other encodings. They are many and rarely used, so another lazy module sets this function. */
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

conformToWebIdl(TextDecoder);

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
