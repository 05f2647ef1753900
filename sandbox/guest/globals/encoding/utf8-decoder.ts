/** UTF-16 units that are joined at once; more would overflow the stack of the call. */
const BATCH = 4096;

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
    let out = '';
    let units: number[] = [];
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index] as number;
      if (this.#needed === 0) {
        if (byte < 0x80) units.push(byte);
        else if (!this.#lead(byte)) units.push(this.#malformed());
      } else if (byte < this.#lower || byte > this.#upper) {
        this.#reset();
        units.push(this.#malformed());
        index--; // It may begin the next character.
      } else if (this.#continuation(byte)) {
        pushPoint(units, this.#point);
        this.#reset();
      }
      if (units.length >= BATCH) {
        out += String.fromCharCode.apply(null, units);
        units = [];
      }
    }
    if (last && this.#needed > 0) {
      this.#reset();
      units.push(this.#malformed());
    }
    return out + String.fromCharCode.apply(null, units);
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

function pushPoint(units: number[], point: number): void {
  if (point < 0x10000) units.push(point);
  else units.push(0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
}
