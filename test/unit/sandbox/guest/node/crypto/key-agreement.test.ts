import * as node from 'node:crypto';
import t from 'tap';
import { guestCrypto } from '../../../../../support/guest-crypto.ts';
import { sameAsNode } from '../../../../../support/same-as-node.ts';

const ours = guestCrypto();
const { privateKey, publicKey } = node.generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const MINE = privateKey.export({ format: 'pem', type: 'pkcs8' });
const ITS = publicKey.export({ format: 'pem', type: 'spki' });
const COMPRESSED = node.createECDH('secp256k1').generateKeys('hex', 'compressed');

t.test('two sides come to one secret', async (t) => {
  await sameAsNode<typeof node>(t, ours, node, {
    objects: (c) => {
      const [a, b] = [c.createPrivateKey(MINE), c.createPublicKey(ITS)];
      return c.diffieHellman({ privateKey: a, publicKey: b });
    },
    'objects later': (c) =>
      new Promise((resolve) => {
        c.diffieHellman({ privateKey: c.createPrivateKey(MINE), publicKey: c.createPublicKey(ITS) }, (error, secret) =>
          resolve([error, secret]),
        );
      }),
    points: (c) => {
      const one = c.createECDH('secp256k1');
      one.setPrivateKey('11'.repeat(32), 'hex');
      const two = c.createECDH('secp256k1');
      two.setPrivateKey('12'.repeat(32), 'hex');
      return [
        one.computeSecret(two.getPublicKey()),
        one.getPublicKey('hex', 'compressed'),
        one.getPrivateKey('hex'),
        two.generateKeys('hex').length,
      ];
    },
    converted: (c) => c.ECDH.convertKey(COMPRESSED, 'secp256k1', 'hex', 'hex', 'uncompressed'),
    'no form': (c) => c.createECDH('secp256k1').generateKeys('hex', 'x' as never),
    'no curve': (c) => c.createECDH('x'),
    'no key yet': (c) => c.createECDH('secp256k1').getPrivateKey(),
    'no keys': (c) => c.diffieHellman({} as never),
    'one key': (c) => c.diffieHellman({ privateKey: c.createPrivateKey(MINE) } as never),
  });
});
