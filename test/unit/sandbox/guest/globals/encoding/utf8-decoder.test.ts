import t from 'tap';
import { Utf8Decoder } from '../../../../../../sandbox/guest/globals/encoding/text-decoder.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';

t.test('agrees with the engine, whole and in pieces', (t) => {
  const lead = fc.constantFrom(
    0x41,
    0x80,
    0xbf,
    0xc0,
    0xc2,
    0xe0,
    0xa0,
    0x9f,
    0xed,
    0xef,
    0xf0,
    0x90,
    0x8f,
    0xf4,
    0xf5,
  );
  // Long runs of ASCII take a way of their own.
  const run = fc.constant(Array.from('a'.repeat(70), (letter) => letter.charCodeAt(0)));
  const one = fc.oneof(lead, fc.nat(255)).map((byte) => [byte]);
  const piece = fc.oneof({ weight: 9, arbitrary: one }, { weight: 1, arbitrary: run });
  const bytes = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.flat());
  fc.assert(
    fc.property(bytes, fc.nat(200), (list, cut) => {
      const all = new Uint8Array(list);
      const expected = new TextDecoder('utf-8', { ignoreBOM: true }).decode(all);
      const whole = new Utf8Decoder(false).decode(all, true);
      const pieces = new Utf8Decoder(false);
      const joined = pieces.decode(all.subarray(0, cut), false) + pieces.decode(all.subarray(cut), true);
      return whole === expected && joined === expected;
    }),
    { numRuns: runsOf(2000) },
  );
  t.pass('agreed');
  t.end();
});

t.test('a fatal one throws at malformed input', (t) => {
  for (const bad of [[0x80], [0xc2], [0xe0, 0x80], [0xf5], [0xc2, 0x41]]) {
    t.throws(() => new Utf8Decoder(true).decode(new Uint8Array(bad), true), TypeError);
  }
  t.equal(new Utf8Decoder(true).decode(new Uint8Array([0xf0, 0x9f, 0x98, 0x80]), true), '😀');
  t.end();
});

t.test('takes long input', (t) => {
  for (const letters of ['aé€😀', 'a', '😀', `${'a'.repeat(5_000)}é`]) {
    const text = letters.repeat(Math.ceil(200_000 / letters.length));
    t.ok(new Utf8Decoder(true).decode(new TextEncoder().encode(text), true) === text, letters.slice(0, 4));
  }
  t.end();
});
