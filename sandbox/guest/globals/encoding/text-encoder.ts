import { conform } from '../web-idl.ts';

/** UTF-8 encoder (Encoding Standard 7.4); a lone surrogate becomes U+FFFD. */
export class TextEncoder {
  /** Only the objects of this class have it. */
  readonly #brand = 'utf-8';

  get encoding(): string {
    return this.#brand;
  }

  encode(input: unknown = ''): Uint8Array {
    const text = textFor(this.#brand, input);
    const bytes = new Uint8Array(byteLength(text));
    write(text, bytes);
    return bytes;
  }

  /** Writes as many whole characters as fit; `read` counts UTF-16 units, `written` bytes. */
  encodeInto(input: unknown, destination: Uint8Array): { read: number; written: number } {
    const text = textFor(this.#brand, input);
    if (!(destination instanceof Uint8Array)) throw new TypeError('The destination must be a Uint8Array');
    return write(text, destination);
  }
}

conform(TextEncoder, { required: { encodeInto: 2 } });

function textFor(_brand: string, input: unknown): string {
  return `${input as string}`;
}

function write(text: string, bytes: Uint8Array): { read: number; written: number } {
  let written = 0;
  let read = 0;
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

function byteLength(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const point = codePointAt(text, index);
    bytes += sizeOf(point);
    if (point > 0xffff) index++;
  }
  return bytes;
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
