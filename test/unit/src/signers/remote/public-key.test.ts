import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { publicKeyOfJwk, publicKeyOfPoint, publicKeyOfSpki } from '../../../../../src/signers/remote/public-key.ts';
import { newServiceKey } from '../../../../support/signers/service-key.ts';

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
