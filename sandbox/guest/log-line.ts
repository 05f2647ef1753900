import {
  ArrayBufferPrototype,
  apply,
  charCodeAt,
  DatePrototype,
  dateToIso,
  dateValue,
  ErrorPrototype,
  enumerableKeys,
  getOwnPropertyDescriptor,
  isArray,
  isFiniteNumber,
  isPrototypeOf,
  MapPrototype,
  mapForEach,
  PromisePrototype,
  quoteJson,
  RegExpPrototype,
  regExpExec,
  regExpToString,
  SetPrototype,
  setForEach,
  stringIncludes,
  stringSlice,
  TypedArrayPrototype,
  toText,
} from './intrinsics/primordials.ts';

const MAX_LINE = 8192;
/** Most characters of an error's properties, which follow its stack. Leaves room for the cause after them. */
const MAX_DATA = 1024;
const DEEPEST = 12;
const NONE: readonly string[] = [];
/** Properties of an error that stand in its first lines or get lines of their own, even if they were set by assignment. */
const CAUSE: readonly string[] = ['cause', 'message', 'stack'];
const CAUSES: readonly string[] = ['cause', 'message', 'stack', 'errors'];

/**
 * Makes one log line from console arguments, joined with a space. Strings appear as they are, objects as JSON without
 * spaces. Where JSON would drop or falsify a value or fail, the line shows the value itself: `undefined`, `NaN`, `5n`,
 * `[Function name]`, `[Circular]`, errors with their stack, the entries of a Map. Depth and length are bounded. Never
 * throws.
 */
export function logLine(values: readonly unknown[]): string {
  let line = '';
  for (let index = 0; index < values.length && line.length <= MAX_LINE; index++) {
    if (index > 0) line += ' ';
    const value = values[index];
    line += typeof value === 'string' ? value : formatValue(value, MAX_LINE);
  }
  return cut(line, MAX_LINE);
}

/** Readable text of one value, of about `longest` characters at most. */
export function formatValue(value: unknown, longest: number): string {
  const formatter = new Formatter(longest);
  try {
    formatter.value(value, null, 0);
  } catch {
    // A getter, toJSON or Proxy trap threw. The text up to that point stays.
    formatter.text += '[Unreadable]';
  }
  return cut(formatter.text, longest);
}

/**
 * The log line for an uncaught value: an error with its stack and its causes, any other value as it is. A hint follows.
 */
export function uncaughtLine(thrown: unknown, hint = ''): string {
  const text = formatValue(thrown, MAX_LINE);
  const rest = hint === '' ? '' : `\n${hint}`;
  return `Uncaught ${text}${isError(thrown) ? '' : ' (not an Error, so it has no stack)'}${rest}`;
}

function isError(value: unknown): boolean {
  try {
    return typeof value === 'object' && value !== null && isPrototypeOf(ErrorPrototype, value);
  } catch {
    return false;
  }
}

/** Objects that are being written, from the innermost outwards. */
interface Chain {
  readonly object: object;
  readonly outer: Chain | null;
}

class Formatter {
  text = '';
  readonly #longest: number;

  constructor(longest: number) {
    this.#longest = longest;
  }

  get #full(): boolean {
    return this.text.length > this.#longest;
  }

  value(value: unknown, outer: Chain | null, depth: number): void {
    if (typeof value === 'string') this.text += quoteJson(cut(value, this.#longest));
    else if (typeof value === 'bigint') this.text += `${toText(value)}n`;
    else if (typeof value === 'number') this.text += `${value}`;
    else if (typeof value === 'function') this.text += functionText(value);
    else if (typeof value === 'object' && value !== null) this.#object(value, outer, depth);
    else this.text += toText(value);
  }

  #object(object: object, outer: Chain | null, depth: number): void {
    for (let link = outer; link !== null; link = link.outer) {
      if (link.object === object) {
        this.text += '[Circular]';
        return;
      }
    }
    const chain = { object, outer };
    if (depth >= DEEPEST) this.text += isArray(object) ? '[Array]' : '[Object]';
    else if (isArray(object)) this.#list(object, chain, depth);
    else if (isPrototypeOf(ErrorPrototype, object)) this.#error(object, chain, depth);
    else if (!this.#builtIn(object, chain, depth)) this.#record(object, chain, depth);
  }

  /** Writes objects of classes whose content JSON does not show. Returns false for any other object. */
  #builtIn(object: object, chain: Chain, depth: number): boolean {
    if (isPrototypeOf(DatePrototype, object)) this.text += dateText(object);
    else if (isPrototypeOf(RegExpPrototype, object)) this.text += regExpToString(object);
    else if (isPrototypeOf(PromisePrototype, object)) this.text += '[Promise]';
    else if (isPrototypeOf(MapPrototype, object)) this.#map(object, chain, depth);
    else if (isPrototypeOf(SetPrototype, object)) this.#set(object, chain, depth);
    else if (isPrototypeOf(TypedArrayPrototype, object)) this.#list(object as ArrayLike<unknown>, chain, depth);
    else if (isPrototypeOf(ArrayBufferPrototype, object)) this.text += '[ArrayBuffer]';
    else return false;
    return true;
  }

  #list(items: ArrayLike<unknown>, chain: Chain, depth: number): void {
    this.text += '[';
    for (let index = 0; index < items.length && !this.#full; index++) {
      if (index > 0) this.text += ',';
      this.value(items[index], chain, depth + 1);
    }
    this.text += ']';
  }

  #map(map: object, chain: Chain, depth: number): void {
    let separator = 'Map {';
    mapForEach(map, (value, key) => {
      if (this.#full) return;
      this.text += separator;
      separator = ',';
      this.value(key, chain, depth + 1);
      this.text += ' => ';
      this.value(value, chain, depth + 1);
    });
    this.text += separator === ',' ? '}' : 'Map {}';
  }

  #set(set: object, chain: Chain, depth: number): void {
    let separator = 'Set {';
    setForEach(set, (value) => {
      if (this.#full) return;
      this.text += separator;
      separator = ',';
      this.value(value, chain, depth + 1);
    });
    this.text += separator === ',' ? '}' : 'Set {}';
  }

  #record(object: object, chain: Chain, depth: number): void {
    const { toJSON } = object as { toJSON?: unknown };
    if (typeof toJSON === 'function') {
      this.value(apply(toJSON, object, ['']), chain, depth + 1);
      return;
    }
    this.text += '{';
    this.#properties(object, chain, depth, NONE);
    this.text += '}';
  }

  /** Writes own enumerable properties without the braces. Shows a getter as `[Getter]` and does not run it. */
  #properties(object: object, chain: Chain, depth: number, except: readonly string[]): void {
    const names = enumerableKeys(object);
    let separator = '';
    for (let index = 0; index < names.length && !this.#full; index++) {
      const name = names[index] as string;
      const property = getOwnPropertyDescriptor(object, name);
      if (property === undefined || includes(except, name)) continue;
      this.text += `${separator}${quoteJson(name)}:`;
      separator = ',';
      if (property.get === undefined) this.value(property.value, chain, depth + 1);
      else this.text += '[Getter]';
    }
  }

  #error(error: object, chain: Chain, depth: number): void {
    const { stack, name, message, cause, errors } = error as Partial<AggregateError>;
    const head = `${textOr(name, 'Error')}: ${textOr(message, '')}`;
    // Classes that set the message later, as a getter for instance, have a stack without it.
    const isWhole = typeof message !== 'string' || message === '' || stringIncludes(textOr(stack, ''), message);
    if (typeof stack === 'string' && stack !== '') this.text += isWhole ? stack : `${head}${framesOf(stack)}`;
    else this.text += head;
    const data = new Formatter(MAX_DATA);
    data.#properties(error, chain, depth, isArray(errors) ? CAUSES : CAUSE);
    if (data.text !== '') this.text += ` {${cut(data.text, MAX_DATA)}}`;
    if (cause !== undefined) this.#below('cause', cause, chain, depth);
    if (isArray(errors)) {
      for (let index = 0; index < errors.length && !this.#full; index++) {
        this.#below(`error ${index + 1}`, errors[index], chain, depth);
      }
    }
  }

  #below(name: string, value: unknown, chain: Chain, depth: number): void {
    this.text += `\n[${name}]: `;
    this.value(value, chain, depth + 1);
  }
}

function includes(names: readonly string[], wanted: string): boolean {
  for (let index = 0; index < names.length; index++) if (names[index] === wanted) return true;
  return false;
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

function functionText(value: object): string {
  const name = getOwnPropertyDescriptor(value, 'name')?.value as unknown;
  return typeof name === 'string' && name !== '' ? `[Function ${cut(name, 200)}]` : '[Function]';
}

function dateText(date: object): string {
  return isFiniteNumber(dateValue(date)) ? quoteJson(dateToIso(date)) : 'Invalid Date';
}

const FIRST_FRAME = /\n {4}at /;

function framesOf(stack: string): string {
  const found = regExpExec(FIRST_FRAME, stack);
  return found === null ? '' : stringSlice(stack, found.index);
}

/** The beginning of a text, never ending on half a surrogate pair. */
function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const unit = charCodeAt(text, longest - 1);
  const end = unit >= 0xd800 && unit <= 0xdbff ? longest - 1 : longest;
  return `${stringSlice(text, 0, end)}… (${text.length - end} more characters)`;
}
