import { randomUUID } from 'node:crypto';
import t from 'tap';
import { orderedId } from '../../../../src/domain/ordered-id.ts';

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

t.test('ids of one moment differ, and those of a later moment come later', async (t) => {
  const moments = [0, 1, 255, 256, 1_795_774_103_038, 1_795_774_103_038.9, 1_795_774_103_040, 2 ** 48 - 1];
  const ids = moments.map((now) => orderedId(randomUUID(), now));
  for (const id of ids) t.match(id, UUID_V4);
  t.equal(new Set(ids).size, moments.length);
  const prefixes = ids.map((id) => id.slice(0, 13));
  t.strictSame(prefixes.toSorted(), prefixes);
  t.equal(prefixes[4], prefixes[5]);
});
