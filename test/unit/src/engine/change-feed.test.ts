import t from 'tap';
import { ChangeFeed } from '../../../../src/engine/change-feed.ts';

t.test('each listener hears of its own transaction, until it stops', async (t) => {
  const feed = new ChangeFeed(() => t.fail('no listener throws'));
  const heard: string[] = [];
  const stop = feed.on('a', () => heard.push('first'));
  feed.on('a', () => heard.push('second'));
  feed.on('b', () => heard.push('other'));

  feed.notify('a');
  stop();
  stop();
  feed.notify('a');
  feed.notify('nobody listens');
  t.strictSame(heard, ['first', 'second', 'second']);
});

t.test('nothing is kept for transactions without listeners', async (t) => {
  const feed = new ChangeFeed(() => {});
  const stops = [feed.on('a', () => {}), feed.on('a', () => {}), feed.on('b', () => {})];
  t.equal(feed.size, 2);
  for (const stop of stops) stop();
  t.equal(feed.size, 0);
});

t.test('a listener that throws neither stops the others nor the one who tells', async (t) => {
  const faults: unknown[] = [];
  const feed = new ChangeFeed((error) => faults.push(error));
  let heard = 0;
  const fault = new Error('broken');
  feed.on('a', () => {
    throw fault;
  });
  feed.on('a', () => {
    heard += 1;
  });
  feed.notify('a');
  t.equal(heard, 1);
  t.strictSame(faults, [fault]);
});

t.test('what is told here is passed on; what is heard from elsewhere is not', async (t) => {
  const passedOn: string[] = [];
  const feed = new ChangeFeed(
    () => t.fail('no listener throws'),
    (id) => passedOn.push(id),
  );
  const heard: string[] = [];
  feed.on('a', () => heard.push('a'));
  feed.notify('a');
  feed.notifyHere('a');
  t.strictSame(heard, ['a', 'a']);
  t.strictSame(passedOn, ['a']);
});

t.test('who listens to whatever changes hears of all, until they stop', (t) => {
  const feed = new ChangeFeed(() => {});
  let heard = 0;
  const stop = feed.onAny(() => {
    heard += 1;
  });
  feed.notify('a');
  feed.notifyHere('b');
  feed.notifyAny();
  stop();
  feed.notify('a');
  t.equal(heard, 3);
  t.end();
});
