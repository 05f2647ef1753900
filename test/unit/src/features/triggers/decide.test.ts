import t from 'tap';
import { pluginEntrySchema } from '../../../../../src/features/plugins/records/plugin.ts';
import type { TransactionEvent } from '../../../../../src/features/transactions/records/transaction-event.ts';
import {
  decideBalances,
  decideEvents,
  decideMoments,
  decideRate,
  MAX_DEPTH,
  MAX_OPEN,
  MAX_RUNNING,
} from '../../../../../src/features/triggers/decide.ts';
import type { Trigger } from '../../../../../src/features/triggers/records/trigger.ts';

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
const NOON = Date.parse('2026-11-27T12:00:00Z');

const hourly: Trigger = { name: 'a', cron: '0 * * * *' };
const often: Trigger = { name: 'a', every: '1m' };

t.test('a moment that has come', async (t) => {
  t.same(decideMoments(hourly, NOON - HOUR, NOON - 1, false), { at: NOON - HOUR, skipped: 0 }, 'not yet');
  t.same(decideMoments(hourly, NOON - HOUR, NOON, false), { fire: NOON, at: NOON, skipped: 0 });
  t.same(decideMoments(hourly, NOON, NOON + 5, false), { at: NOON, skipped: 0 }, 'once');
  t.same(decideMoments(often, NOON - MINUTE, NOON, false), { fire: NOON, at: NOON, skipped: 0 });
});

t.test('a moment at which the last call is still running is left out', async (t) => {
  t.same(decideMoments(hourly, NOON - HOUR, NOON, true), { at: NOON, skipped: 1 });
});

t.test('moments that were missed: the latest, none, or all', async (t) => {
  const late = NOON + 30 * MINUTE;
  t.same(decideMoments(hourly, NOON - 3 * HOUR, late, false), { fire: NOON, at: NOON, skipped: 2 });
  t.same(decideMoments({ ...hourly, missed: 'skip' }, NOON - 3 * HOUR, late, false), { at: NOON, skipped: 3 });
  t.same(
    decideMoments({ ...hourly, missed: 'skip' }, NOON - 3 * HOUR, NOON + 1000, false),
    { fire: NOON, at: NOON, skipped: 2 },
    'one that has just come is not missed',
  );
  const all = { ...hourly, missed: 'all' } as const;
  const first = NOON - 2 * HOUR;
  t.same(decideMoments(all, NOON - 3 * HOUR, late, false), { fire: first, at: first, skipped: 0 });
  t.same(decideMoments(all, NOON - 3 * HOUR, late, true), { at: NOON - 3 * HOUR, skipped: 0 }, 'one after the other');
  const old = NOON - 23 * HOUR;
  t.same(decideMoments(all, NOON - 10 * DAY, late, false), { fire: old, at: old, skipped: 0 }, 'of one day');
  const most = NOON - 99 * MINUTE;
  t.same(
    decideMoments({ ...often, missed: 'all' }, NOON - DAY, NOON, false),
    { fire: most, at: most, skipped: 1340 },
    'at most 100, and the others are counted',
  );
});

t.test('a year without an instance', async (t) => {
  t.match(decideMoments({ name: 'a', cron: '* * * * *' }, NOON - 365 * DAY, NOON, false), { fire: NOON, at: NOON });
  const yearly: Trigger = { name: 'a', cron: '0 0 1 1 *' };
  const newYear = Date.parse('2026-01-01T00:00:00Z');
  t.same(decideMoments(yearly, NOON - 365 * DAY, NOON, false), { fire: newYear, at: newYear, skipped: 0 });
});

t.test('a clock that is set back and forth', async (t) => {
  t.same(decideMoments(hourly, NOON + DAY, NOON + 5, false), { at: NOON + 5, skipped: 0 }, 'goes on from there');
  t.same(decideMoments(hourly, NOON + 5, NOON + HOUR, false), { fire: NOON + HOUR, at: NOON + HOUR, skipped: 0 });
});

t.test('public reports of clocks that jumped', async (t) => {
  const minutely: Trigger = { name: 'a', cron: '* * * * *' };
  // robfig/cron #480, citusdata/pg_cron #105, go-co-op/gocron #438: set ahead by hours and back, it stood still for hours.
  const back = decideMoments(minutely, NOON + 8 * HOUR, NOON, false);
  t.same(decideMoments(minutely, back.at, NOON + 60_000, false), {
    ...{ fire: NOON + 60_000, at: NOON + 60_000, skipped: 0 },
  });
  // Hexagon/croner #277: also from the year 3010.
  t.same(decideMoments(minutely, Date.parse('3010-01-01T00:00:00Z'), NOON, false), { at: NOON, skipped: 0 });
  // robfig/cron #26, node-schedule/node-schedule #431: an hour ahead, it ran 720 times at once.
  t.match(decideMoments({ name: 'a', every: '5s' }, NOON - HOUR, NOON, false), { fire: NOON, at: NOON, skipped: 719 });
  // node-schedule/node-schedule #632: after a sleep of the machine it came two days late.
  t.match(decideMoments({ name: 'a', cron: '30 10 * * 0' }, NOON - 2 * DAY, NOON, false).at, NOON - 2 * DAY);
});

t.test('a rate', async (t) => {
  const limited: Trigger = { ...often, at_most: '3/m' };
  let rateAt = 0;
  const allowed: boolean[] = [];
  for (let at = 0; at < 5; at += 1) {
    const rate = decideRate(limited, rateAt, NOON);
    allowed.push(rate.isAllowed);
    ({ rateAt } = rate);
  }
  t.same(allowed, [true, true, true, false, false]);
  t.equal(decideRate(limited, rateAt, NOON).inMs, 20_000);
  t.ok(decideRate(limited, rateAt, NOON + 20_000).isAllowed);
  t.ok(decideRate(limited, rateAt, NOON - DAY + MINUTE).inMs <= MINUTE, 'a clock that was set back does not stop it');
  t.ok(decideRate(often, rateAt, NOON).isAllowed, 'without a limit');
});

const plugin = pluginEntrySchema.parse({ id: 'p', path: 'p.ts' });
const ended: Trigger = { name: 'ended', on: 'transaction' };

function eventOf(position: number, given: Partial<TransactionEvent> = {}): TransactionEvent {
  return {
    written: 1,
    position,
    ...{ at: NOON, transactionId: `t${position}`, relayerId: 'r', status: 'confirmed', statusReason: null, hash: null },
    ...given,
  };
}

function decide(
  trigger: Trigger,
  following: TransactionEvent[],
  known: Partial<Parameters<typeof decideEvents>[2]> = {},
  waited: TransactionEvent[] = [],
) {
  const { fire, ...others } = decideEvents(
    { plugin, trigger },
    { waited, following },
    {
      ...{ busy: new Set(), open: 0, running: 0, originOf: () => null, rateAt: 0, now: NOON, ...known },
    },
  );
  return { ...others, fired: fire.map(({ event }) => event.position) };
}

t.test('events of transactions, those that are meant', async (t) => {
  const events = [
    eventOf(1, { status: 'sent' }),
    eventOf(2),
    eventOf(3, { status: 'failed', relayerId: 'other' }),
    eventOf(4, { status: 'mined' }),
  ];
  t.match(decide(ended, events), { fired: [2, 3], upTo: { written: 1, position: 4 }, isHeld: false });
  t.match(decide({ ...ended, relayers: ['r'], status: ['sent'] }, events), { fired: [1] });
  const limited = pluginEntrySchema.parse({ id: 'p', path: 'p.ts', permissions: { relayers: { r: ['read'] } } });
  const { fire } = decideEvents(
    { plugin: limited, trigger: ended },
    { waited: [], following: events },
    {
      ...{ busy: new Set(), open: 0, running: 0, originOf: () => null, rateAt: 0, now: NOON },
    },
  );
  t.equal(fire.length, 1, 'nothing of a relayer that the plugin may not use');
});

t.test('events of one transaction come one after the other, and no event is passed over', async (t) => {
  const of = { ...ended, status: ['sent', 'confirmed'] } as Trigger;
  const busy = new Set(['x']);
  const x = (position: number) => eventOf(position, { transactionId: 'x' });
  t.match(decide(of, [x(1), eventOf(2), x(3)]), { fired: [1, 2], held: [3], upTo: { position: 3 }, isHeld: true });
  t.match(decide(of, [x(3), eventOf(4)], { busy }), { fired: [4], held: [3], upTo: { position: 4 } });
  t.match(decide(of, [x(5), eventOf(6)], { busy }, [x(3)]), { fired: [6], held: [3, 5], upTo: { position: 6 } });
  t.match(decide(of, [x(5), eventOf(6)], {}, [x(3), x(4)]), { fired: [3, 6], held: [4, 5], upTo: { position: 6 } });
  t.match(decide(of, [], {}, [x(3)]), { fired: [3], held: [], isHeld: false, upTo: undefined });
});

t.test('how many calls for events are open at a time', async (t) => {
  const many = Array.from({ length: MAX_RUNNING + 3 }, (_, index) => eventOf(index + 1));
  const first = many.slice(0, MAX_RUNNING).map(({ position }) => position);
  t.match(decide(ended, many), { fired: first, upTo: { position: MAX_RUNNING }, held: [], isHeld: true });
  t.match(decide(ended, many, { running: MAX_RUNNING, open: MAX_RUNNING }), { fired: [], isHeld: true });
  t.match(decide(ended, many.slice(3), { open: MAX_RUNNING }), { isHeld: false }, 'those that wait leave room');
  t.match(decide(ended, many, { open: MAX_OPEN }), { fired: [], held: [], upTo: undefined, isHeld: true });
  const limited = { ...ended, at_most: '2/h' };
  t.match(decide(limited, many), { fired: [1, 2], upTo: { position: 2 }, isHeld: true });
  const two = [eventOf(1), eventOf(2), eventOf(3)];
  t.match(decide(limited, many.slice(3), {}, two), { fired: [1, 2], held: [3], upTo: undefined }, 'in their order');
});

t.test('no loops', async (t) => {
  const own = { originOf: () => ({ pluginId: 'p', depth: 0 }) };
  t.match(decide(ended, [eventOf(1)], own), { fired: [], upTo: { position: 1 } });
  t.match(decide({ ...ended, own: true }, [eventOf(1)], own), { fired: [1] });
  t.match(
    decide(ended, [eventOf(1)], { originOf: () => undefined }),
    { fired: [] },
    'who sent it is not known any more',
  );
  const deep = (depth: number) => ({ originOf: () => ({ pluginId: 'q', depth }) });
  t.match(decide(ended, [eventOf(1)], deep(MAX_DEPTH - 1)), { fired: [1], skipped: 0 });
  t.match(decide(ended, [eventOf(1)], deep(MAX_DEPTH)), { fired: [], skipped: 1, upTo: { position: 1 } });
  t.match(decide({ ...ended, own: true }, [eventOf(1)], deep(MAX_DEPTH)), { fired: [], skipped: 1 });
});

t.test('balances', async (t) => {
  const low = { plugin, trigger: { name: 'low', on: 'balance', below: '100', relayers: ['a', 'b'] } as Trigger };
  const at = (balance: bigint) => [
    { relayerId: 'a', balance },
    { relayerId: 'b', balance: 500n },
    { relayerId: 'c', balance: 0n },
  ];
  t.same(decideBalances(low, at(99n), []), { fire: [{ relayerId: 'a', balance: 99n }], low: ['a'] });
  t.same(decideBalances(low, at(99n), ['a']), { fire: [], low: ['a'] }, 'told once');
  t.same(decideBalances(low, at(105n), ['a']), { fire: [], low: ['a'] }, 'not yet well above');
  t.same(decideBalances(low, at(110n), ['a']), { fire: [], low: [] });
  t.same(decideBalances(low, at(100n), []), { fire: [], low: [] });
});
