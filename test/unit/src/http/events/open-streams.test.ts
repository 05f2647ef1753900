import t from 'tap';
import { OpenStreams } from '../../../../../src/http/events/open-streams.ts';

t.test('each key has its share, and all together have theirs', (t) => {
  const streams = new OpenStreams();
  const first = Array.from({ length: 50 }, () => streams.open('a'));
  t.throws(() => streams.open('a'), { code: 'TOO_MANY_REQUESTS' });
  first[0]?.();
  first[0]?.();
  streams.open('a');
  t.throws(() => streams.open('a'), { code: 'TOO_MANY_REQUESTS' }, 'one that ends twice counts once');
  for (let key = 0; key < 9; key += 1) for (let count = 0; count < 50; count += 1) streams.open(`key-${key}`);
  t.throws(() => streams.open('another'), { code: 'TOO_MANY_REQUESTS' });
  t.end();
});
