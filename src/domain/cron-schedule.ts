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
