import t from 'tap';
import { TextDecoder } from '../../../../../../sandbox/guest/globals/encoding/text-decoder.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';

t.test('agrees with the engine for each encoding, whole and in pieces', (t) => {
  for (const label of ['utf-8', 'utf-16le', 'windows-1252']) {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), fc.nat(20), fc.boolean(), (bytes, cut, ignoreBOM) => {
        const decode = (decoder: { decode(input?: Uint8Array, options?: { stream?: boolean }): string }) =>
          decoder.decode(bytes.subarray(0, cut), { stream: true }) +
          decoder.decode(bytes.subarray(cut), { stream: true }) +
          decoder.decode();
        return (
          decode(new TextDecoder(label, { ignoreBOM })) === decode(new globalThis.TextDecoder(label, { ignoreBOM }))
        );
      }),
      { numRuns: runsOf(300) },
    );
  }
  const all = Uint8Array.from({ length: 256 }, (_, index) => index);
  t.equal(new TextDecoder('latin1').decode(all), new globalThis.TextDecoder('latin1').decode(all));
  t.end();
});

t.test('knows labels, options and kinds of input', (t) => {
  for (const label of ['utf8', ' UTF-8 ', 'unicode-1-1-utf-8', 'utf-16', 'ucs-2', 'ascii', 'iso-8859-1', 'l1']) {
    t.equal(new TextDecoder(label).encoding, new globalThis.TextDecoder(label).encoding, label);
  }
  t.throws(() => new TextDecoder('utf-9'), RangeError);
  t.match(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }), { fatal: true, ignoreBOM: true });
  const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 0x61]);
  t.equal(new TextDecoder().decode(bytes), 'a');
  t.equal(new TextDecoder().decode(bytes.buffer), 'a');
  t.equal(new TextDecoder().decode(new DataView(bytes.buffer, 3)), 'a');
  t.equal(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), '\ufeffa');
  t.equal(new TextDecoder().decode(), '');
  t.throws(() => new TextDecoder().decode('a' as never), TypeError);
  t.equal(Object.prototype.toString.call(new TextDecoder()), '[object TextDecoder]');
  t.end();
});

t.test('a fatal decoder starts anew after an error', (t) => {
  for (const [label, bad, good] of [
    ['utf-8', [0xff], [0x61]],
    ['utf-16le', [0x00, 0xdc], [0x61, 0x00]],
  ] as const) {
    const decoder = new TextDecoder(label, { fatal: true });
    t.throws(() => decoder.decode(new Uint8Array(bad)), TypeError);
    t.equal(decoder.decode(new Uint8Array(good)), 'a');
  }
  t.throws(() => new TextDecoder('utf-16le', { fatal: true }).decode(new Uint8Array([1])), TypeError);
  t.throws(() => new TextDecoder('utf-16le', { fatal: true }).decode(new Uint8Array([0, 0xd8])), TypeError);
  t.end();
});
