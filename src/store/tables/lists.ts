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
  /** How many entries come before a place, at most `most`. */
  countBefore(before: ListPlace, most: number): Promise<number>;
}

/** Where a page of a list begins: `skip` entries after `after`. */
interface PageStart {
  after: ListPlace | undefined;
  skip: number;
}

/** A table of contents: a list as it was at some moment. */
interface Contents {
  newest: ListPlace | undefined;
  /** The place of the last entry of each stride, as far as pages were asked for. */
  marks: ListPlace[];
  isWhole: boolean;
}

/** Entries in a stride. Where the database is embedded, passing over a stride takes about 0.1 ms of the main loop. */
const STRIDE = 1_000;
/** Most strides that are passed over before a table of contents is made, or made anew. */
const MAX_STRIDES = 10;
/** How long a table of contents is used, in milliseconds. */
const SERVES_MS = 60_000;

/**
 * Finds pages of long lists with queries whose time does not grow with the list. A page near the beginning is counted
 * from there. For later pages the list gets a table of contents, made stride by stride with a turn of the loop between
 * strides, and only as far as it is needed. It is used for a minute. New entries are counted in that time; entries that
 * left are not subtracted. So a list that empties fast is counted from its beginning up to a higher number.
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
    if (offset <= (list.isLasting ? this.#stride : this.#counted)) return { after: undefined, skip: offset };
    const { newer, marks } = await this.#contentsUpTo(list, offset);
    const stride = Math.min(Math.floor((offset - newer) / this.#stride), marks.length);
    if (stride <= 0) return { after: undefined, skip: offset };
    return { after: marks[stride - 1], skip: offset - newer - stride * this.#stride };
  }

  async #contentsUpTo(list: LongList, offset: number): Promise<{ newer: number; marks: readonly ListPlace[] }> {
    const { newest } = await this.#extended(list, 0);
    const newer = newest === undefined ? 0 : await list.countBefore(newest, this.#counted + 1);
    if (newer > this.#counted) this.#known.delete(list.name);
    const counted = newer > this.#counted ? 0 : newer;
    const { marks } = await this.#extended(list, offset - counted);
    return { newer: counted, marks };
  }

  /** The table of contents of a list up to an entry. One extension follows the other. */
  #extended(list: LongList, upTo: number): Promise<Contents> {
    const now = this.#elapsed();
    for (const [one, { madeAt }] of this.#known) if (now - madeAt > SERVES_MS) this.#known.delete(one);
    const known = this.#known.get(list.name);
    const contents = this.#extend(list, upTo, known?.contents);
    this.#known.set(list.name, { madeAt: known?.madeAt ?? now, contents });
    contents.catch(() => this.#known.delete(list.name));
    return contents;
  }

  async #extend(list: LongList, upTo: number, known: Promise<Contents> | undefined): Promise<Contents> {
    const contents = (await known) ?? { newest: await list.place(undefined, 1), marks: [], isWhole: false };
    const { marks } = contents;
    while (!contents.isWhole && (marks.length + 1) * this.#stride <= upTo) {
      const mark = await list.place(marks.at(-1), this.#stride);
      if (mark === undefined) contents.isWhole = true;
      else marks.push(mark);
      await turn();
    }
    return contents;
  }
}
