import t from 'tap';
import { fc, runsOf } from '../../../../../test/support/properties.ts';
import {
  atob,
  base64Of,
  base64UrlOf,
  btoa,
  bytesFromBase64,
  bytesFromHex,
  concatBytes,
  copyOfBytes,
  hexOf,
} from '../../../../guest/globals/encoding/bytes.ts';
import {
  latin1Bytes,
  latin1Text,
  TextDecoder,
  textOfUtf16,
  Utf8Decoder,
} from '../../../../guest/globals/encoding/text-decoder.ts';
import { encodeUtf8, TextEncoder, utf8Length, writeUtf8 } from '../../../../guest/globals/encoding/text-encoder.ts';
import { create as encodings } from '../../../../guest/lazy/encodings.ts';
import { create } from '../../../../guest/lazy/text.ts';
import { LAZY_GLOBALS } from '../../../../guest/lazy-module-loader.ts';
import { runtimeServices } from '../../../support/guest-web.ts';

t.test('agrees with the engine', (t) => {
  const bytes = fc.uint8Array({ maxLength: 50 }).map((array) => String.fromCharCode(...array));
  fc.assert(
    fc.property(bytes, (text) => btoa(text) === globalThis.btoa(text) && atob(btoa(text)) === text),
    { numRuns: runsOf(300) },
  );
  for (const text of ['', 'YQ==', 'YQ', ' Y Q = = ', 'YWI=', 'YWJj', '/+8=', null]) {
    t.equal(atob(text), globalThis.atob(String(text)), String(text));
  }
  t.equal(btoa(12), 'MTI=');
  t.end();
});

t.test('refuses what the engine refuses', (t) => {
  for (const text of ['a', 'abcde', 'YQ=', 'Y===', '=', 'a-b_', 'YQ==x']) {
    t.throws(() => globalThis.atob(text));
    t.throws(() => atob(text), { name: 'InvalidCharacterError', code: 5 }, text);
  }
  t.throws(() => btoa('€'), { name: 'InvalidCharacterError' });
  t.end();
});

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

t.test('each byte is a character, and each character a byte', (t) => {
  const bytes = Uint8Array.from({ length: 10_000 }, (_, index) => index);
  const text = Buffer.from(bytes).toString('latin1');
  t.equal(latin1Text(bytes), text);
  t.same(latin1Bytes(text), bytes);
  t.same(latin1Bytes('\u0141€'), Uint8Array.of(0x41, 0xac));
  t.equal(latin1Text(new Uint8Array()), '');
  t.equal(textOfUtf16(Uint16Array.of(0xd83d, 0xde00)), '😀');
  t.end();
});

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

t.test('text encoder', async (t) => {
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
});

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

t.test('TextDecoder loads the other encodings only where they are named', (t) => {
  const asked: string[] = [];
  const large = (name: string) => {
    asked.push(name);
    return encodings();
  };
  const made = create({ ...runtimeServices(), large });
  t.strictSame(Object.keys(made).sort(), [...LAZY_GLOBALS.text].sort());
  const Decoder = made['TextDecoder'] as typeof TextDecoder;
  t.equal(new Decoder('latin1').encoding, 'windows-1252');
  t.strictSame(asked, []);
  const decoder = new Decoder('Shift-JIS', { fatal: true });
  t.strictSame([decoder.encoding, decoder.fatal, asked], ['shift_jis', true, ['encodings']]);
  t.equal(decoder.decode(new Uint8Array([0x82]), { stream: true }) + decoder.decode(new Uint8Array([0xa0])), 'あ');
  t.throws(() => decoder.decode(new Uint8Array([0x82])), TypeError);
  t.throws(() => new Decoder('klingon'), RangeError);
  t.end();
});
