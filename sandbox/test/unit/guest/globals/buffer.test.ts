import t from 'tap';
import { fc, runsOf } from '../../../../../test/support/properties.ts';
import { createBufferClass } from '../../../../guest/lazy/buffer.ts';
import { outcomeOf } from '../../../support/guest-web.ts';

type BufferClass = typeof Buffer;

const ATTEMPTS: Record<string, (B: BufferClass) => unknown> = {
  encodings: (B) =>
    (['utf8', 'hex', 'base64', 'base64url', 'latin1', 'ascii', 'utf16le', 'BASE64URL' as never] as const).map(
      (encoding) => [B.from('ÿþ>?é', 'utf8').toString(encoding), B.isEncoding(encoding)],
    ),
  'reading encodings': (B) => [
    [...B.from('fffe3e3f', 'hex')],
    [...B.from('__4-Pw', 'base64url')],
    [...B.from('//4+Pw==', 'base64')],
    [...B.from('é', 'latin1')],
    B.byteLength('__4-Pw', 'base64url'),
    B.byteLength('é'),
  ],
  'an unknown encoding': (B) => B.from('x', 'unheard' as never),
  concat: (B) => B.concat([B.from('a'), Uint8Array.of(98)]).toString(),
  compare: (B) => [B.compare(B.from('a'), B.from('b')), B.from('a').equals(B.from('a')), B.from('abc').indexOf('c')],
  numbers: (B) => {
    const buffer = B.alloc(16);
    buffer.writeUInt32BE(0xdeadbeef, 0);
    buffer.writeBigUInt64LE(2n ** 63n, 4);
    buffer.writeInt16LE(-2, 12);
    return [buffer.toString('hex'), buffer.readUInt32BE(0), String(buffer.readBigUInt64LE(4)), buffer.readInt16LE(12)];
  },
  'out of bounds': (B) => B.alloc(2).readUInt32LE(0),
  'a view of the same bytes': (B) => {
    const bytes = Uint8Array.of(1, 2, 3);
    const view = B.from(bytes.buffer, 1, 2);
    view[0] = 9;
    const part = view.subarray(1);
    return [[...bytes], part instanceof B, [...part]];
  },
  kinds: (B) => [
    B.isBuffer(B.from('')),
    B.isBuffer(new Uint8Array()),
    B.from('') instanceof Uint8Array,
    B.from('a').toJSON(),
  ],
  'writing text': (B) => {
    const buffer = B.alloc(8, 'ab');
    const written = buffer.write('__4', 1, 'base64url');
    return [written, buffer.toString('hex'), buffer.write('é', 6), buffer.toString('latin1')];
  },
  fill: (B) => B.alloc(5, '_-8', 'base64url').toString('hex'),
  slice: (B) => B.from('hello').slice(1, -1).toString('utf8', 1, 2),
  'a number': (B) => B.from(5 as never),
  swap: (B) => B.from([1, 2, 3, 4]).swap32().toString('hex'),
};

t.test('Buffer does as Node’s', async (t) => {
  const ours = createBufferClass() as unknown as BufferClass;
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    t.strictSame(await outcomeOf(() => attempt(ours)), await outcomeOf(() => attempt(Buffer)), name);
  }
});

const ENCODINGS = ['utf8', 'UTF-8', 'hex', 'base64', 'base64url', 'latin1', 'binary', 'ascii', 'utf16le'] as const;

t.test('texts become the bytes that Node makes of them, and bytes the texts', (t) => {
  const ours = createBufferClass() as unknown as BufferClass;
  const encoding = fc.constantFrom(...ENCODINGS) as fc.Arbitrary<BufferEncoding>;
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({ unit: fc.constantFrom(...'abYZ019+/-_= \n'.split('')), maxLength: 40 }),
    fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'.split('')), maxLength: 40 }),
  );
  fc.assert(
    fc.property(encoding, text, (name, given) => {
      // Of characters beyond a byte Node reads the lower half as a digit.
      fc.pre(!/hex|base64/.test(name) || /^[\0-\xff]*$/.test(given));
      const [mine, nodes] = [ours.from(given, name), Buffer.from(given, name)];
      t.ok(mine.equals(ours.from([...nodes])) && mine.length === nodes.length, `${name} ${JSON.stringify(given)}`);
    }),
    { numRuns: runsOf(500) },
  );
  const place = fc.oneof(fc.constantFrom(undefined, -1, 0, 1.5, Number.NaN, 2 ** 31), fc.nat(50));
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.constant(Uint8Array.of(0xef, 0xbb, 0xbf, 0x41)));
  fc.assert(
    fc.property(encoding, bytes, place, place, (name, given, from, to) => {
      const shown = ours.from(given).toString(name, from, to);
      t.equal(shown, Buffer.from(given).toString(name, from, to), `${name} ${[...given]} ${from} ${to}`);
    }),
    { numRuns: runsOf(500) },
  );
  t.equal(ours.from('é').toLocaleString('hex' as never), 'c3a9');
  t.end();
});
