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

const SHORTHAND = /^@(yearly|monthly|weekly|daily|hourly)$/;

/**
 * Whether a text is a cron schedule in the reference's form: second, minute, hour, day of month, month, weekday and
 * perhaps a year, or a shorthand such as `@hourly`. The five fields of crontab(5) are none.
 */
export function isCronSchedule(text: string): boolean {
  if (SHORTHAND.test(text)) return true;
  const parts = text.trim().split(/\s+/);
  if (parts.length !== FIELDS.length && parts.length !== FIELDS.length - 1) return false;
  return parts.every((part, index) => {
    const field = FIELDS[index];
    return field !== undefined && part.split(',').every((entry) => isEntry(entry, field));
  });
}

/** `*`, `?`, a value or a range of two, each perhaps with a step. */
function isEntry(entry: string, field: Field): boolean {
  const [, range = '', step] = /^([^/]+)(?:\/(\d{1,4}))?$/.exec(entry) ?? [];
  if (step !== undefined && Number(step) === 0) return false;
  if (range === '*' || range === '?') return true;
  const [from, to, ...more] = range.split('-').map((value) => valueOf(value, field));
  if (from === undefined || more.length > 0) return false;
  return range.includes('-') ? to !== undefined && from <= to : true;
}

function valueOf(text: string, { least, most, names = [] }: Field): number | undefined {
  const name = text.toLowerCase();
  const index = name.length < 3 ? -1 : names.findIndex((known) => known === name || known.slice(0, 3) === name);
  if (index >= 0) return least + index;
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}
