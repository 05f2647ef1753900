import * as node from 'node:crypto';
import t from 'tap';
import { guestCrypto } from '../../../../../support/guest-crypto.ts';
import { sameAsNode } from '../../../../../support/same-as-node.ts';

const ours = guestCrypto();
const { privateKey, publicKey } = node.generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const MINE = privateKey.export({ format: 'pem', type: 'pkcs8' });
const ITS = publicKey.export({ format: 'pem', type: 'spki' });

t.test('keys are read from every form', async (t) => {
  await sameAsNode<typeof node>(t, ours, node, {
    forms: (c) =>
      [
        c.createPrivateKey({ key: privateKey.export({ format: 'der', type: 'pkcs8' }), format: 'der', type: 'pkcs8' }),
        c.createPrivateKey({ key: privateKey.export({ format: 'jwk' }), format: 'jwk' }),
        c.createPublicKey({ key: publicKey.export({ format: 'der', type: 'spki' }), format: 'der', type: 'spki' }),
        c.createPublicKey({ key: privateKey.export({ format: 'jwk' }), format: 'jwk' }),
        c.createPublicKey({
          key: privateKey.export({ format: 'der', type: 'pkcs8' }),
          format: 'der',
          type: 'pkcs8',
        } as never),
        c.createPublicKey(c.createPrivateKey(MINE)),
      ].map((key) => [key.type, key.asymmetricKeyType]),
    'the kind of a key': (c) => c.createPublicKey(c.createPublicKey(ITS)),
    'an object for bytes': (c) => c.createPrivateKey(c.createPrivateKey(MINE) as never),
    nothing: (c) => c.createPrivateKey(undefined as never),
    'no format': (c) => c.createPrivateKey({ key: MINE, format: 'x' as never }),
    'no type': (c) => c.createPrivateKey({ key: Buffer.alloc(3), format: 'der' }),
    'no JWK': (c) => c.createPrivateKey({ key: 5 as never, format: 'jwk' }),
    'no secret': (c) => c.createSecretKey(5 as never),
  });
});
