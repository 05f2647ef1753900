import { decodeBase58, encodeBase58 } from 'ethers';
import t from 'tap';
import { fromBase58, toBase58 } from '../../../../src/domain/base58.ts';
import { fc, runsOf } from '../../../support/properties.ts';

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Vectors of draft-msporny-base58, section 5. */
const VECTORS: Readonly<Record<string, string>> = {
  [Buffer.from('Hello World!').toString('hex')]: '2NEpo7TZRRrLZSi2U',
  [Buffer.from('The quick brown fox jumps over the lazy dog.').toString('hex')]:
    'USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z',
  '0000287fb4cd': '11233QC4',
};

t.test('the vectors of the draft, both ways', async (t) => {
  for (const [hex, text] of Object.entries(VECTORS)) {
    t.equal(toBase58(Buffer.from(hex, 'hex')), text);
    t.same(fromBase58(text, hex.length / 2), Buffer.from(hex, 'hex'));
  }
  t.equal(toBase58(new Uint8Array()), '');
  t.same(fromBase58('', 0), Buffer.alloc(0));
});

t.test('bytes have one text, as another implementation writes it, and come back from it alone', async (t) => {
  const zeros = fc.nat(4).map((count) => new Uint8Array(count));
  const property = fc.property(zeros, fc.uint8Array({ maxLength: 80 }), (leading, rest) => {
    const bytes = Buffer.concat([leading, rest]);
    const text = toBase58(bytes);
    const expected = bytes.every((byte) => byte === 0) ? '1'.repeat(bytes.length) : encodeBase58(bytes);
    const back = fromBase58(text, bytes.length);
    const isTight = [-1, 1].every((off) => fromBase58(text, bytes.length + off) === undefined);
    return text === expected && back !== undefined && bytes.equals(back) && isTight;
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: runsOf(1000) }));
});

t.test('any text of the alphabet is bytes of one length, and no other', async (t) => {
  const digit = fc.constantFrom(...ALPHABET.split(''));
  const property = fc.property(fc.array(digit, { minLength: 1, maxLength: 60 }), (digits) => {
    const text = digits.join('');
    const found = Array.from({ length: 62 }, (_, length) => fromBase58(text, length)).filter((bytes) => bytes);
    const [bytes] = found;
    if (found.length !== 1 || bytes === undefined || toBase58(bytes) !== text) return false;
    const value = decodeBase58(text);
    return BigInt(`0x0${bytes.toHex()}`) === value;
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: runsOf(300) }));
});

t.test('what is not of the alphabet, or not so many bytes, is refused', async (t) => {
  for (const bad of ['0', 'O', 'I', 'l', ' 2', '2\n', 'é', '😀', '2+', '2\u0000']) {
    for (const length of [1, 2, 3]) t.equal(fromBase58(bad, length), undefined, JSON.stringify(bad));
  }
  t.equal(fromBase58('z'.repeat(44), 32), undefined, '2^256 and more');
  t.equal(fromBase58('z'.repeat(50_000_000), 32), undefined, 'which nobody reads to its end');
  t.equal(fromBase58('JEKNVnkbo3jma5nREBBJCDoXFVeKkD56V3xKrvRmWxFH', 32), undefined, '2^256');
  t.same(fromBase58('JEKNVnkbo3jma5nREBBJCDoXFVeKkD56V3xKrvRmWxFG', 32), Buffer.alloc(32, 0xff), '2^256 - 1');
});
