import type { PartWorld } from '../part-world.ts';
import type { EventClasses } from './events/event-target.ts';
import { createPerformanceObservers } from './performance-observers.ts';
import { conform, tooFew } from './web-idl.ts';

interface MarkOptions {
  detail?: unknown;
  startTime?: number;
}

interface MeasureOptions {
  detail?: unknown;
  start?: string | number;
  end?: string | number;
  duration?: number;
}

interface Fields {
  readonly name: string;
  readonly entryType: string;
  readonly startTime: number;
  readonly duration: number;
}

/** What times work with. */
export interface PerformanceWorld extends Pick<EventClasses, 'EventTarget' | 'watch'> {
  DOMException: new (message: string, name: string) => Error;
  structuredClone(value: unknown): unknown;
}

/** The bounds of calls. Entries of a call end with it; entries that the module made while it was loaded stay. */
export type CallBounds = Pick<PartWorld, 'isInCall' | 'atCall' | 'changed'>;

/** Most entries that one isolate keeps. The oldest entries are dropped first. */
const MAX_ENTRIES = 10_000;

/**
 * `performance` and its classes (High Resolution Time 7, Performance Timeline, User Timing). `now` is in milliseconds.
 */
export function createPerformanceClasses(
  { EventTarget, watch, DOMException, structuredClone: clone }: PerformanceWorld,
  now: () => number,
  setTimer: (callback: () => void, delayMs: number) => unknown,
  bounds: CallBounds,
) {
  const observers = createPerformanceObservers(setTimer, bounds);
  let forget: (performance: Performance) => void;
  const permit = Symbol('permit');
  const began = Date.now() - now();

  class PerformanceEntry {
    readonly #fields: Fields;

    constructor(given: unknown, fields: Fields) {
      if (given !== permit) throw new TypeError('Illegal constructor');
      this.#fields = fields;
    }

    get name(): string {
      return this.#fields.name;
    }

    get entryType(): string {
      return this.#fields.entryType;
    }

    get startTime(): number {
      return this.#fields.startTime;
    }

    get duration(): number {
      return this.#fields.duration;
    }

    toJSON(): object {
      const { name, entryType, startTime, duration } = this.#fields;
      return { name, entryType, startTime, duration };
    }
  }

  class PerformanceMark extends PerformanceEntry {
    readonly #detail: unknown;

    constructor(name: unknown, options: MarkOptions | null = {}) {
      if (arguments.length === 0) throw tooFew('PerformanceMark', 1);
      const { startTime = now(), detail = null } = options ?? {};
      const start = Number(startTime);
      if (!(start >= 0)) throw new TypeError(`${startTime} is no time`);
      super(permit, { name: `${name as string}`, entryType: 'mark', startTime: start, duration: 0 });
      this.#detail = clone(detail);
    }

    get detail(): unknown {
      return this.#detail;
    }

    override toJSON(): object {
      return { ...super.toJSON(), detail: this.#detail };
    }
  }

  class PerformanceMeasure extends PerformanceEntry {
    readonly #detail: unknown;

    constructor(given: unknown, fields: Fields, detail: unknown = null) {
      super(given, fields);
      this.#detail = clone(detail);
    }

    get detail(): unknown {
      return this.#detail;
    }

    override toJSON(): object {
      return { ...super.toJSON(), detail: this.#detail };
    }
  }

  class Performance extends EventTarget {
    #entries: PerformanceEntry[] = [];
    /** Entries that the module made while it was loaded. */
    #ofModule: readonly PerformanceEntry[] | undefined = bounds.isInCall() ? [] : undefined;
    readonly #now = now;
    readonly #began = began;

    constructor(given?: unknown) {
      if (given !== permit) throw new TypeError('Illegal constructor');
      super();
    }

    get timeOrigin(): number {
      return this.#began;
    }

    now(): number {
      return this.#now();
    }

    mark(name: unknown, options?: MarkOptions): PerformanceMark {
      return this.#keep(new PerformanceMark(name, options));
    }

    measure(name: unknown, from?: string | MeasureOptions, to?: string): PerformanceMeasure {
      const isPlain = typeof from !== 'object' || from === null;
      const options: MeasureOptions = isPlain ? { ...(from === undefined ? {} : { start: from }) } : from;
      const { detail, duration } = options;
      if (!isPlain && to !== undefined) throw new TypeError('The end is among the options');
      const isBare = options.start === undefined && options.end === undefined;
      if (isBare && Object.values(options).some((value) => value !== undefined)) {
        throw new TypeError('A measure needs a start or an end');
      }
      if (options.start !== undefined && options.end !== undefined && duration !== undefined) {
        throw new TypeError('A measure with a start and an end has no further duration');
      }
      const end = this.#endOf(options, to);
      const start = this.#startOf(options, end);
      const fields = { name: `${name as string}`, entryType: 'measure', startTime: start, duration: end - start };
      return this.#keep(new PerformanceMeasure(permit, fields, detail));
    }

    #endOf({ start, end, duration }: MeasureOptions, to: string | undefined): number {
      const given = to ?? end;
      if (given !== undefined) return this.#timeOf(given);
      return start !== undefined && duration !== undefined ? this.#timeOf(start) + duration : this.#now();
    }

    #startOf({ start, duration }: MeasureOptions, end: number): number {
      if (start !== undefined) return this.#timeOf(start);
      return duration === undefined ? 0 : end - duration;
    }

    clearMarks(name?: string): void {
      this.#clear('mark', name);
    }

    clearMeasures(name?: string): void {
      this.#clear('measure', name);
    }

    getEntries(): PerformanceEntry[] {
      return this.#entries.toSorted((a, b) => a.startTime - b.startTime);
    }

    getEntriesByType(type: string): PerformanceEntry[] {
      return this.getEntries().filter(({ entryType }) => entryType === type);
    }

    getEntriesByName(name: string, type?: string): PerformanceEntry[] {
      return this.getEntries().filter(
        (entry) => entry.name === name && (type === undefined || entry.entryType === type),
      );
    }

    toJSON(): object {
      return { timeOrigin: this.#began };
    }

    #keep<T extends PerformanceEntry>(entry: T): T {
      if (this.#entries.length >= MAX_ENTRIES) this.#entries.shift();
      this.#entries.push(entry);
      observers.tell(entry);
      return entry;
    }

    #clear(type: string, name: string | undefined): void {
      this.#entries = this.#entries.filter(
        (entry) => entry.entryType !== type || (name !== undefined && entry.name !== name),
      );
    }

    /** A time as given, or the time of the last mark of a name. */
    #timeOf(mark: string | number): number {
      if (typeof mark === 'number') {
        if (!(mark >= 0)) throw new TypeError(`${mark} is no time`);
        return mark;
      }
      const found = this.#entries.findLast((entry) => entry.entryType === 'mark' && entry.name === String(mark));
      if (found === undefined) throw new DOMException(`There is no mark ${String(mark)}`, 'SyntaxError');
      return found.startTime;
    }

    static {
      forget = (performance) => {
        performance.#ofModule ??= [...performance.#entries];
        performance.#entries = [...performance.#ofModule];
      };
    }
  }

  conform(PerformanceEntry);
  conform(PerformanceMark);
  conform(PerformanceMeasure);
  conform(Performance, { required: { mark: 1, measure: 1, getEntriesByType: 1, getEntriesByName: 1 } });
  const performance = new Performance(permit);
  watch(performance, bounds.changed);
  bounds.atCall(() => forget(performance));
  return {
    Performance,
    PerformanceEntry,
    PerformanceMark,
    PerformanceMeasure,
    ...observers.classes,
    performance,
  };
}
