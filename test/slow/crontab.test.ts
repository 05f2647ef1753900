// Two years of schedules in five zones, minute by minute. croner says which wall times a schedule names; the clocks'
// skips and repeats come from Intl, and what they mean is written down below a second time.
import { Cron } from 'croner';
import t from 'tap';
import { parseCrontab } from '../../src/domain/cron-schedule.ts';

const FROM = Date.UTC(2026, 0, 1);
const TO = Date.UTC(2028, 0, 1);
const MINUTE = 60_000;

/** Clocks set by an hour in both hemispheres, by half an hour, at midnight, and never. */
const ZONES = ['America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo', 'America/Santiago', 'Asia/Kathmandu'];

const SCHEDULES = [
  '0 8 * * 1-5',
  '30 2 * * *',
  '30 1 * * *',
  '0 0 * * *',
  '*/15 * * * *',
  '7 * * * *',
  '*/20 1,2 * * *',
  '0 */2 * * *',
  '15 0-3 * * *',
  '59 23 28-31 * *',
  '0 12 13 * fri',
  '5 4 1,15 jan-jun,dec 0',
  '10 3 * * 7',
  '0 6 29 2 *',
  '* 2 * * sun',
  '23 0-20/2 * * *',
  '@weekly',
];

t.test('each minute of two years in five zones', async (t) => {
  let differences = 0;
  let checked = 0;
  let due = 0;
  const wallTimes = new Map(SCHEDULES.map((schedule) => [schedule, timesOf(schedule)]));
  for (const zone of ZONES) {
    const walls = wallsOf(zone);
    for (const schedule of SCHEDULES) {
      const expected = expectedOf(walls, wallTimes.get(schedule) ?? new Set(), isHourly(schedule));
      const actual = momentsOf(schedule, zone);
      for (let at = FROM; at < TO; at += MINUTE) {
        checked += 1;
        if (expected.has(at)) due += 1;
        if (expected.has(at) === actual.has(at)) continue;
        differences += 1;
        if (differences < 10) t.fail(`${schedule} in ${zone} at ${new Date(at).toISOString()}: ${actual.has(at)}`);
      }
    }
  }
  t.equal(differences, 0, `${checked} minutes, ${due} of them due`);
  t.ok(checked > 89_000_000 && due > 600_000, 'something was checked');
});

t.test("once a day, croner's own idea of skipped and repeated times is the same", async (t) => {
  for (const zone of ZONES) {
    for (const schedule of ['30 2 * * *', '30 1 * * *', '0 0 * * *', '15 3 * * 0', '45 23 * * *']) {
      const expected = new Cron(schedule, { timezone: zone, paused: true });
      const ours = parseCrontab(schedule, zone);
      let differences = 0;
      let at = FROM;
      for (let next = expected.nextRun(new Date(at)); next !== null && next.getTime() < TO; ) {
        if (ours?.next(at) !== next.getTime()) {
          differences += 1;
          t.comment(`${schedule} in ${zone} after ${new Date(at).toISOString()}: croner says ${next.toISOString()}`);
        }
        at = next.getTime();
        next = expected.nextRun(next);
      }
      t.equal(differences, 0, `${schedule} in ${zone}`);
    }
  }
});

/** What the zone's clocks show in each minute, as milliseconds of a clock that shows UTC. */
function wallsOf(zone: string): number[] {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', hourCycle: 'h23' },
  });
  const walls: number[] = [];
  // From a day before, so that what was shown before is known. No clock is set within a quarter of an hour.
  for (let at = FROM - 86_400_000; at < TO; at += 15 * MINUTE) {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = parts;
    const wall = Date.UTC(year, month - 1, day, hour, minute);
    for (let minutes = 0; minutes < 15; minutes += 1) walls.push(wall + minutes * MINUTE);
  }
  return walls;
}

/** The wall times that a schedule names, says croner. */
function timesOf(schedule: string): Set<number> {
  const times = new Set<number>();
  const cron = new Cron(schedule, { timezone: 'UTC', paused: true });
  for (let at = cron.nextRun(new Date(FROM - 3 * 86_400_000)); at !== null; at = cron.nextRun(at)) {
    if (at.getTime() > TO + 3 * 86_400_000) break;
    times.add(at.getTime());
  }
  return times;
}

function expectedOf(walls: readonly number[], times: ReadonlySet<number>, hourly: boolean): Set<number> {
  const expected = new Set<number>();
  let shown = walls[0] ?? 0;
  for (const [index, wall] of walls.entries()) {
    const at = FROM - 86_400_000 + index * MINUTE;
    const isRepeated = index > 0 && wall <= shown;
    let isDue = times.has(wall) && (hourly || !isRepeated);
    if (!hourly) for (let skipped = shown + MINUTE; skipped < wall; skipped += MINUTE) isDue ||= times.has(skipped);
    if (isDue && at >= FROM) expected.add(at);
    shown = Math.max(shown, wall);
  }
  return expected;
}

function momentsOf(schedule: string, zone: string): Set<number> {
  const moments = new Set<number>();
  const crontab = parseCrontab(schedule, zone);
  for (let at = crontab?.next(FROM - 1); at !== undefined && at < TO; at = crontab?.next(at)) moments.add(at);
  return moments;
}

/** Whether a schedule names every hour, so that it goes on with each hour that passes. */
function isHourly(schedule: string): boolean {
  return schedule.split(' ')[1] === '*';
}
