import { setImmediate as turn } from 'node:timers/promises';
import type { PageRequest } from '../../domain/page.ts';

/**
 * The limit and offset of a page. A page number beyond what a database can count to lies after the end of every list.
 */
export function pageBounds({ page, perPage }: PageRequest): { limit: number; offset: number } {
  const offset = (Math.max(page, 1) - 1) * perPage;
  return { limit: perPage, offset: Math.min(offset, Number.MAX_SAFE_INTEGER) };
}

/** Returns the result of a query that counts. */
export function countOf(rows: readonly { total: number }[]): number {
  const [row] = rows;
  if (row === undefined) throw new Error('A query that counts answered nothing');
  return row.total;
}

/** The place of an entry in a list that is ordered by these two fields, newest first. */
export interface ListPlace {
  created_at: number;
  id: string;
}

/** A list that may be long. Each of its queries reads entries of an index and takes time in proportion to its count. */
export interface LongList {
  /** Identifies the list among others. */
  name: string;
  /** True when entries leave the list only when they are old. */
  isLasting: boolean;
  /** The place `count` entries after the given one, or after the beginning. Undefined beyond the end. */
  place(after: ListPlace | undefined, count: number): Promise<ListPlace | undefined>;
  /** How many entries come after a place, at most `most`. */
  countAfter(after: ListPlace | undefined, most: number): Promise<number>;
  /** How many entries come before a place, at most `most`. */
  countBefore(before: ListPlace, most: number): Promise<number>;
}

/** Where a page of a list begins: `skip` entries after `after`. */
interface PageStart {
  total: number;
  after: ListPlace | undefined;
  skip: number;
}

/** A table of contents: a list as it was at some moment. */
interface Contents {
  total: number;
  newest: ListPlace;
  /** The place of the last entry of each stride. */
  marks: readonly ListPlace[];
}

/** Entries in a stride. Where the database is embedded, passing over a stride takes about 0.1 ms of the main loop. */
const STRIDE = 1_000;
/** Most strides that are passed over before a table of contents is made, or made anew. */
const MAX_STRIDES = 10;
/** How long a table of contents is used, in milliseconds. */
const SERVES_MS = 60_000;

/**
 * Finds pages of long lists, and counts the lists, with queries whose time does not grow with the list. A short list is
 * counted each time. A longer list gets a table of contents, made stride by stride with a turn of the loop between
 * strides. It is used for a minute. New entries are counted in that time; entries that left are not subtracted. So a
 * list that empties fast is always counted first, up to a higher number.
 */
export class ListPages {
  readonly #stride: number;
  /** Up to this number, entries are counted instead. */
  readonly #counted: number;
  readonly #elapsed: () => number;
  readonly #known = new Map<string, { madeAt: number; contents: Promise<Contents> }>();

  constructor({ stride = STRIDE, elapsed = () => performance.now() } = {}) {
    this.#stride = stride;
    this.#counted = stride * MAX_STRIDES;
    this.#elapsed = elapsed;
  }

  /** Finds entry number `offset`, counted from 0. */
  async open(list: LongList, offset: number): Promise<PageStart> {
    if (!list.isLasting || this.#serving(list) === undefined) {
      const most = list.isLasting ? this.#stride : this.#counted;
      const total = await list.countAfter(undefined, most + 1);
      if (total <= most) return { total, after: undefined, skip: offset };
    }
    const { contents, newer } = await this.#contentsOf(list);
    const stride = Math.min(Math.floor((offset - newer) / this.#stride), contents.marks.length);
    return {
      total: contents.total + newer,
      after: contents.marks[stride - 1],
      skip: stride > 0 ? offset - newer - stride * this.#stride : offset,
    };
  }

  async #contentsOf(list: LongList): Promise<{ contents: Contents; newer: number }> {
    const contents = await this.#latest(list);
    const newer = await list.countBefore(contents.newest, this.#counted + 1);
    if (newer <= this.#counted) return { contents, newer };
    this.#known.delete(list.name);
    return { contents: await this.#latest(list), newer: 0 };
  }

  #latest(list: LongList): Promise<Contents> {
    const known = this.#serving(list);
    if (known !== undefined) return known;
    const contents = this.#make(list);
    this.#known.set(list.name, { madeAt: this.#elapsed(), contents });
    contents.catch(() => this.#known.delete(list.name));
    return contents;
  }

  /** The known table of contents of a list, unless it is too old. */
  #serving({ name }: LongList): Promise<Contents> | undefined {
    const now = this.#elapsed();
    for (const [one, { madeAt }] of this.#known) if (now - madeAt > SERVES_MS) this.#known.delete(one);
    return this.#known.get(name)?.contents;
  }

  async #make(list: LongList): Promise<Contents> {
    const newest = await list.place(undefined, 1);
    const marks: ListPlace[] = [];
    for (;;) {
      const mark = await list.place(marks.at(-1), this.#stride);
      if (mark === undefined) break;
      marks.push(mark);
      await turn();
    }
    const rest = await list.countAfter(marks.at(-1), this.#stride);
    // Without a newest entry, the list became empty while it was read, so there is nothing to find.
    return { total: marks.length * this.#stride + rest, newest: newest ?? { created_at: 0, id: '' }, marks };
  }
}
