import t from 'tap';
import {
  base64Of,
  bytesFromBase64,
  concatBytes,
  copyOfBytes,
} from '../../../../../../sandbox/guest/globals/encoding/bytes.ts';

t.test('bytes go to base64 and back', (t) => {
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  t.equal(base64Of(bytes), Buffer.from(bytes).toString('base64'));
  t.same(bytesFromBase64(base64Of(bytes)), bytes);
  t.throws(() => bytesFromBase64('no base64!'), SyntaxError);
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
