import t from 'tap';
import {
  base64Of,
  base64UrlOf,
  bytesFromBase64,
  bytesFromHex,
  concatBytes,
  copyOfBytes,
  hexOf,
} from '../../../../../../sandbox/guest/globals/encoding/bytes.ts';

t.test('bytes go to base64 and hex, and back', (t) => {
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  t.equal(base64Of(bytes), Buffer.from(bytes).toString('base64'));
  t.same(bytesFromBase64(base64Of(bytes)), bytes);
  t.throws(() => bytesFromBase64('no base64!'), SyntaxError);
  t.equal(base64UrlOf(Uint8Array.of(0xfb, 0xff)), '-_8');
  t.equal(hexOf(bytes), Buffer.from(bytes).toString('hex'));
  t.same(bytesFromHex(hexOf(bytes).toUpperCase()), bytes);
  for (const bad of ['0', 'zz']) t.throws(() => bytesFromHex(bad), SyntaxError);
  t.end();
});

t.test('copies are copies, of the part that a view shows', (t) => {
  const buffer = Uint8Array.of(1, 2, 3, 4).buffer;
  const copies = [buffer, new Uint8Array(buffer, 1, 2), new DataView(buffer, 3)].map(copyOfBytes);
  new Uint8Array(buffer).fill(9);
  t.same(
    copies.map((copy) => [...(copy ?? [])]),
    [[1, 2, 3, 4], [2, 3], [4]],
  );
  for (const other of ['text', null, undefined, [1], { byteLength: 1 }]) t.equal(copyOfBytes(other), undefined);
  t.same(concatBytes([Uint8Array.of(1), new Uint8Array(), Uint8Array.of(2, 3)]), Uint8Array.of(1, 2, 3));
  t.end();
});
