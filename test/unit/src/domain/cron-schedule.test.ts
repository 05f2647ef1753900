import t from 'tap';
import { isCronSchedule, isTimeZone, nextCronTime, parseCrontab } from '../../../../src/domain/cron-schedule.ts';

t.test('six fields, seven with a year, or a shorthand', async (t) => {
  for (const schedule of [
    '0 0 */6 * * *',
    '* * * * * *',
    '0 30 9 1,15 JAN-MAR MON-FRI 2026-2030',
    '0/15 5-10/2 0 ? december Sunday',
    ' 59  59 23 31 12 7 2100 ',
    '@hourly',
    '@daily',
    '@weekly',
    '@monthly',
    '@yearly',
  ]) {
    t.ok(isCronSchedule(schedule), schedule);
  }
});

t.test('what is none', async (t) => {
  for (const schedule of [
    '',
    '*/5 * * * *',
    '* * * * * * * *',
    '60 * * * * *',
    '* 60 * * * *',
    '* * 24 * * *',
    '* * * 0 * *',
    '* * * 32 * *',
    '* * * * 13 *',
    '* * * * * 0',
    '* * * * * 8',
    '* * * * * * 1969',
    '*/0 * * * * *',
    '*/ * * * * *',
    '1//2 * * * * *',
    '5-1 * * * * *',
    '1-2-3 * * * * *',
    '1- * * * * *',
    '-1 * * * * *',
    '1,,2 * * * * *',
    '1.5 * * * * *',
    'mon * * * * *',
    '* * * * ja *',
    '* * * * janu *',
    '@sometimes',
    '@hourly @daily',
    `${'9'.repeat(100_000)} * * * * *`,
  ]) {
    t.notOk(isCronSchedule(schedule), schedule.slice(0, 40));
  }
});

t.test('the next moment of a schedule', async (t) => {
  const next = (schedule: string, after: string) => {
    const at = nextCronTime(schedule, Date.parse(after));
    return at === undefined ? undefined : new Date(at).toISOString();
  };
  t.equal(next('* * * * * *', '2026-11-23T17:00:00.500Z'), '2026-11-23T17:00:01.000Z');
  t.equal(next('0 * * * * *', '2026-11-23T17:00:00Z'), '2026-11-23T17:01:00.000Z', 'never the moment itself');
  t.equal(next('5/20 59 23 * * *', '2026-12-31T23:59:30Z'), '2026-12-31T23:59:45.000Z');
  t.equal(next('0 0 */6 * * *', '2026-11-23T18:00:01Z'), '2026-11-24T00:00:00.000Z');
  t.equal(next('0 30 9 1,15 JAN-MAR ? 2027-2028', '2026-11-23T18:00:00Z'), '2027-01-01T09:30:00.000Z');
  t.equal(next('0 0 0 * * 1', '2026-11-23T00:00:00Z'), '2026-11-29T00:00:00.000Z', 'Sunday is 1');
  t.equal(next('0 0 0 13 * FRI', '2026-11-23T00:00:00Z'), '2027-08-13T00:00:00.000Z', 'both days have to fit');
  t.equal(next('0 0 0 29 2 ? *', '2026-11-23T00:00:00Z'), '2028-02-29T00:00:00.000Z');
  t.equal(next('0 0 0 31 2 ?', '2026-11-23T00:00:00Z'), undefined);
  t.equal(next('0 0 0 1 1 ? 2025', '2026-11-23T00:00:00Z'), undefined);
  t.equal(next('@yearly', '2026-11-23T00:00:00Z'), '2027-01-01T00:00:00.000Z');
  t.equal(next('@monthly', '2026-11-23T00:00:00Z'), '2026-12-01T00:00:00.000Z');
  t.equal(next('@weekly', '2026-11-23T00:00:00Z'), '2026-11-29T00:00:00.000Z');
  t.equal(next('@daily', '2026-11-23T00:00:00Z'), '2026-11-24T00:00:00.000Z');
  t.equal(next('@hourly', '2026-11-23T00:00:00Z'), '2026-11-23T01:00:00.000Z');
  t.equal(next('nonsense', '2026-11-23T00:00:00Z'), undefined);
});

/** The first moments of a crontab after a time, as texts. */
function moments(schedule: string, zone: string, after: string, count: number): string[] {
  const crontab = parseCrontab(schedule, zone);
  const found: string[] = [];
  let at: number | undefined = Date.parse(after);
  while (found.length < count) {
    at = crontab?.next(at ?? 0);
    if (at === undefined) break;
    found.push(new Date(at).toISOString().slice(0, 16));
  }
  return found;
}

t.test('crontab: five fields, or a shorthand', async (t) => {
  for (const schedule of ['0 8 * * 1-5', '*/5 0-6/2,12 1,15 JAN-mar,12 sun,7', ' @daily ', '@hourly', '0 0 29 2 *']) {
    t.ok(parseCrontab(schedule), schedule);
  }
  for (const schedule of [
    ...['', '* * * *', '* * * * * *', '60 * * * *', '* 24 * * *', '* * 0 * *', '* * 32 * *', '* * * 13 *', '* * * * 8'],
    ...['*/0 * * * *', '5/15 * * * *', '* * ? * *', '5-1 * * * *', '* * * * fri-mon', '1,,2 * * * *', '@reboot'],
    ...['0 0 31 2 *', '0 0 30 feb *'],
  ]) {
    t.equal(parseCrontab(schedule), undefined, schedule);
  }
});

t.test('crontab: a day matches either field if neither begins with a star', async (t) => {
  t.same(moments('0 12 13 * 5', 'UTC', '2026-11-10T00:00:00Z', 3), [
    ...['2026-11-13T12:00', '2026-11-20T12:00', '2026-11-27T12:00'],
  ]);
  t.same(moments('0 12 */2 * 5', 'UTC', '2026-11-10T00:00:00Z', 2), ['2026-11-13T12:00', '2026-11-27T12:00']);
  t.same(
    moments('0 0 * * 7', 'UTC', '2026-11-27T00:00:00Z', 2),
    moments('0 0 * * sun', 'UTC', '2026-11-27T00:00:00Z', 2),
  );
});

t.test('crontab: a time that does not exist comes at the next moment that does', async (t) => {
  // New York sets its clocks from 02:00 to 03:00 at 07:00 UTC.
  const before = '2026-03-08T05:00:00Z';
  t.same(moments('30 2 * * *', 'America/New_York', before, 2), ['2026-03-08T07:00', '2026-03-09T06:30']);
  t.same(moments('*/20 2,3 * * *', 'America/New_York', before, 3), [
    ...['2026-03-08T07:00', '2026-03-08T07:20', '2026-03-08T07:40'],
  ]);
  // Samoa left out the 30th of December 2011.
  t.same(moments('0 9 30 12 *', 'Pacific/Apia', '2011-12-29T00:00:00Z', 1), ['2011-12-30T10:00']);
});

t.test('crontab: a time that exists twice comes once, the first', async (t) => {
  const before = '2026-11-01T04:00:00Z';
  t.same(moments('30 1 * * *', 'America/New_York', before, 2), ['2026-11-01T05:30', '2026-11-02T06:30']);
  t.same(moments('*/30 1 * * *', 'America/New_York', before, 3), [
    ...['2026-11-01T05:00', '2026-11-01T05:30', '2026-11-02T06:00'],
  ]);
  // Also when the search begins in the repeated hour.
  t.same(moments('30 1 * * *', 'America/New_York', '2026-11-01T06:10:00Z', 1), ['2026-11-02T06:30']);
});

t.test('crontab: a schedule for every hour goes on with each hour that passes', async (t) => {
  t.same(moments('30 * * * *', 'America/New_York', '2026-03-08T06:00:00Z', 3), [
    ...['2026-03-08T06:30', '2026-03-08T07:30', '2026-03-08T08:30'],
  ]);
  t.same(moments('30 * * * *', 'America/New_York', '2026-11-01T05:00:00Z', 3), [
    ...['2026-11-01T05:30', '2026-11-01T06:30', '2026-11-01T07:30'],
  ]);
});

t.test('crontab: the answer does not depend on what was asked before', async (t) => {
  for (const schedule of ['30 2 * * *', '*/7 * * * *', '0 0 29 2 *']) {
    const crontab = parseCrontab(schedule, 'America/New_York');
    const hours = Array.from({ length: 400 }, (_, index) => Date.UTC(2026, 2, 1) + ((index * 7919) % 9000) * 3_600_000);
    const fresh = hours.map((at) => parseCrontab(schedule, 'America/New_York')?.next(at));
    t.strictSame(
      hours.map((at) => crontab?.next(at)),
      fresh,
      schedule,
    );
  }
});

t.test('time zones have IANA names', async (t) => {
  for (const zone of ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires']) t.ok(isTimeZone(zone), zone);
  for (const zone of ['', '+02:00', 'Europe/Atlantis', 'Berlin', '2026']) t.notOk(isTimeZone(zone), zone);
});

t.test('crontab: public reports of schedules that came too often, too late or never', async (t) => {
  const sydney = '2024-04-06T14:59:00Z';
  const count = (schedule: string, zone: string, from: string, to: string) =>
    moments(schedule, zone, from, 400).filter((moment) => moment <= to).length;
  // kelektiv/node-cron #881: two runs were missing in the hour that Melbourne's clocks showed twice.
  t.same(moments('*/30 * * * *', 'Australia/Melbourne', sydney, 4), [
    ...['2024-04-06T15:00', '2024-04-06T15:30', '2024-04-06T16:00', '2024-04-06T16:30'],
  ]);
  // Steve-Mcl/node-red-contrib-cron-plus #108 stood still for it; meteor/meteor-synced-cron #152 ran without a pause.
  t.equal(count('* * * * *', 'Europe/London', '2025-10-25T23:59:00Z', '2025-10-26T01:59'), 120);
  t.equal(count('* * * * *', 'Europe/Berlin', '2024-10-26T23:59:00Z', '2024-10-27T01:59'), 120);
  // kelektiv/node-cron #563, HabitRPG/habitica-ios #271: twice in a night, or in none.
  t.same(moments('0 3 * * *', 'Europe/Berlin', '2015-10-24T12:00:00Z', 2), ['2015-10-25T02:00', '2015-10-26T02:00']);
  t.same(moments('30 1 * * *', 'Europe/London', '2022-10-29T12:00:00Z', 2), ['2022-10-30T00:30', '2022-10-31T01:30']);
  // cronie-crond/cronie #124: schedules in UTC followed the clocks of the machine.
  t.same(moments('30 1 * * *', 'UTC', '2022-10-29T12:00:00Z', 2), ['2022-10-30T01:30', '2022-10-31T01:30']);
  // woocommerce/action-scheduler #885: the wall clock counts, on both sides of a change.
  t.same(moments('0 9 * * *', 'America/New_York', '2022-11-05T00:00:00Z', 3), [
    ...['2022-11-05T13:00', '2022-11-06T14:00', '2022-11-07T14:00'],
  ]);
  // Clocks that are set by half an hour (Lord Howe Island).
  t.same(moments('15 2 * * *', 'Australia/Lord_Howe', '2024-10-05T12:00:00Z', 2), [
    ...['2024-10-05T15:30', '2024-10-06T15:15'],
  ]);
  // harrisiirak/cron-parser #410: a day that no month has is no fault beside a weekday.
  t.same(moments('0 0 31 2 1-5', 'UTC', '2026-01-30T00:00:00Z', 2), ['2026-02-02T00:00', '2026-02-03T00:00']);
  // atifaziz/NCrontab #106: alone it is.
  t.equal(parseCrontab('0 0 30 2 *'), undefined);
  // harrisiirak/cron-parser #173, dragonmantank/cron-expression #61: either day counts; #347: not beside a star.
  t.same(moments('30 0 1 * 1', 'UTC', '2026-08-31T12:00:00Z', 2), ['2026-09-01T00:30', '2026-09-07T00:30']);
  t.same(moments('0 0 */3 * 1-5', 'UTC', '2026-09-01T12:00:00Z', 2), ['2026-09-04T00:00', '2026-09-07T00:00']);
});
