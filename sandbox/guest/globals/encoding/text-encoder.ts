import { conformToWebIdl } from '../web-idl.ts';

/** The bytes of a text in UTF-8 (Encoding Standard 7.4); a lone surrogate becomes U+FFFD. */
export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  const ascii = new Uint8Array(text.length);
  const same = writeAscii(text, ascii);
  if (same === text.length) return ascii;
  const bytes = new Uint8Array(same + utf8Length(text, same));
  bytes.set(ascii.subarray(0, same));
  write(text, bytes, { read: same, written: same });
  return bytes;
}

/** The number of bytes of a text in UTF-8, from UTF-16 unit `from` on. */
export function utf8Length(text: string, from = 0): number {
  let bytes = 0;
  for (let index = from; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else {
      const point = codePointAt(text, index);
      bytes += sizeOf(point);
      if (point > 0xffff) index++;
    }
  }
  return bytes;
}

/** Writes as many whole characters as fit; `read` counts UTF-16 units, `written` bytes. */
export function writeUtf8(text: string, bytes: Uint8Array): { read: number; written: number } {
  const same = writeAscii(text, bytes);
  return write(text, bytes, { read: same, written: same });
}

/**
 * Writes the ASCII beginning of a text, one byte a unit. Most texts are wholly ASCII, and others mostly. Returns the
 * number of units written.
 */
function writeAscii(text: string, bytes: Uint8Array): number {
  const most = Math.min(text.length, bytes.length);
  let index = 0;
  for (; index < most; index++) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7f) break;
    bytes[index] = unit;
  }
  return index;
}

function write(text: string, bytes: Uint8Array, from: { read: number; written: number }) {
  let { read, written } = from;
  while (read < text.length) {
    const point = codePointAt(text, read);
    const size = sizeOf(point);
    if (written + size > bytes.length) break;
    if (size === 1) bytes[written++] = point;
    else {
      const lead = size === 2 ? 0xc0 : size === 3 ? 0xe0 : 0xf0;
      bytes[written++] = lead | (point >> (6 * (size - 1)));
      for (let shift = 6 * (size - 2); shift >= 0; shift -= 6) bytes[written++] = 0x80 | ((point >> shift) & 0x3f);
    }
    read += point > 0xffff ? 2 : 1;
  }
  return { read, written };
}

function codePointAt(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  if (unit < 0xd800 || unit > 0xdfff) return unit;
  if (unit > 0xdbff || index + 1 === text.length) return 0xfffd;
  const next = text.charCodeAt(index + 1);
  return next >= 0xdc00 && next <= 0xdfff ? 0x10000 + ((unit - 0xd800) << 10) + (next - 0xdc00) : 0xfffd;
}

function sizeOf(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

/** UTF-8 encoder (Encoding Standard 7.4). */
export class TextEncoder {
  /** A private field that only objects of this class have. */
  readonly #brand = 'utf-8';

  get encoding(): string {
    return this.#brand;
  }

  encode(input: unknown = ''): Uint8Array {
    return encodeUtf8(textFor(this.#brand, input));
  }

  /** Writes as many whole characters as fit; `read` counts UTF-16 units, `written` bytes. */
  encodeInto(input: unknown, destination: Uint8Array): { read: number; written: number } {
    const text = textFor(this.#brand, input);
    if (!(destination instanceof Uint8Array)) throw new TypeError('The destination must be a Uint8Array');
    return writeUtf8(text, destination);
  }
}

conformToWebIdl(TextEncoder, { required: { encodeInto: 2 } });

function textFor(_brand: string, input: unknown): string {
  return `${input as string}`;
}
