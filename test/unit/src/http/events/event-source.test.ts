import { randomUUID } from 'node:crypto';
import t from 'tap';
import { orderedId } from '../../../../../src/domain/ordered-id.ts';
import type { EventPlace, TransactionEvent } from '../../../../../src/domain/transaction/transaction-event.ts';
import { EventSource } from '../../../../../src/http/events/event-source.ts';
import { CallFeed } from '../../../../../src/plugin-host/call-feed.ts';
import type { TransactionEvents } from '../../../../../src/services/events/transaction-events.ts';

/** The events of one transaction, kept in memory. */
class FakeEvents implements TransactionEvents {
  readonly all: TransactionEvent[] = [];
  looks = 0;
  listeners = 0;

  happen(): void {
    const place = { written: 0, position: this.all.length + 1 };
    const about = { transactionId: 't', relayerId: 'r', status: 'sent', statusReason: null, hash: null } as const;
    this.all.push({ place, at: 0, ...about });
  }

  async latest(): Promise<EventPlace> {
    return this.all.at(-1)?.place ?? { written: 0, position: 0 };
  }

  async isKept({ position }: EventPlace): Promise<boolean> {
    return position <= this.all.length;
  }

  async after({ position }: EventPlace, limit: number): Promise<TransactionEvent[]> {
    this.looks += 1;
    return this.all.slice(position, position + limit);
  }

  onNews(): () => void {
    this.listeners += 1;
    return () => {
      this.listeners -= 1;
    };
  }
}

function sourceOver(events: FakeEvents, id = '00000000'): EventSource {
  const parts = { events, pluginHost: { ended: new CallFeed() }, keys: { onChange: () => () => {} } };
  return new EventSource(parts, id);
}

t.test('those who ask for the same between two beats look once', async (t) => {
  const events = new FakeEvents();
  const source = sourceOver(events);
  const close = [source.open(), source.open()];
  t.equal(events.listeners, 1);
  const from = await source.now();
  events.happen();
  const look = () => source.transactionsAfter(from.transactions);
  const found = await Promise.all([look(), look()]);
  t.match(found, [{ transactions: [{}], isFull: false }, { transactions: [{}] }]);
  t.equal(events.looks, 1);
  await source.next(source.beats);
  await look();
  t.equal(events.looks, 2);
  for (const one of close) one();
  t.equal(events.listeners, 0);
});

t.test('who comes back goes on, as far as that is known', async (t) => {
  const events = new FakeEvents();
  const source = sourceOver(events);
  events.happen();
  const from = await source.now();
  events.happen();
  t.strictSame(await source.resume(from), { cursor: from, isWhole: true });
  const elsewhere = { ...from, calls: { of: '11111111', place: 7 } };
  t.match(await source.resume(elsewhere), { cursor: { transactions: from.transactions }, isWhole: false });
  const unknown = { ...from, transactions: { written: 0, position: 9 } };
  for (const one of [unknown, undefined]) {
    t.match(await source.resume(one), { cursor: { transactions: { position: 2 } }, isWhole: false });
  }
});

t.test('there is more than one look finds', async (t) => {
  const events = new FakeEvents();
  for (let count = 0; count < 201; count += 1) events.happen();
  const source = sourceOver(events);
  const found = await source.transactionsAfter({ written: 0, position: 0 });
  t.match([found.isFull, found.transactions.length], [true, 200]);
  const rest = await source.transactionsAfter({ written: 0, position: 200 });
  t.match(rest, { isFull: false, transactions: [{ place: { position: 201 } }] });
});

t.test('a cursor of another start is not taken for one of this start, however soon after it', async (t) => {
  const events = new FakeEvents();
  const [before, after] = [1, 2].map(() => sourceOver(events, orderedId(randomUUID(), 1_795_774_103_038)));
  const cursor = await before?.now();
  if (cursor === undefined) throw new Error('no cursor');
  t.match(await before?.resume(cursor), { isWhole: true });
  t.match(await after?.resume(cursor), { isWhole: false });
});
