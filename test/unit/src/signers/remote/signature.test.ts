import { generateKeyPairSync, randomBytes } from 'node:crypto';
import t from 'tap';
import { createRemoteSigner } from '../../../../../src/signers/remote/remote-signer.ts';
import {
  proveSignature,
  publicKeyOfJwk,
  publicKeyOfPoint,
  publicKeyOfSpki,
  signatureOfDer,
} from '../../../../../src/signers/remote/signature.ts';
import { assertSignedBy } from '../../../../../src/signers/secp256k1.ts';
import { fc, runsOf } from '../../../../support/properties.ts';
import { derOf, newServiceKey } from '../../../../support/signers/service-key.ts';

const ORDER = 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fffe_baae_dce6_af48_a03b_bfd2_5e8c_d036_4141n;
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });

t.test('a signature of the key is proven, with low s and its recovery id, whichever s the service chose', (t) => {
  const key = newServiceKey('secp256k1');
  fc.assert(
    fc.property(bytes32, (digest) => {
      for (const signature of [key.sign(digest), key.sign(digest)]) {
        const proven = proveSignature(digest, signature, key.publicKey);
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
  t.throws(() => proveSignature(digest, signature, other.publicKey), another);
  t.throws(() => proveSignature(randomBytes(32), signature, key.publicKey), another);
  for (const half of [0, 32]) {
    const [zero, order] = [Buffer.from(signature), Buffer.from(signature)];
    zero.fill(0, half, half + 32);
    order.write(ORDER.toString(16), half, 'hex');
    t.throws(() => proveSignature(digest, zero, key.publicKey), another);
    t.throws(() => proveSignature(digest, order, key.publicKey), another);
  }
  t.throws(() => proveSignature(digest, Buffer.concat([signature, Buffer.from([27])]), key.publicKey), {
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

t.test('public key', async (t) => {
  const secp = newServiceKey('secp256k1');
  const ed = newServiceKey('ed25519');
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

  t.test('SubjectPublicKeyInfo, as DER and as PEM', (t) => {
    for (const key of [secp, ed]) {
      for (const spki of [
        key.spki.export({ format: 'der', type: 'spki' }),
        key.spki.export({ format: 'pem', type: 'spki' }).toString(),
      ]) {
        t.equal(hex(publicKeyOfSpki(key.curve, spki)), hex(key.publicKey));
      }
    }
    t.end();
  });

  t.test('a key of another curve says so', (t) => {
    const der = ({ spki }: typeof ed) => spki.export({ format: 'der', type: 'spki' });
    t.throws(() => publicKeyOfSpki('secp256k1', der(ed)), {
      message: 'its key is on ed25519, and is asked to sign on secp256k1',
    });
    t.throws(() => publicKeyOfSpki('ed25519', der(secp)), {
      message: 'its key is on secp256k1, and is asked to sign on ed25519',
    });
    const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
    t.throws(() => publicKeyOfSpki('secp256k1', p256.export({ format: 'der', type: 'spki' })), {
      message: 'its key is of type ec prime256v1',
    });
    const rsa = generateKeyPairSync('rsa', { modulusLength: 512 }).publicKey;
    t.throws(() => publicKeyOfSpki('secp256k1', rsa.export({ format: 'der', type: 'spki' })), {
      message: 'its key is of type rsa',
    });
    t.throws(() => publicKeyOfSpki('secp256k1', 'no key'), { message: 'its public key cannot be read' });
    t.end();
  });

  t.test('the coordinates of a JWK, and points', (t) => {
    const { x = '', y = '' } = secp.spki.export({ format: 'jwk' });
    t.equal(hex(publicKeyOfJwk({ x, y })), hex(secp.publicKey));
    t.throws(() => publicKeyOfJwk({ x, y: x }), { message: 'its public key is not a point of secp256k1' });
    t.throws(() => publicKeyOfJwk({ x, y: undefined }), { message: /has 0 bytes instead of 32/ });
    const compressed = Buffer.concat([
      Buffer.from([2 + ((secp.publicKey[64] ?? 0) & 1)]),
      secp.publicKey.subarray(1, 33),
    ]);
    t.equal(hex(publicKeyOfPoint(compressed)), hex(secp.publicKey));
    t.throws(() => publicKeyOfPoint(Buffer.alloc(65, 4)), { message: 'its public key is not a point of secp256k1' });
    t.end();
  });
});

for (const curve of ['secp256k1', 'ed25519'] as const) {
  t.test(`which key it is stays found, and each signature on ${curve} is proven against it`, async (t) => {
    const [key, other] = [newServiceKey(curve), newServiceKey(curve)];
    let finds = 0;
    let signing = key;
    const signer = createRemoteSigner('one', async () => {
      finds += 1;
      if (finds === 1) throw new Error('away');
      return { publicKey: key.publicKey, sign: async (payload) => signing.sign(payload) };
    });
    const payload = randomBytes(32);
    await t.rejects(signer.sign(curve, payload), { message: 'away' });
    t.equal((await signer.sign(curve, payload)).length, curve === 'ed25519' ? 64 : 65);
    t.same(await signer.publicKey(curve), key.publicKey);
    signing = other;
    await t.rejects(signer.sign(curve, payload), { message: /another key/ });
    t.equal(finds, 2);
    await signer.close();
  });
}

t.test('a digest has 32 bytes, and an Ed25519 signature 64', async (t) => {
  const secp = newServiceKey('secp256k1');
  const ed = newServiceKey('ed25519');
  const digests = createRemoteSigner('one', async () => ({
    publicKey: secp.publicKey,
    sign: () => Promise.reject(new Error('it was asked')),
  }));
  await t.rejects(digests.sign('secp256k1', randomBytes(31)), { message: 'a digest has 32 bytes, not 31' });
  const short = createRemoteSigner('one', async () => ({
    publicKey: ed.publicKey,
    sign: async (payload) => ed.sign(payload).subarray(0, 63),
  }));
  await t.rejects(short.sign('ed25519', randomBytes(5)), { message: /another key/ });
});
