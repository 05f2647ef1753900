import t from 'tap';
import { sequenceText, sequenceTextSchema } from '../../../../../src/store/tables/sequence-text.ts';

t.test('text sorts as the numbers do, and comes back exactly', async (t) => {
  const sequences = [0n, 1n, 9n, 10n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 64n - 1n];
  const texts = sequences.map(sequenceText);
  t.strictSame(texts.toSorted(), texts);
  t.strictSame(
    texts.map((text) => sequenceTextSchema.parse(text)),
    sequences,
  );
});

t.test('what is no sequence is refused, both ways', async (t) => {
  for (const sequence of [-1n, 2n ** 64n]) t.throws(() => sequenceText(sequence), RangeError);
  for (const text of ['', '1', '-0000000000000000001', '0000000000000000000x', 1]) {
    t.equal(sequenceTextSchema.safeParse(text).success, false);
  }
});
