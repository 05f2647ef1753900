import { randomBytes } from 'node:crypto';
import t from 'tap';
import { provenSignature, signatureOfDer } from '../../../../../src/signers/remote/signature.ts';
import { assertSignedBy } from '../../../../../src/signers/secp256k1/ecdsa.ts';
import { fc, runsOf } from '../../../../support/properties.ts';
import { derOf, newServiceKey } from '../../../../support/signers/service-key.ts';

const ORDER = 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fffe_baae_dce6_af48_a03b_bfd2_5e8c_d036_4141n;
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });

t.test('a signature of the key is proven, with low s and its recovery id, whichever s the service chose', (t) => {
  const key = newServiceKey('secp256k1');
  fc.assert(
    fc.property(bytes32, (digest) => {
      for (const signature of [key.sign(digest), key.sign(digest)]) {
        const proven = provenSignature(digest, signature, key.publicKey);
        assertSignedBy(digest, proven, key.publicKey);
        if (BigInt(`0x${Buffer.from(proven.subarray(32, 64)).toString('hex')}`) > ORDER / 2n) return false;
      }
      return true;
    }),
    { numRuns: runsOf(100) },
  );
  t.pass('held for every digest');
  t.end();
});

t.test('what is not a signature of that key over that digest is refused', (t) => {
  const [key, other] = [newServiceKey('secp256k1'), newServiceKey('secp256k1')];
  const digest = randomBytes(32);
  const signature = key.sign(digest);
  const another = { message: /another key, or over something else/ };
  t.throws(() => provenSignature(digest, signature, other.publicKey), another);
  t.throws(() => provenSignature(randomBytes(32), signature, key.publicKey), another);
  for (const half of [0, 32]) {
    const [zero, order] = [Buffer.from(signature), Buffer.from(signature)];
    zero.fill(0, half, half + 32);
    order.write(ORDER.toString(16), half, 'hex');
    t.throws(() => provenSignature(digest, zero, key.publicKey), another);
    t.throws(() => provenSignature(digest, order, key.publicKey), another);
  }
  t.throws(() => provenSignature(digest, Buffer.concat([signature, Buffer.from([27])]), key.publicKey), {
    message: 'a signature is r and s of 32 bytes each, not 65 bytes',
  });
  t.end();
});

t.test('r and s of any length are read from DER', (t) => {
  fc.assert(
    fc.property(bytes32, bytes32, fc.integer({ min: 0, max: 31 }), (r, s, zeros) => {
      // DER writes a small number with fewer bytes, and puts a zero byte before a large one.
      r.fill(0, 0, zeros);
      const signature = Buffer.concat([r, s]);
      return signature.equals(signatureOfDer(derOf(signature)));
    }),
    { numRuns: runsOf(200) },
  );
  t.strictSame(
    Buffer.from(signatureOfDer(Buffer.from('3006020101020102', 'hex'))).toString('hex'),
    '01'.padStart(64, '0') + '02'.padStart(64, '0'),
  );
  for (const [der, why] of [
    ['', /not DER/],
    ['3106020101020102', /not DER/],
    ['3007020101020102', /not DER/],
    ['3006030101020102', /not DER/],
    ['3006020101020202', /not DER/],
    ['30040201010200', /not DER/],
    ['3009020101020102020103', /more than r and s|not DER/],
    ['300902010102010202013f', /more than r and s|not DER/],
    [`3026022101${'00'.repeat(32)}020101`, /more than 32 bytes/],
  ] as const) {
    t.throws(() => signatureOfDer(Buffer.from(der, 'hex')), { message: why }, der);
  }
  t.end();
});
