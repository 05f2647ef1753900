import type { Json } from '../../domain/json/json.ts';

/** The most that is parsed in one go. It takes a few milliseconds. */
const PIECE_BYTES = 128 * 1024;
/**
 * How many levels are taken apart: an answer, its list, an entry with a list of its own. Deeper levels are parsed in
 * one piece.
 */
const MAX_LEVELS = 5;
/** How many steps the search for structure takes before it pauses for other work. */
const STEPS_PER_TURN = 2_000;
/**
 * Limits on commas, on keys of one object, and on levels. No honest answer exceeds them, and more would take seconds to
 * build.
 */
const MAX_COMMAS = 1_000_000;
const MAX_KEYS = 50_000;
const MAX_DEPTH = 4_096;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const CLOSER = new Map([
  [0x5b, 0x5d],
  [0x7b, 0x7d],
]);
const CLOSERS: ReadonlySet<number> = new Set(CLOSER.values());
const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Parses JSON (RFC 8259) as `JSON.parse` does. A large text is parsed in pieces, and `pause` lets other work run
 * between them: one large answer must not stop the service. A large text that consists of tiny values is refused.
 * @throws SyntaxError
 */
export async function parseLargeJson(body: Buffer, pause: () => Promise<void>): Promise<Json> {
  return body.length <= PIECE_BYTES
    ? parsePiece(body, 0, body.length)
    : new Pieces(body, pause).value(0, body.length, 0);
}

class Pieces {
  readonly #body: Buffer;
  readonly #pause: () => Promise<void>;
  #steps = 0;

  constructor(body: Buffer, pause: () => Promise<void>) {
    this.#body = body;
    this.#pause = pause;
  }

  /** The value between two places, with only spaces around it. */
  async value(from: number, to: number, level: number): Promise<Json> {
    const start = await this.#afterSpaces(from, to);
    const kind = this.#body[start];
    if (to - start <= PIECE_BYTES || level >= MAX_LEVELS || !CLOSER.has(kind ?? 0)) {
      await this.#pause();
      return parsePiece(this.#body, from, to);
    }
    const { commas, end } = await this.#places(start, to);
    if ((await this.#afterSpaces(end + 1, to)) !== to) throw new SyntaxError('there is more after the value');
    const bounds = [start, ...commas, end];
    const isEmpty = commas.length === 0 && (await this.#afterSpaces(start + 1, end)) === end;
    if (isEmpty) return kind === 0x5b ? [] : {};
    return kind === 0x5b ? this.#list(bounds, level) : this.#object(bounds, level);
  }

  /** Small neighbours are parsed together. */
  async #list(bounds: readonly number[], level: number): Promise<Json[]> {
    const list: Json[] = [];
    for (let index = 0; index + 1 < bounds.length; ) {
      const from = (bounds[index] ?? 0) + 1;
      let last = index + 1;
      while (last + 1 < bounds.length && (bounds[last + 1] ?? 0) - from <= PIECE_BYTES) last += 1;
      const to = bounds[last] ?? 0;
      if (last === index + 1) {
        list.push(await this.value(from, to, level + 1));
      } else {
        await this.#pause();
        const some = JSON.parse(`[${this.#body.toString('utf8', from, to)}]`) as Json[];
        for (const one of some) list.push(one);
      }
      index = last;
    }
    return list;
  }

  async #object(bounds: readonly number[], level: number): Promise<Json> {
    if (bounds.length > MAX_KEYS) throw new SyntaxError('an object has too many keys');
    const entries: [string, Json][] = [];
    for (let index = 0; index + 1 < bounds.length; index += 1) {
      const [from, to] = [(bounds[index] ?? 0) + 1, bounds[index + 1] ?? 0];
      const start = await this.#afterSpaces(from, to);
      const keyEnd = this.#body[start] === QUOTE ? await this.#afterText(start) : start;
      const colon = await this.#afterSpaces(keyEnd, to);
      if (keyEnd === start || this.#body[colon] !== COLON) throw new SyntaxError('an entry is no key with a value');
      const key = parsePiece(this.#body, start, keyEnd) as string;
      entries.push([key, await this.value(colon + 1, to, level + 1)]);
    }
    // As JSON.parse does it: every key becomes an own property, and the last of two equal keys counts.
    return Object.fromEntries(entries);
  }

  /** Finds the commas and the end of the list or object that begins here. */
  async #places(start: number, to: number): Promise<{ commas: number[]; end: number }> {
    const body = this.#body;
    const commas: number[] = [];
    const open: number[] = [];
    let seen = 0;
    let isInText = false;
    for (let at = start; at < to; at += 1) {
      if (this.#isTurnOver()) await this.#pause();
      // Skips texts without a promise for each: there are many, and most have no quote in them.
      if (isInText) {
        at = this.#quoteFrom(at);
        isInText = this.#isEscaped(at);
        continue;
      }
      const byte = body[at] ?? 0;
      if (byte === QUOTE) {
        isInText = true;
      } else if (byte === COMMA) {
        seen += 1;
        if (open.length === 1) commas.push(at);
        if (seen > MAX_COMMAS) throw new SyntaxError('it has too many values');
      } else if (CLOSERS.has(byte)) {
        if (open.pop() !== byte) break;
        if (open.length === 0) return { commas, end: at };
      } else {
        const closer = CLOSER.get(byte);
        if (closer !== undefined) open.push(closer);
        if (open.length > MAX_DEPTH) throw new SyntaxError('it nests too deeply');
      }
    }
    throw new SyntaxError('a list or an object does not end');
  }

  /** The place behind the text that begins here. */
  async #afterText(start: number): Promise<number> {
    let at = this.#quoteFrom(start + 1);
    while (this.#isEscaped(at)) {
      if (this.#isTurnOver()) await this.#pause();
      at = this.#quoteFrom(at + 1);
    }
    return at + 1;
  }

  #quoteFrom(start: number): number {
    const at = this.#body.indexOf(QUOTE, start);
    if (at === -1) throw new SyntaxError('a text does not end');
    return at;
  }

  /** Whether the quote is escaped, so that it is part of the text. */
  #isEscaped(quote: number): boolean {
    let escapes = 0;
    while (this.#body[quote - 1 - escapes] === BACKSLASH) escapes += 1;
    return escapes % 2 === 1;
  }

  async #afterSpaces(from: number, to: number): Promise<number> {
    let at = from;
    while (at < to && SPACES.has(this.#body[at] ?? 0)) {
      if (this.#isTurnOver()) await this.#pause();
      at += 1;
    }
    return at;
  }

  /** Counts a step. True when it is time to pause. */
  #isTurnOver(): boolean {
    this.#steps += 1;
    return this.#steps % STEPS_PER_TURN === 0;
  }
}

function parsePiece(body: Buffer, from: number, to: number): Json {
  return JSON.parse(body.toString('utf8', from, to)) as Json;
}
