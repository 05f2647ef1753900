import t from 'tap';
import { latin1Bytes, latin1Text, textOf } from '../../../../../../sandbox/guest/globals/encoding/text-decoder.ts';

t.test('each byte is a character, and each character a byte', (t) => {
  const bytes = Uint8Array.from({ length: 10_000 }, (_, index) => index);
  const text = Buffer.from(bytes).toString('latin1');
  t.equal(latin1Text(bytes), text);
  t.same(latin1Bytes(text), bytes);
  t.same(latin1Bytes('\u0141€'), Uint8Array.of(0x41, 0xac));
  t.equal(latin1Text(new Uint8Array()), '');
  t.equal(textOf(Uint16Array.of(0xd83d, 0xde00)), '😀');
  t.end();
});
