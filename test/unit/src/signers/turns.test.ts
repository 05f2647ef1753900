import t from 'tap';
import { Turns } from '../../../../src/signers/turns.ts';

t.test('so many at once, the others in the order they came, also after one that failed', async (t) => {
  const turns = new Turns(2);
  const begun: number[] = [];
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const tasks = gates.map(({ promise }, index) =>
    turns.take(async () => {
      begun.push(index);
      await promise;
      return index;
    }),
  );
  t.strictSame(begun, [0, 1]);
  gates[1]?.reject(new Error('lost'));
  await t.rejects(Promise.resolve(tasks[1]), { message: 'lost' });
  t.strictSame(begun, [0, 1, 2]);
  for (const { resolve } of gates) resolve();
  t.strictSame(await Promise.all(tasks.toSpliced(1, 1)), [0, 2, 3, 4]);
  t.strictSame(begun, [0, 1, 2, 3, 4]);
  t.equal(await turns.take(async () => 'free again'), 'free again');
});
