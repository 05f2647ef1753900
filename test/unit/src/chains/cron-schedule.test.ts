import t from 'tap';
import { isCronSchedule } from '../../../../src/chains/cron-schedule.ts';

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
