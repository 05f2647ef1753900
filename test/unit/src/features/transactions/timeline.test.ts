import t from 'tap';
import type { Transaction } from '../../../../../src/features/transactions/records/transaction.ts';
import {
  TIMELINE_EVENTS,
  type TimelineRecords,
  timelineOf,
} from '../../../../../src/features/transactions/timeline.ts';
import { attemptOf, transactionOf } from '../../../../support/store.ts';

const at = (second: number) => `2026-11-21T00:00:${String(second).padStart(2, '0')}.000+00:00`;
const time = (second: number) => Date.parse('2026-11-21T00:00:00Z') + second * 1000;

function courseOf(given: Partial<TimelineRecords> = {}): TimelineRecords {
  const transaction = given.transaction ?? transactionOf({ createdAt: time(0) });
  return { transaction, attempts: [], decisions: [], intents: [], endedAt: null, ...given };
}

const PLAIN = { transactionView: ({ id, request }: Transaction) => ({ id, ...request }) };

t.test('what was only accepted has one event', (t) => {
  const course = courseOf();
  t.strictSame(timelineOf(course, PLAIN), {
    transaction_id: course.transaction.id,
    status: 'pending',
    inclusion: null,
    original: null,
    events: [{ at: at(0), event: 'accepted' }],
    omitted: 0,
  });
  t.end();
});

t.test('everything is told oldest first', (t) => {
  const transaction = transactionOf({
    createdAt: time(0),
    status: 'canceled',
    noopEnd: 'canceled',
    statusReason: 'by user',
    hash: '0x2',
  });
  const attempts = [
    attemptOf(transaction, { hash: '0x1', createdAt: time(1), acceptedAt: time(2), acceptedBy: 'https://a.test' }),
    attemptOf(transaction, { ordinal: 2, purpose: 'noop', hash: '0x2', createdAt: time(6), acceptedAt: null }),
  ];
  const { events } = timelineOf(
    courseOf({
      transaction,
      attempts,
      intents: [
        { kind: 'replace', createdAt: time(3), settledAt: time(4), refusal: 'too cheap' },
        { kind: 'cancel', createdAt: time(5), settledAt: time(5), refusal: null },
      ],
      decisions: [{ at: time(5), kind: 'canceled', text: 'by user' }],
      endedAt: time(9),
    }),
    PLAIN,
  );
  t.strictSame(events, [
    { at: at(0), event: 'accepted' },
    { at: at(1), event: 'signed', version: 1, purpose: 'send', hash: '0x1' },
    { at: at(2), event: 'submitted', version: 1, hash: '0x1', endpoint: 'https://a.test' },
    { at: at(3), event: 'replace_requested' },
    { at: at(4), event: 'replace_refused', text: 'too cheap' },
    { at: at(5), event: 'cancel_requested' },
    { at: at(5), event: 'decided', decision: 'canceled', text: 'by user' },
    { at: at(6), event: 'signed', version: 2, purpose: 'noop', hash: '0x2' },
    { at: at(9), event: 'ended', status: 'canceled', hash: '0x2', text: 'by user' },
  ]);
  t.end();
});

t.test('what the chain can tell is shown as it tells it', (t) => {
  const transaction = transactionOf({ createdAt: time(0), status: 'confirmed', confirmedAt: time(3), hash: '0x1' });
  const course = courseOf({ transaction, attempts: [attemptOf(transaction, { hash: '0x1', createdAt: time(1) })] });
  const timeline = timelineOf(course, {
    ...PLAIN,
    attemptView: ({ ordinal }) => ({ fee: BigInt(ordinal) }),
    inclusionView: ({ status }) => ({ block: 7, status }),
  });
  t.strictSame(timeline['inclusion'], { block: 7, status: 'confirmed' });
  t.match(timeline['events'], [
    {},
    { event: 'signed', content: { fee: 1n } },
    { at: at(3), event: 'ended', inclusion: { block: 7 } },
  ]);
  t.end();
});

t.test('of a long course the first and the latest are shown', (t) => {
  const decisions = Array.from({ length: TIMELINE_EVENTS }, (_, index) => ({
    at: time(0) + index,
    kind: 'parked' as const,
    text: String(index),
  }));
  const exact = timelineOf(courseOf({ decisions: decisions.slice(1) }), PLAIN);
  t.equal((exact['events'] as unknown[]).length, TIMELINE_EVENTS);
  t.equal(exact['omitted'], 0);
  const { events, omitted } = timelineOf(courseOf({ decisions }), PLAIN);
  t.equal(omitted, 1);
  const shown = events as { event: string; text?: string }[];
  t.equal(shown.length, TIMELINE_EVENTS);
  t.match([shown[0], shown[1], shown.at(-1)], [{ event: 'accepted' }, { text: '1' }, { text: '499' }]);
  t.end();
});

t.test('a noop in the place of a payment hides nothing of it', (t) => {
  const request = { to: '0xaa', value: '0x7', data: null };
  const noop = { to: '0xself', value: '0x0', data: null };
  const canceled = transactionOf({ status: 'canceled', noopEnd: 'canceled', request: noop });
  const attempts = [
    attemptOf(canceled, { hash: '0x1', request }),
    attemptOf(canceled, { ordinal: 2, purpose: 'noop', hash: '0x2', request: noop }),
  ];
  const original = (transaction: Transaction) => timelineOf(courseOf({ transaction, attempts }), PLAIN)['original'];
  t.strictSame(original(canceled), { to: '0xaa', value: '0x7' }, 'what the noop has changed, and no more');
  t.equal(original({ ...canceled, request }), null, 'the original won, or the noop is not in a block yet');
  t.equal(original({ ...canceled, noopEnd: null }), null);
  t.end();
});
