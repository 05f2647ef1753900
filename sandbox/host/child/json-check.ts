/** Text that is nested more deeply is refused. Our own guest runtime never writes such a text. */
const DEEPEST = 4096;
/** Most texts are nested less deeply than this. Beyond it, the record of open containers grows. One scan uses it at a time. */
const SHALLOW = new Uint8Array(32);

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const LOWER_U = 0x75;
const ESCAPED: ReadonlySet<number> = new Set(Array.from('"\\/bfnrt', (letter) => letter.charCodeAt(0)));

const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const FOUR_HEX = /[0-9a-fA-F]{4}/y;

/**
 * Whether a text is well-formed Unicode and one JSON value (RFC 8259) as `JSON.stringify` writes it, without any blanks
 * around or in it. Builds no objects, so a megabyte of `[[],[],…` costs no more than one of prose.
 */
export function isJson(text: string): boolean {
  return text.isWellFormed() && new Scan(text).isWhole();
}

class Scan {
  readonly #text: string;
  /** One byte for each open container: 1 for an object. */
  #open = SHALLOW;
  #depth = 0;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  isWhole(): boolean {
    for (;;) {
      if (!this.#begin()) return false;
      // A value has ended. The containers around it may end too.
      for (;;) {
        if (this.#depth === 0) return this.#at === this.#text.length;
        const isObject = this.#open[this.#depth - 1] === 1;
        const code = this.#text.charCodeAt(this.#at++);
        if (code === COMMA) {
          if (isObject && !this.#key()) return false;
          break;
        }
        if (code !== (isObject ? CLOSE_BRACE : CLOSE_BRACKET)) return false;
        this.#depth -= 1;
      }
    }
  }

  /** Reads to the end of the next scalar or empty container, entering containers on the way. */
  #begin(): boolean {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === QUOTE) return this.#string();
      if (code !== OPEN_BRACE && code !== OPEN_BRACKET) return this.#scalar();
      this.#at += 1;
      const isObject = code === OPEN_BRACE;
      if (this.#text.charCodeAt(this.#at) === (isObject ? CLOSE_BRACE : CLOSE_BRACKET)) {
        this.#at += 1;
        return true;
      }
      if (this.#depth === DEEPEST) return false;
      if (this.#depth === this.#open.length) this.#deepen();
      this.#open[this.#depth++] = isObject ? 1 : 0;
      if (isObject && !this.#key()) return false;
    }
  }

  #deepen(): void {
    const open = new Uint8Array(DEEPEST);
    open.set(this.#open);
    this.#open = open;
  }

  #key(): boolean {
    return this.#text.charCodeAt(this.#at) === QUOTE && this.#string() && this.#text.charCodeAt(this.#at++) === COLON;
  }

  #string(): boolean {
    this.#at += 1;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at++);
      if (code === QUOTE) return true;
      // At the end of the text the code is NaN.
      if (!(code >= FIRST_PRINTABLE)) return false;
      if (code === BACKSLASH && !this.#escape()) return false;
    }
  }

  #escape(): boolean {
    const letter = this.#text.charCodeAt(this.#at++);
    return letter === LOWER_U ? this.#matches(FOUR_HEX) : ESCAPED.has(letter);
  }

  #scalar(): boolean {
    return this.#matches(SCALAR);
  }

  #matches(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }
}
