import type { HostLink } from '../host-link.ts';
import {
  apply,
  charCodeAt,
  construct,
  dateToText,
  defineProperty,
  getOwnPropertyDescriptor,
  SafeWeakMap,
} from '../intrinsics/primordials.ts';

/** Random bytes that are asked for at once, and the bytes of one number. */
const DRAWN = 1024;
const NUMBER = 8;

type Method = (...args: unknown[]) => unknown;

/** The guest's time and chance. */
export interface Clock {
  /** Stops time for a durable call, or for the evaluation of its module. From now on only `moveTo` moves it. */
  stopAt(moment: number): void;
  /** Lets time and chance be real again. */
  release(): void;
  /** The module runs anew: time is real, or stands where a durable call begins. */
  load(moment: number | undefined): void;
  /** The module has run: what is read from now on, a call reads. */
  seal(): void;
  /** Moves a stopped clock, and never back. */
  moveTo(moment: number): void;
  isStopped(): boolean;
  /** Milliseconds since the isolate or the durable call began. */
  elapsed(): number;
  /** The moment from which `elapsed` counts. */
  origin(): number;
  /** Covers `Temporal.Now` too, where the plugin has it. */
  coverTemporal(): void;
}

/**
 * Puts everything by which the language reads the time or draws numbers behind a clock that can be stopped. It does so
 * before the module runs, because a module may keep the functions that it finds. While time is real, each of them calls
 * the language's own. The host is told when the module reads one while it loads: then it ends up differently each time.
 */
export function installClock(global: typeof globalThis, link: HostLink): Clock {
  const { Date: NativeDate, Math: math } = global;
  const { now: nativeNow } = NativeDate;
  const { random: nativeRandom } = math;
  /** Null while time is real. */
  let time: number | null = null;
  let began = 0;
  let origin: number | null = null;
  let isLoading = true;
  let drawn = '';
  let used = DRAWN;

  function tell(): void {
    if (!isLoading || time !== null) return;
    isLoading = false;
    link.impure();
  }

  function draw(): number {
    if (used === DRAWN) {
      drawn = link.random(DRAWN);
      used = 0;
    }
    const high = wordAt(drawn, used) >>> 6;
    const low = wordAt(drawn, used + 4) >>> 5;
    used += NUMBER;
    return (high * 2 ** 27 + low) / 2 ** 53;
  }

  const { now, random } = {
    now(): number {
      if (time !== null) return time;
      if (isLoading) tell();
      return nativeNow();
    },
    random(): number {
      if (time !== null) return draw();
      if (isLoading) tell();
      return nativeRandom();
    },
  };

  function ClockedDate(...args: unknown[]): unknown {
    if (new.target === undefined) return dateToText(new NativeDate(now()));
    return construct(NativeDate, args.length === 0 ? [now()] : args, new.target);
  }
  const { prototype } = NativeDate;
  replace(ClockedDate, 'name', 'Date', false);
  replace(ClockedDate, 'length', NativeDate.length, false);
  replace(ClockedDate, 'now', now);
  replace(ClockedDate, 'parse', NativeDate.parse);
  replace(ClockedDate, 'UTC', NativeDate.UTC);
  defineProperty(ClockedDate, 'prototype', { __proto__: null, value: prototype, writable: false } as object);
  replace(prototype, 'constructor', ClockedDate);
  replace(global, 'Date', ClockedDate);
  replace(math, 'random', random);
  coverFormats(global.Intl, () => (time !== null || isLoading ? now() : undefined));

  return {
    stopAt(moment) {
      began = moment;
      time = moment;
      used = DRAWN;
    },
    release() {
      time = null;
    },
    load(moment) {
      isLoading = true;
      if (moment === undefined) time = null;
      else this.stopAt(moment);
    },
    seal() {
      isLoading = false;
    },
    moveTo(moment) {
      if (time !== null && moment > time) time = moment;
    },
    isStopped: () => time !== null,
    elapsed: () => (time === null ? link.now() : time - began),
    origin() {
      if (time !== null) return began;
      origin ??= nativeNow() - link.now();
      return origin;
    },
    coverTemporal() {
      const { Temporal } = global as unknown as { Temporal?: TemporalNamespace };
      if (Temporal !== undefined) coverTemporalNow(Temporal, () => (time !== null || isLoading ? now() : undefined));
    },
  };
}

function wordAt(text: string, at: number): number {
  let word = 0;
  for (let index = at; index < at + 4; index++) word = (word << 8) | charCodeAt(text, index);
  return word;
}

function replace(object: object, name: string, value: unknown, writable = true): void {
  defineProperty(object, name, { __proto__: null, value, writable, enumerable: false, configurable: true } as object);
}

/** A format of dates takes the present moment for a date that it was not given. */
function coverFormats({ DateTimeFormat }: typeof Intl, present: () => number | undefined): void {
  const { prototype } = DateTimeFormat;
  const format = getOwnPropertyDescriptor(prototype, 'format')?.get as Method;
  const { formatToParts } = prototype as unknown as { formatToParts: Method };
  const covered = new SafeWeakMap<object, Method>();
  const accessor = {
    get format(): unknown {
      const native = apply(format, this, []) as Method;
      const known = covered.get(native);
      if (known !== undefined) return known;
      const cover = (date: unknown) => native(date === undefined ? present() : date);
      replace(cover, 'name', '', false);
      covered.set(native, cover);
      return cover;
    },
  };
  const methods = {
    formatToParts(this: unknown, date?: unknown): unknown {
      return apply(formatToParts, this, [date === undefined ? present() : date]);
    },
  };
  replace(methods.formatToParts, 'length', 1, false);
  const { get } = getOwnPropertyDescriptor(accessor, 'format') as PropertyDescriptor;
  defineProperty(prototype, 'format', { __proto__: null, get } as object);
  replace(prototype, 'formatToParts', methods.formatToParts);
}

interface TemporalNamespace {
  readonly Now: Record<string, Method>;
  readonly Instant: { fromEpochMilliseconds(ms: number): object; prototype: Record<string, Method> };
  readonly ZonedDateTime: { prototype: Record<string, Method> };
}

/** What `Temporal.Now` makes of the present moment in a zone, by its name. */
const OF_NOW = [
  ['plainDateTimeISO', 'toPlainDateTime'],
  ['plainDateISO', 'toPlainDate'],
  ['plainTimeISO', 'toPlainTime'],
  ['zonedDateTimeISO', undefined],
] as const;

function coverTemporalNow(temporal: TemporalNamespace, present: () => number | undefined): void {
  const { Now, Instant, ZonedDateTime } = temporal;
  const { timeZoneId } = Now;
  const { fromEpochMilliseconds } = Instant;
  const { toZonedDateTimeISO } = Instant.prototype;
  const cover = (name: string, covered: (ms: number, args: unknown[]) => unknown) => {
    const native = Now[name] as Method;
    const method = {
      [name](...args: unknown[]): unknown {
        const ms = present();
        return ms === undefined ? apply(native, Now, args) : covered(ms, args);
      },
    };
    replace(Now, name, method[name]);
  };
  const instantOf = (ms: number) => apply(fromEpochMilliseconds as Method, Instant, [ms]);
  for (const [name, part] of OF_NOW) {
    const convert = part === undefined ? undefined : (ZonedDateTime.prototype[part] as Method);
    cover(name, (ms, [zone = apply(timeZoneId as Method, Now, [])]) => {
      const zoned = apply(toZonedDateTimeISO as Method, instantOf(ms), [zone]);
      return convert === undefined ? zoned : apply(convert, zoned, []);
    });
  }
  cover('instant', instantOf);
}
