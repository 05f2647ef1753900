import t from 'tap';
import { isCronSchedule, nextCronTime } from '../../../../src/domain/cron-schedule.ts';

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
