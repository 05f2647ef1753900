import { latin1Text, textOf } from './latin1.ts';

/** UTF-16 units that are joined at once. */
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
        out += textOf(units.subarray(0, count));
        count = 0;
      }
      if (this.#needed === 0) {
        const end = asciiEnd(bytes, index);
        if (end - index < LONG_RUN) {
          while (index < end) units[count++] = bytes[index++] as number;
        } else {
          out += textOf(units.subarray(0, count)) + latin1Text(bytes.subarray(index, end));
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
    return out + textOf(units.subarray(0, count));
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
