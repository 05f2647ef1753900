import t from 'tap';
import { CallFeed } from '../../../../../../src/features/plugins/host/call-feed.ts';
import type { EndedCall } from '../../../../../../src/features/plugins/host/call-log.ts';

const call = (given: Partial<EndedCall> = {}): EndedCall => ({
  pluginId: 'p',
  requestId: 'q',
  keyId: 'k',
  at: 0,
  outcome: 'returned',
  durationMs: 3,
  lines: [],
  ...given,
});

const any = () => true;

t.test('the latest that follow come in their order, and it is said when there were more', (t) => {
  const feed = new CallFeed();
  t.strictSame(feed.after(0, 10, any), { calls: [], isCut: false, place: 0 });
  for (let count = 1; count <= 1_003; count += 1) {
    feed.add(call({ pluginId: count % 100 === 0 ? 'rare' : 'p', requestId: String(count) }));
  }
  t.equal(feed.latest, 1_003);
  const two = [{ requestId: '1002' }, { requestId: '1003' }];
  t.match(feed.after(900, 2, any), { calls: two, isCut: true, place: 1_003 });
  t.match(feed.after(1_001, 2, any), { calls: two, isCut: false, place: 1_003 });
  t.match(feed.after(900, 0, any), { calls: [], isCut: true, place: 1_003 });
  t.ok(feed.after(0, 2_000, any).isCut, 'some are not kept any more');
  t.strictSame(feed.after(9_999, 10, any), { calls: [], isCut: false, place: 1_003 }, 'a place of another start');
  const rare = feed.after(800, 5, ({ pluginId }) => pluginId === 'rare');
  t.match(rare, { calls: [{ requestId: '900' }, { requestId: '1000' }], isCut: false }, 'of those that are wanted');
  t.end();
});

t.test('of what calls wrote so much is kept', (t) => {
  const feed = new CallFeed();
  const long = { level: 'info' as const, message: 'x'.repeat(10_000) };
  feed.add(call({ lines: [long, { level: 'uncaught', message: 'at handler (plugins/p.ts:1:1)' }] }));
  const [{ lines } = call()] = feed.after(0, 1, any).calls;
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
