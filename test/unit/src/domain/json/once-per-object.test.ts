import t from 'tap';
import { oncePerObject } from '../../../../../src/domain/json/once-per-object.ts';

t.test('an object is read once, an equal one by itself, and a failure each time', async (t) => {
  let reads = 0;
  const read = oncePerObject((from: { value?: number }) => {
    reads += 1;
    if (from.value === undefined) throw new Error('nothing there');
    return from.value === 0 ? undefined : [from.value];
  });
  const one = { value: 1 };
  const result = read(one);
  t.same(result, [1]);
  t.equal(read(one), result);
  t.not(read({ value: 1 }), result);
  t.equal(reads, 2);
  const nothing = { value: 0 };
  t.equal(read(nothing), undefined);
  t.equal(read(nothing), undefined);
  t.equal(reads, 3);
  const bad = {};
  for (let time = 0; time < 2; time += 1) t.throws(() => read(bad), { message: 'nothing there' });
  t.equal(reads, 5);
  const made = {};
  read.know(made, [7]);
  t.strictSame(read(made), [7], 'whoever made it gave its result');
  t.equal(reads, 5);
});
