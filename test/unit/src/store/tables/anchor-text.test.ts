import t from 'tap';
import { type Anchor, conflicts } from '../../../../../src/domain/transaction/anchor.ts';
import { anchorText, anchorTextSchema } from '../../../../../src/store/tables/anchor-text.ts';

const ANCHORS: readonly Anchor[] = [
  { kind: 'sequence', sequence: 0n },
  { kind: 'sequence', sequence: 7n },
  { kind: 'sequence', sequence: 2n ** 64n - 1n },
  { kind: 'text', text: '' },
  { kind: 'text', text: '7' },
  { kind: 'text', text: 'sequence:00000000000000000007' },
  { kind: 'text', text: 'text:7' },
  { kind: 'none' },
];

t.test('an anchor comes back from its text', (t) => {
  for (const anchor of ANCHORS) t.strictSame(anchorTextSchema.parse(anchorText(anchor)), anchor);
  t.end();
});

t.test('texts are equal where anchors conflict', (t) => {
  for (const one of ANCHORS) {
    for (const other of ANCHORS) {
      const text = anchorText(one);
      t.equal(text !== null && text === anchorText(other), conflicts(one, other), `${text} ${anchorText(other)}`);
    }
  }
  t.end();
});

t.test('what is no anchor is refused', (t) => {
  for (const text of ['', '7', 'sequence:', 'sequence:7', 'sequence:x0000000000000000007', 'none', 7, undefined]) {
    t.equal(anchorTextSchema.safeParse(text).success, false, String(text));
  }
  t.end();
});
