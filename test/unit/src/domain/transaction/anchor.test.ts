import t from 'tap';
import { anchorKindSchema, conflicts, sequenceOf } from '../../../../../src/domain/transaction/anchor.ts';

const [zero, one] = [sequence(0n), sequence(1n)];
const [a, b] = [text('0'), text('b')];
const none = { kind: 'none' } as const;

function sequence(sequence: bigint) {
  return { kind: 'sequence', sequence } as const;
}

function text(text: string) {
  return { kind: 'text', text } as const;
}

t.test('two attempts exclude each other where they consume the same, and not nothing', (t) => {
  for (const anchor of [zero, one, a, b]) t.ok(conflicts(anchor, { ...anchor }), anchor.kind);
  t.notOk(conflicts(none, none));
  for (const [left, right] of [
    [zero, one],
    [a, b],
    [zero, a],
    [zero, none],
    [a, none],
  ] as const) {
    t.notOk(conflicts(left, right));
    t.notOk(conflicts(right, left));
  }
  t.end();
});

t.test('only one kind has a sequence', (t) => {
  t.strictSame([zero, one, a, none].map(sequenceOf), [0n, 1n, null, null]);
  t.end();
});

t.test('stored kinds stay readable', (t) => {
  // Stored rows are read by every later version, so none of these may be removed.
  for (const kind of ['sequence', 'text', 'none']) t.equal(anchorKindSchema.parse(kind), kind);
  t.end();
});
