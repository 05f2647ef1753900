import type { PartWorld } from '../part-world.ts';
import { conform } from './web-idl.ts';

/** The fields of an entry that observers use. */
interface Entry {
  readonly name: string;
  readonly entryType: string;
  readonly startTime: number;
}

interface Wish {
  entryTypes?: Iterable<unknown>;
  type?: unknown;
}

type Callback = (list: object, observer: object) => unknown;

const TYPES = ['mark', 'measure'];
/** Most entries that wait for one observer. The oldest entries are dropped first. */
const MAX_WAITING = 10_000;

/** PerformanceObserver (Performance Timeline 4). Observers get marks and measures, a turn later. */
export function createPerformanceObservers(
  setTimer: (callback: () => void, delayMs: number) => unknown,
  { isInCall, atCall }: Pick<PartWorld, 'isInCall' | 'atCall'>,
) {
  const permit = Symbol('permit');
  const all = new Set<PerformanceObserver>();
  /** Observers that the module made while it was loaded. */
  let ofModule = isInCall() ? new Set<PerformanceObserver>() : undefined;
  let hear: (observer: PerformanceObserver, entry: Entry) => void;

  class PerformanceObserverEntryList {
    readonly #entries: readonly Entry[];

    constructor(given: unknown, entries: readonly Entry[]) {
      if (given !== permit) throw new TypeError('Illegal constructor');
      this.#entries = entries.toSorted((a, b) => a.startTime - b.startTime);
    }

    getEntries(): Entry[] {
      return [...this.#entries];
    }

    getEntriesByType(type: unknown): Entry[] {
      return this.#entries.filter(({ entryType }) => entryType === type);
    }

    getEntriesByName(name: unknown, type?: unknown): Entry[] {
      return this.#entries.filter((one) => one.name === name && (type === undefined || one.entryType === type));
    }
  }

  class PerformanceObserver {
    readonly #callback: Callback;
    #types: readonly string[] = [];
    #waiting: Entry[] = [];

    constructor(callback: unknown) {
      if (typeof callback !== 'function') throw new TypeError('The callback is not a function');
      this.#callback = callback as Callback;
    }

    static get supportedEntryTypes(): readonly string[] {
      return TYPES;
    }

    observe(wish: Wish = {}): void {
      const { entryTypes, type } = wish;
      if ((entryTypes === undefined) === (type === undefined)) throw new TypeError('Either `entryTypes` or `type`');
      const wanted = entryTypes === undefined ? [...this.#types, String(type)] : [...entryTypes].map(String);
      this.#types = TYPES.filter((one) => wanted.includes(one));
      if (this.#types.length > 0) all.add(this);
    }

    disconnect(): void {
      all.delete(this);
      this.#types = [];
      this.#waiting = [];
    }

    takeRecords(): Entry[] {
      return this.#waiting.splice(0);
    }

    #hear(entry: Entry): void {
      if (!this.#types.includes(entry.entryType)) return;
      if (this.#waiting.length >= MAX_WAITING) this.#waiting.shift();
      if (this.#waiting.push(entry) > 1) return;
      setTimer(() => {
        const entries = this.takeRecords();
        if (entries.length === 0) return;
        Reflect.apply(this.#callback, this, [new PerformanceObserverEntryList(permit, entries), this]);
      }, 0);
    }

    static {
      hear = (observer, entry) => observer.#hear(entry);
    }
  }

  atCall(() => {
    ofModule ??= new Set(all);
    for (const observer of all) if (!ofModule.has(observer)) all.delete(observer);
  });
  Object.freeze(TYPES);
  conform(PerformanceObserver);
  conform(PerformanceObserverEntryList, { required: { getEntriesByType: 1, getEntriesByName: 1 } });
  return {
    classes: { PerformanceObserver, PerformanceObserverEntryList },
    /** Tells the observers of a new entry. */
    tell(entry: Entry): void {
      for (const observer of all) hear(observer, entry);
    },
  };
}
