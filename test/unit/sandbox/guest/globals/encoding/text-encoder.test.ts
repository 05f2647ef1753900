import t from 'tap';
import { TextEncoder } from '../../../../../../sandbox/guest/globals/encoding/text-encoder.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';

const native = new globalThis.TextEncoder();
const ours = new TextEncoder();

t.test('agrees with the engine', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(20), (text, room) => {
      const a = new Uint8Array(room);
      const b = new Uint8Array(room);
      const same = JSON.stringify(ours.encodeInto(text, a)) === JSON.stringify(native.encodeInto(text, b));
      return same && a.join() === b.join() && ours.encode(text).join() === native.encode(text).join();
    }),
    { numRuns: runsOf(500) },
  );
  for (const text of ['', 'é€😀', '\ud800', '\udc00x', 'a\ud83d', '\udbff\udfff', '\ud800\ud800\udc00']) {
    t.strictSame([...ours.encode(text)], [...native.encode(text)]);
  }
  t.strictSame([...ours.encode()], []);
  t.strictSame([...ours.encode(12)], [49, 50]);
  t.equal(ours.encoding, 'utf-8');
  t.equal(Object.prototype.toString.call(ours), '[object TextEncoder]');
  t.end();
});
