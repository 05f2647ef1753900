import * as node from 'node:crypto';
import t from 'tap';
import { guestCrypto } from '../../../../../support/guest-crypto.ts';
import { sameAsNode } from '../../../../../support/same-as-node.ts';

const ours = guestCrypto();

t.test('new keys are of the kinds that Node makes', async (t) => {
  await sameAsNode<typeof node>(t, ours, node, {
    kinds: (c) =>
      (['ed25519', 'x25519', 'ed448', 'x448'] as const).map(
        (kind) => c.generateKeyPairSync(kind as 'ed25519').publicKey.asymmetricKeyType,
      ),
    curve: (c) => c.generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey.asymmetricKeyDetails,
    rsa: (c) =>
      new Promise((resolve) => {
        c.generateKeyPair('rsa', { modulusLength: 1024, publicExponent: 3 }, (error, its) =>
          resolve([error, its.asymmetricKeyDetails]),
        );
      }),
    written: (c) =>
      new Promise((resolve) => {
        const encoding = { publicKeyEncoding: { format: 'jwk' }, privateKeyEncoding: { format: 'jwk' } } as never;
        c.generateKeyPair('ed25519', encoding, (error, its) => resolve([error, Object.keys(its)]));
      }),
    secrets: (c) => [
      c.generateKeySync('hmac', { length: 64 }).symmetricKeySize,
      c.generateKeySync('aes', { length: 128 }).type,
    ],
    'a secret later': (c) =>
      new Promise((resolve) => {
        c.generateKey('aes', { length: 192 }, (error, key) => resolve([error, key.symmetricKeySize]));
      }),
    'no kind': (c) => c.generateKeyPairSync('nope' as 'rsa', { modulusLength: 1024 }),
    'no hash': (c) => c.generateKeyPairSync('rsa-pss', { modulusLength: 1024, hashAlgorithm: 5 as never }),
    'no length': (c) => c.generateKeySync('aes', { length: 5 }),
    'no such secret': (c) => c.generateKeySync('des' as 'aes', { length: 128 }),
  });
  t.throws(() => ours.generateKeyPairSync('dh' as 'rsa', { group: 'modp5' } as never), { message: /take too long/ });
});
