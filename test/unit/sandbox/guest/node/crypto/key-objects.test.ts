import * as node from 'node:crypto';
import t from 'tap';
import { guestCrypto } from '../../../../../support/guest-crypto.ts';
import { sameAsNode } from '../../../../../support/same-as-node.ts';

const ours = guestCrypto();
const { privateKey, publicKey } = node.generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const MINE = privateKey.export({ format: 'pem', type: 'pkcs8' });
const ITS = publicKey.export({ format: 'pem', type: 'spki' });

t.test('keys are objects as Node’s are', async (t) => {
  await sameAsNode<typeof node>(t, ours, node, {
    secret: (c) => {
      const key = c.createSecretKey(Buffer.from('abc'));
      return [
        key.type,
        key.symmetricKeySize,
        key.export(),
        key.export({ format: 'jwk' }),
        key.equals(c.createSecretKey('abd', 'utf8')),
      ];
    },
    private: (c) => {
      const key = c.createPrivateKey(MINE);
      return [
        key.type,
        key.asymmetricKeyType,
        key.asymmetricKeyDetails,
        key.export({ format: 'jwk' }),
        key.export({ format: 'der', type: 'sec1' }),
      ];
    },
    public: (c) => [
      c.createPublicKey(ITS).export({ format: 'pem', type: 'spki' }),
      c.createPublicKey(ITS).equals(c.createPublicKey(MINE)),
    ],
    locked: (c) => {
      const pem = c
        .createPrivateKey(MINE)
        .export({ format: 'pem', type: 'pkcs8', cipher: 'aes-128-cbc', passphrase: 'x' });
      return c.createPrivateKey({ key: pem, passphrase: 'x' }).export({ format: 'pem', type: 'pkcs8' });
    },
    'no form': (c) => c.createPrivateKey(MINE).export({ format: 'x' } as never),
    'no options': (c) => c.createPublicKey(ITS).export(undefined),
    'a form of another': (c) => c.createPublicKey(ITS).export({ format: 'pem', type: 'pkcs8' } as never),
    'a locked JWK': (c) => c.createPrivateKey(MINE).export({ format: 'jwk', passphrase: 'x' } as never),
    'a secret of no form': (c) => c.createSecretKey('x', 'utf8').export({ format: 'pem' } as never),
    'not a key': (c) => c.createPrivateKey(MINE).equals(5 as never),
    'no key of the web': (c) => c.KeyObject.from(5 as never),
  });
  t.throws(() => new (ours.KeyObject as unknown as new (type: string, handle: object) => object)('secret', {}), {
    code: 'ERR_INVALID_ARG_TYPE',
  });
});
