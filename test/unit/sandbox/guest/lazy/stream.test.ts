import type node from 'node:stream';
import t from 'tap';
import { create } from '../../../../../sandbox/guest/lazy/stream.ts';

t.test('the part makes what it stands for, and tells of a setting of all streams', (t) => {
  let changes = 0;
  const changed = () => {
    changes += 1;
  };
  const { Stream, unnamed } = create({ changed }) as { Stream: typeof node; unnamed: object[] };
  t.type(Stream, 'function');
  t.equal(unnamed.length, 2);
  const before = Stream.getDefaultHighWaterMark(false);
  Stream.setDefaultHighWaterMark(false, 7);
  t.strictSame([Stream.getDefaultHighWaterMark(false), changes], [7, 1]);
  Stream.setDefaultHighWaterMark(false, before);
  t.end();
});
