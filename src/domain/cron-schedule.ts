/** One field of a schedule: its bounds, and the names that stand for its lowest numbers upwards. */
interface Field {
  least: number;
  most: number;
  names?: readonly string[];
}

const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** Weekdays count from Sunday as 1, as the reference's schedules do. */
const FIELDS: readonly Field[] = [
  { least: 0, most: 59 },
  { least: 0, most: 59 },
  { least: 0, most: 23 },
  { least: 1, most: 31 },
  { least: 1, most: 12, names: MONTHS },
  { least: 1, most: 7, names: WEEKDAYS },
  { least: 1970, most: 2100 },
];

const SHORTHANDS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 0 1 1 *'],
  ['@monthly', '0 0 0 1 * *'],
  ['@weekly', '0 0 0 * * 1'],
  ['@daily', '0 0 0 * * *'],
  ['@hourly', '0 0 * * * *'],
]);

/**
 * Whether a text is a cron schedule in the reference's form: second, minute, hour, day of month, month, weekday and
 * perhaps a year, or a shorthand such as `@hourly`. The five fields of crontab(5) are not accepted.
 */
export function isCronSchedule(text: string): boolean {
  return timesOf(text) !== undefined;
}

/** A day in milliseconds. */
const DAY = 86_400_000;
/** Every date occurs within so many days, also the 29th of February on a given weekday. */
const DAYS_AHEAD = 40 * 366;

/**
 * The first moment of a schedule after `after`, in UTC; both in milliseconds since the epoch. A day must match both the
 * day of the month and the weekday. Undefined when no moment is left, as for a day that no month has.
 */
export function nextCronTime(schedule: string, after: number): number | undefined {
  const times = timesOf(schedule);
  if (times === undefined) return undefined;
  const [seconds, minutes, hours, days, months, weekdays, years] = times;
  const today = Math.floor(after / DAY) * DAY;
  for (let day = today; day <= today + DAYS_AHEAD * DAY; day += DAY) {
    const date = new Date(day);
    if (!months.has(date.getUTCMonth() + 1) || !days.has(date.getUTCDate())) continue;
    if (!weekdays.has(date.getUTCDay() + 1) || !years.has(date.getUTCFullYear())) continue;
    for (const hour of hours) {
      if (day + (hour + 1) * 3_600_000 <= after) continue;
      for (const minute of minutes) {
        const start = day + hour * 3_600_000 + minute * 60_000;
        const second = [...seconds].find((one) => start + one * 1_000 > after);
        if (second !== undefined) return start + second * 1_000;
      }
    }
  }
  return undefined;
}

type Times = [Set<number>, Set<number>, Set<number>, Set<number>, Set<number>, Set<number>, Set<number>];

/** The values of each field, in order; undefined when the text is not a schedule. */
function timesOf(text: string): Times | undefined {
  const parts = (SHORTHANDS.get(text) ?? text).trim().split(/\s+/);
  if (parts.length !== FIELDS.length && parts.length !== FIELDS.length - 1) return undefined;
  const times = FIELDS.map((field, index) => valuesOf(parts[index] ?? '*', field));
  return times.every((values) => values !== undefined) ? (times as Times) : undefined;
}

function valuesOf(part: string, field: Field): Set<number> | undefined {
  const entries = part.split(',').map((entry) => entryOf(entry, field));
  if (entries.includes(undefined)) return undefined;
  return new Set(entries.flatMap((values) => values ?? []).toSorted((one, other) => one - other));
}

/** `*`, `?`, a value or a range of two, each perhaps with a step; a value with a step begins a range to the end. */
function entryOf(entry: string, field: Field): number[] | undefined {
  const [, range = '', step] = /^([^/]+)(?:\/(\d{1,4}))?$/.exec(entry) ?? [];
  if (step !== undefined && Number(step) === 0) return undefined;
  const isAny = range === '*' || range === '?';
  const [from, to, ...more] = isAny ? [field.least, field.most] : range.split('-').map((one) => valueOf(one, field));
  if (from === undefined || more.length > 0 || (range.includes('-') && to === undefined)) return undefined;
  const last = to ?? (step === undefined ? from : field.most);
  if (last < from) return undefined;
  const every = Number(step ?? 1);
  return Array.from({ length: Math.floor((last - from) / every) + 1 }, (_, index) => from + index * every);
}

function valueOf(text: string, { least, most, names = [] }: Field): number | undefined {
  const name = text.toLowerCase();
  const index = name.length < 3 ? -1 : names.findIndex((known) => known === name || known.slice(0, 3) === name);
  if (index >= 0) return least + index;
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}

/** The fields of crontab(5). Weekdays count from Sunday as 0; 7 is Sunday too. */
const CRONTAB_FIELDS: readonly Field[] = [
  { least: 0, most: 59 },
  { least: 0, most: 23 },
  { least: 1, most: 31 },
  { least: 1, most: 12, names: MONTHS },
  { least: 0, most: 7, names: WEEKDAYS },
];

const CRONTAB_SHORTHANDS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

const MINUTE = 60_000;
const HOURS_OF_DAY = 24;

/** A crontab(5) schedule on the wall clocks of one zone. */
export interface Crontab {
  /** The first moment after `after`; both in milliseconds since the epoch. Undefined when there is none. */
  next(after: number): number | undefined;
}

/** Whether a name is one of the IANA time zones, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  // An offset such as `+02:00` would be none that changes with the seasons.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads the five fields of crontab(5): minute, hour, day of month, month, weekday; or a shorthand such as `@daily`.
 * A day matches when both of its fields match, and when either matches if neither begins with `*`.
 *
 * A time that a zone's clocks skip comes at the first moment after the skip, and one that they show twice comes at the
 * first. A schedule for every hour has no such times: it goes on with each hour that passes.
 * @returns undefined when the text is no such schedule, or names a day that never comes
 */
export function parseCrontab(text: string, timeZone = 'UTC'): Crontab | undefined {
  const parts = (CRONTAB_SHORTHANDS.get(text.trim()) ?? text).trim().split(/\s+/);
  if (parts.length !== CRONTAB_FIELDS.length) return undefined;
  // Steps belong to `*` or a range, and `?` is no crontab.
  if (parts.some((part) => part.includes('?') || /(?:^|,)\w+\//.test(part))) return undefined;
  const values = CRONTAB_FIELDS.map((field, index) => valuesOf(parts[index] ?? '', field));
  const [minutes, hours, days, months, weekdays] = values;
  if (!minutes || !hours || !days || !months || !weekdays) return undefined;
  if (weekdays.has(7)) weekdays.add(0);
  const isAnyDay = [parts[2], parts[4]].some((part) => part?.startsWith('*'));
  const isDue = (date: Date) => {
    if (!months.has(date.getUTCMonth() + 1)) return false;
    const [day, weekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())];
    return isAnyDay ? day && weekday : day || weekday;
  };
  const wall: WallTimes = { minutes: [...minutes], hours: [...hours], isDue };
  if (nextWallTime(wall, 0, DAYS_AHEAD * DAY) === undefined) return undefined;
  let stretch: Stretch | undefined;
  const stretchAt = (at: number) => {
    if (stretch === undefined || at < stretch.began || at >= stretch.until) stretch = stretchOf(timeZone, at);
    return stretch;
  };
  let answer: { after: number; next: number | undefined } | undefined;
  return {
    next(after) {
      // Nothing comes between what was asked for last and its answer.
      if (answer === undefined || after < answer.after || after >= (answer.next ?? answer.after + 1)) {
        answer = { after, next: nextOf(wall, stretchAt, after) };
      }
      return answer.next;
    },
  };
}

/** A schedule on a clock that is never set. */
interface WallTimes {
  minutes: readonly number[];
  hours: readonly number[];
  isDue(date: Date): boolean;
}

/** The first time at or after `from` and before `before`, as if the clock showed UTC. */
function nextWallTime({ minutes, hours, isDue }: WallTimes, from: number, before: number): number | undefined {
  for (let day = Math.floor(from / DAY) * DAY; day < before; day += DAY) {
    if (!isDue(new Date(day))) continue;
    for (const hour of hours) {
      const start = day + hour * 60 * MINUTE;
      if (start + 60 * MINUTE <= from) continue;
      const minute = minutes.find((one) => start + one * MINUTE >= from);
      if (minute === undefined) continue;
      const time = start + minute * MINUTE;
      return time < before ? time : undefined;
    }
  }
  return undefined;
}

/** A time in which a zone's clocks are not set, in milliseconds since the epoch. */
interface Stretch {
  /** Its first moment; -Infinity where the clocks were never set before. */
  began: number;
  /** The first moment after it. */
  until: number;
  /** How far its clocks are ahead of UTC. */
  offset: number;
  /** How far they were set forward when it began. */
  moved: number;
}

function stretchOf(timeZone: string, at: number): Stretch {
  const here = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone);
  const offset = here.offsetNanoseconds / 1e6;
  const until = here.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
  const change = here.add({ nanoseconds: 1 }).getTimeZoneTransition('previous');
  if (change === null) return { began: Number.NEGATIVE_INFINITY, until, offset, moved: 0 };
  const before = change.subtract({ nanoseconds: 1 }).offsetNanoseconds / 1e6;
  return { began: change.epochMilliseconds, until, offset, moved: offset - before };
}

/** Walks through the stretches of a zone to the first moment after `after`. */
function nextOf(wall: WallTimes, stretchAt: (at: number) => Stretch, after: number): number | undefined {
  const isHourly = wall.hours.length === HOURS_OF_DAY;
  const horizon = after + DAYS_AHEAD * DAY;
  let from = Math.floor(after / MINUTE) * MINUTE + MINUTE;
  while (from < horizon) {
    const { began, until, offset, moved } = stretchAt(from);
    if (!isHourly) {
      // The clocks were set forward to the first moment of this stretch.
      const isSkipped = moved > 0 && from === began;
      if (isSkipped && nextWallTime(wall, began + offset - moved, began + offset) !== undefined) return began;
      // They were set back: what they show until then, they have shown before.
      if (moved < 0) from = Math.max(from, Math.min(began - moved, until));
    }
    const time = nextWallTime(wall, from + offset, Math.min(until, horizon) + offset);
    if (time !== undefined) return time - offset;
    from = until;
  }
  return undefined;
}
