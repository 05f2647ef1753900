import {
  apply,
  BigIntPrototype,
  BooleanPrototype,
  bigintValue,
  booleanValue,
  charCodeAt,
  enumerableKeys,
  isArray,
  isFiniteNumber,
  isPrototypeOf,
  isRawJson,
  NumberPrototype,
  numberValue,
  quoteJson,
  regExpExec,
  StringPrototype,
  stringSlice,
  stringValue,
} from './intrinsics/primordials.ts';

/**
 * A value's JSON text, or the reason why it has none. The message of `shape` names the path, that of `size` the limit.
 */
type JsonText = { ok: true; text: string } | { ok: false; fault: 'shape' | 'size'; message: string };

/** Deeper nesting is refused. The engine's own JSON.stringify fails when its stack is full. */
const DEEPEST = 2000;

const MAX_PATH = 200;

const NAME = /^[A-Za-z_$][\w$]*$/;

/**
 * Writes a value as JSON.stringify would (ECMA-262 25.5.2), with three differences. A top-level function or symbol is a
 * fault and not `undefined`. A fault names its path below `root`. Writing stops when the text outgrows `limitBytes` of
 * UTF-8, so that an enormous value makes no enormous text. Top-level undefined becomes null. An error that a getter or
 * `toJSON` of the value throws is passed on.
 */
export function toJsonText(value: unknown, root: string, limitBytes: number): JsonText {
  const writer = new JsonWriter(root, limitBytes);
  try {
    const text = writer.write(value);
    return { ok: true, text };
  } catch (error) {
    if (Fault.is(error)) return { ok: false, fault: error.kind, message: error.message };
    throw error;
  }
}

/** The place of a value that is being written. Its parents form the path, and reveal a cycle. */
interface Place {
  readonly holder: object | null;
  readonly key: string | number;
  readonly parent: Place | null;
  readonly depth: number;
}

/** `is` looks for the private field, because `instanceof` would run the traps of a thrown Proxy. */
class Fault {
  readonly #kind: 'shape' | 'size';
  readonly message: string;

  constructor(kind: 'shape' | 'size', message: string) {
    this.#kind = kind;
    this.message = message;
  }

  static is(error: unknown): error is Fault {
    return typeof error === 'object' && error !== null && #kind in error;
  }

  get kind(): 'shape' | 'size' {
    return this.#kind;
  }
}

class JsonWriter {
  readonly #root: string;
  readonly #limit: number;
  #text = '';

  constructor(root: string, limitBytes: number) {
    this.#root = root;
    this.#limit = limitBytes;
  }

  write(value: unknown): string {
    const top: Place = { holder: null, key: '', parent: null, depth: 0 };
    if (!this.#value(value, top)) {
      if (typeof value === 'function' || typeof value === 'symbol') this.#refuse(top, `is a ${typeof value}`);
      this.#text = 'null';
    }
    // Counts the bytes only near the limit: a UTF-16 unit takes at most three bytes, and mostly one.
    if (this.#text.length * 3 > this.#limit) {
      const bytes = utf8Length(this.#text);
      if (bytes > this.#limit) throw this.#tooLarge(`${bytes} bytes of JSON`);
    }
    return this.#text;
  }

  /** Writes one value; false when JSON has no text for it, so that the caller leaves it out. */
  #value(given: unknown, place: Place): boolean {
    let value = given;
    if ((typeof value === 'object' && value !== null) || typeof value === 'function' || typeof value === 'bigint') {
      const { toJSON } = value as { toJSON?: unknown };
      if (typeof toJSON === 'function') value = apply(toJSON, value, [`${place.key}`]);
      if (typeof value === 'object' && value !== null) value = unboxed(value);
    }
    switch (typeof value) {
      case 'string':
        this.#string(value, place);
        return true;
      case 'number':
        this.#add(isFiniteNumber(value) ? `${value}` : 'null');
        return true;
      case 'boolean':
        this.#add(value ? 'true' : 'false');
        return true;
      case 'bigint':
        return this.#refuse(place, 'is a BigInt');
      case 'object':
        if (value === null) this.#add('null');
        else if (isRawJson(value)) this.#add(value.rawJSON);
        else this.#object(value, place);
        return true;
      default:
        return false;
    }
  }

  #object(holder: object, place: Place): void {
    for (let above = place.parent; above !== null; above = above.parent) {
      if (above.holder === holder) this.#refuse(place, `refers back to ${this.#path(above)}`);
    }
    if (place.depth > DEEPEST) this.#refuse(place, `is nested more than ${DEEPEST} levels deep`);
    const here: Place = { holder, key: place.key, parent: place.parent, depth: place.depth };
    if (isArray(holder)) this.#array(holder, here);
    else this.#record(holder as Record<string, unknown>, here);
  }

  #array(items: unknown[], here: Place): void {
    this.#add('[');
    const { length } = items;
    for (let index = 0; index < length; index++) {
      if (index > 0) this.#add(',');
      const place: Place = { holder: null, key: index, parent: here, depth: here.depth + 1 };
      if (!this.#value(items[index], place)) this.#add('null');
    }
    this.#add(']');
  }

  #record(record: Record<string, unknown>, here: Place): void {
    const names = enumerableKeys(record);
    let separator = '{';
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as string;
      const before = this.#text;
      this.#add(separator);
      this.#add(quoteJson(name));
      this.#add(':');
      if (this.#value(record[name], { holder: null, key: name, parent: here, depth: here.depth + 1 })) separator = ',';
      else this.#text = before;
    }
    this.#add(separator === '{' ? '{}' : '}');
  }

  #string(text: string, place: Place): void {
    // Checks the length before quoting, because quoting copies the text.
    if (this.#text.length + text.length > this.#limit) {
      throw this.#tooLarge(`at least ${this.#text.length + text.length + 2} bytes of JSON, up to ${this.#path(place)}`);
    }
    this.#add(quoteJson(text));
  }

  #add(piece: string): void {
    this.#text += piece;
    if (this.#text.length > this.#limit) throw this.#tooLarge(`more than ${this.#text.length - 1} bytes of JSON`);
  }

  #refuse(place: Place, why: string): never {
    throw new Fault('shape', `${this.#path(place)} ${why}`);
  }

  #tooLarge(size: string): Fault {
    return new Fault('size', `${this.#root} is ${size}; the limit is ${this.#limit} bytes`);
  }

  #path(place: Place): string {
    let path = '';
    for (let at = place; at.parent !== null; at = at.parent) {
      path = step(at.key) + path;
      if (path.length > MAX_PATH) return `${this.#root}…${stringSlice(path, -MAX_PATH)}`;
    }
    return this.#root + path;
  }
}

function step(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`;
  return regExpExec(NAME, key) === null ? `[${quoteJson(key)}]` : `.${key}`;
}

/** The primitive inside a Number, String, Boolean or BigInt object. */
function unboxed(value: object): unknown {
  try {
    if (isPrototypeOf(NumberPrototype, value)) return numberValue(value);
    if (isPrototypeOf(StringPrototype, value)) return stringValue(value);
    if (isPrototypeOf(BooleanPrototype, value)) return booleanValue(value);
    if (isPrototypeOf(BigIntPrototype, value)) return bigintValue(value);
  } catch {
    return value;
  }
  return value;
}

/** The length of well-formed text in UTF-8. JSON text is well-formed: lone surrogates are written as escapes. */
function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = charCodeAt(text, index);
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}
