import t from 'tap';
import {
  durationOf,
  nextMoment,
  rateOf,
  triggersSchema,
} from '../../../../../src/features/triggers/records/trigger.ts';

const secret = { type: 'env', value: 'ALERT_SECRET' };

function problems(...triggers: object[]): string[] {
  const issues = triggersSchema.safeParse(triggers).error?.issues ?? [];
  return issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

t.test('the kinds of triggers', async (t) => {
  const triggers = [
    { name: 'morning', cron: '0 8 * * 1-5', time_zone: 'Europe/Berlin', params: { pool: 'a' }, missed: 'skip' },
    { name: 'often', every: '15m', at_most: '60/h' },
    { name: 'ended', on: 'transaction', relayers: ['sepolia-1'], status: ['confirmed', 'failed'], own: true },
    { name: 'low', on: 'balance', relayers: ['*'], below: '50000000000000000' },
    { name: 'alert', on: 'webhook', secret },
  ];
  t.same(triggersSchema.parse(triggers), triggers);
});

t.test('all problems of all triggers at once', async (t) => {
  t.same(
    problems(
      { name: 'a b', cron: '* * *', status: ['x'] },
      { name: 'x', every: '0s', missed: 'sometimes', extra: 1 },
      { name: 'y', cron: '@daily', every: '1s', below: 3 },
      { name: 'y' },
      { name: 'w', on: 'webhook' },
      { name: 'b', on: 'balance', time_zone: 'Mars' },
      { name: 'b', on: 'block', relayers: ['r'] },
      { name: 'c', on: 'webhook', relayers: 1 },
      1 as never,
    ).map((problem) => problem.split(':')[0]),
    [
      ...[
        '0.name',
        '0.cron',
        '0.status.0',
        '0.status',
        '1.every',
        '1.missed',
        '1',
        '2.every',
        '2.below',
        '3.on',
        '4.secret',
      ],
      ...[
        '5.time_zone',
        '5.time_zone',
        '5.below',
        '6.on',
        '7.relayers',
        '7.relayers',
        '7.secret',
        '8',
        '3.name',
        '6.name',
      ],
    ],
  );
  t.match(problems({ name: 'y', every: '1s' }, { name: 'y', every: '1s' }), [/another trigger/]);
  const crons = ['0 0 8 * * 1-5', '@reboot', '0 8 * *', '0 0 31 2 *', '0 24 * * *'].map((cron) => ({
    name: 'x',
    cron,
  }));
  t.match(
    crons.flatMap((one) => problems(one)),
    [/six fields.*Leave the seconds out/, /@hourly, @daily/, /expected the five/, /a day that comes/, /its range/],
  );
});

t.test('durations and rates', async (t) => {
  const duration = (text: string) => durationOf(text, 31 * 86_400_000);
  t.same(['1s', '15m', '6h', '31d'].map(duration), [1000, 900_000, 21_600_000, 2_678_400_000]);
  t.same(['', '0s', '1', 's', '1.5s', '32d', '500ms'].map(duration), Array(7).fill(undefined));
  t.same(rateOf('60/h'), { firings: 60, inMs: 3_600_000 });
  t.same(['', '0/h', '60', '60/w', '-1/s'].map(rateOf), Array(5).fill(undefined));
});

t.test('moments', async (t) => {
  t.equal(nextMoment({ name: 'a', every: '15m' }, 900_000), 1_800_000, 'after, not at');
  t.equal(nextMoment({ name: 'a', every: '15m' }, 899_999), 900_000);
  const morning = { name: 'a', cron: '0 8 * * 1-5', time_zone: 'Europe/Berlin' };
  t.equal(nextMoment(morning, Date.parse('2026-11-27T07:00:00Z')), Date.parse('2026-11-30T07:00:00Z'));
  t.equal(nextMoment({ name: 'a', on: 'webhook' }, 0), undefined);
});
