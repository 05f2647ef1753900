import t from 'tap';
import { encodeUtf8, utf8Length, writeUtf8 } from '../../../../../../sandbox/guest/globals/encoding/text-encoder.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';

t.test('agrees with the engine', (t) => {
  const native = new TextEncoder();
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('a', 'é', '\ud83d', '\ude00') }),
  );
  fc.assert(
    fc.property(text, fc.nat(40), (given, room) => {
      const expected = native.encode(given);
      const [mine, nodes] = [new Uint8Array(room), new Uint8Array(room)];
      t.strictSame(writeUtf8(given, mine), { ...native.encodeInto(given, nodes) });
      t.same([encodeUtf8(given), utf8Length(given), mine], [expected, expected.length, nodes], JSON.stringify(given));
    }),
    { numRuns: runsOf(300) },
  );
  t.equal(utf8Length('aé', 1), 2);
  t.end();
});
