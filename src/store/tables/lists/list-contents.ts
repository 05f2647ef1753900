import { setImmediate as turn } from 'node:timers/promises';

/** Where an entry stands in a list that is ordered by these two, the newest first. */
export interface Place {
  created_at: number;
  id: string;
}

/** A list that may be long. Each look passes over what an index has of the entries, and is as long as its `count`. */
export interface LongList {
  /** Tells it from other lists. */
  name: string;
  /** Entries come, and go only when they are old. */
  isLasting: boolean;
  /** The place of the entry that is `count` after the given one, or after the beginning; undefined beyond the end. */
  place(after: Place | undefined, count: number): Promise<Place | undefined>;
  /** How many entries come after a place, at most `most`. */
  countAfter(after: Place | undefined, most: number): Promise<number>;
  /** How many come before it, at most `most`. */
  countBefore(before: Place, most: number): Promise<number>;
}

/** Where a page of a list begins: behind `after`, but for the first `skip`. */
export interface Opening {
  total: number;
  after: Place | undefined;
  skip: number;
}

/** A list as it was at some time. */
interface Contents {
  total: number;
  newest: Place;
  /** The places of each last entry of a stride. */
  marks: readonly Place[];
}

/** So many entries are passed over in about a tenth of a millisecond of the main loop, where the database is embedded. */
const STRIDE = 1_000;
/** So many strides are passed over at most before a table of contents is made, or made anew. */
const MOST_STRIDES = 10;
/** So long a table of contents serves. */
const SERVES_MS = 60_000;

/**
 * Finds pages of long lists, and says how long these are, without a look that grows with them. A short list is counted
 * each time. Of a longer one a table of contents is made, stride by stride with a turn of the loop between them. It
 * serves for a minute: entries that are new are counted, those that went meanwhile are not. So a list that empties fast
 * is counted for longer, and first.
 */
export class ListContents {
  readonly #stride: number;
  /** The most entries that are counted instead. */
  readonly #counted: number;
  readonly #elapsed: () => number;
  readonly #known = new Map<string, { madeAt: number; contents: Promise<Contents> }>();

  constructor({ stride = STRIDE, elapsed = () => performance.now() } = {}) {
    this.#stride = stride;
    this.#counted = stride * MOST_STRIDES;
    this.#elapsed = elapsed;
  }

  /** Where the entry number `offset`, from 0, is found. */
  async open(list: LongList, offset: number): Promise<Opening> {
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

  /** What is known and not too old. */
  #serving({ name }: LongList): Promise<Contents> | undefined {
    const now = this.#elapsed();
    for (const [one, { madeAt }] of this.#known) if (now - madeAt > SERVES_MS) this.#known.delete(one);
    return this.#known.get(name)?.contents;
  }

  async #make(list: LongList): Promise<Contents> {
    const newest = await list.place(undefined, 1);
    const marks: Place[] = [];
    for (;;) {
      const mark = await list.place(marks.at(-1), this.#stride);
      if (mark === undefined) break;
      marks.push(mark);
      await turn();
    }
    const rest = await list.countAfter(marks.at(-1), this.#stride);
    // It became short while it was looked at: then there is nothing to find either.
    return { total: marks.length * this.#stride + rest, newest: newest ?? { created_at: 0, id: '' }, marks };
  }
}
