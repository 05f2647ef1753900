import t from 'tap';
import { PART_GLOBALS } from '../../../../../sandbox/guest/globals/lazy-parts.ts';
import { part } from '../../../../../sandbox/guest/parts/text.ts';

t.test('the part makes the names it stands for', (t) => {
  const made = part();
  t.strictSame(Object.keys(made).sort(), [...PART_GLOBALS.text].sort());
  const { TextEncoder: Encoder, TextDecoder: Decoder } = made as unknown as typeof globalThis;
  t.equal(new Decoder().decode(new Encoder().encode('aé')), 'aé');
  t.end();
});
