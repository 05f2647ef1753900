import t from 'tap';
import { CallFeed } from '../../../../src/plugin-host/call-feed.ts';
import type { EndedCall } from '../../../../src/plugin-host/call-log.ts';

const call = (given: Partial<EndedCall> = {}): EndedCall => ({
  ...{ pluginId: 'p', requestId: 'q', keyId: 'k', at: 0, outcome: 'returned', durationMs: 3, lines: [] },
  ...given,
});

t.test('calls follow in their order, and what is too old is counted', (t) => {
  const feed = new CallFeed();
  t.strictSame(feed.after(0, 10), { calls: [], missed: 0, place: 0 });
  for (let count = 1; count <= 1_003; count += 1) feed.add(call({ requestId: String(count) }));
  t.equal(feed.latest, 1_003);
  t.match(feed.after(0, 2), { calls: [{ requestId: '4' }, { requestId: '5' }], missed: 3, place: 5 });
  t.match(feed.after(1_001, 10), { calls: [{ requestId: '1002' }, { requestId: '1003' }], missed: 0, place: 1_003 });
  t.strictSame(feed.after(9_999, 10), { calls: [], missed: 0, place: 1_003 }, 'a place of another start');
  t.end();
});

t.test('of what calls wrote so much is kept', (t) => {
  const feed = new CallFeed();
  const long = { level: 'info' as const, message: 'x'.repeat(10_000) };
  feed.add(call({ lines: [long, { level: 'uncaught', message: 'at handler (plugins/p.ts:1:1)' }] }));
  const [{ lines } = call()] = feed.after(0, 1).calls;
  t.strictSame(
    lines.map(({ level, message }) => [level, message.length]),
    [
      ['info', 8_162],
      ['uncaught', 29],
    ],
  );
  t.end();
});

t.test('who listens hears of each call until they stop', (t) => {
  const feed = new CallFeed();
  let heard = 0;
  const stop = feed.onCall(() => {
    heard += 1;
  });
  feed.add(call());
  stop();
  feed.add(call());
  t.equal(heard, 1);
  t.end();
});
