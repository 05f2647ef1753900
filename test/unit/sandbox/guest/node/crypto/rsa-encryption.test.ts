import * as node from 'node:crypto';
import t from 'tap';
import { guestCrypto } from '../../../../../support/guest-crypto.ts';
import { sameAsNode } from '../../../../../support/same-as-node.ts';

const ours = guestCrypto();
const { privateKey, publicKey } = node.generateKeyPairSync('rsa', { modulusLength: 1024 });
const MINE = privateKey.export({ format: 'pem', type: 'pkcs8' });
const ITS = publicKey.export({ format: 'pem', type: 'spki' });
const DATA = Buffer.from('data');

t.test('RSA encrypts and decrypts as Node’s', async (t) => {
  await sameAsNode<typeof node>(t, ours, node, {
    both: (c) => c.privateDecrypt(MINE, c.publicEncrypt(ITS, DATA)),
    'with a label': (c) => {
      const more = { oaepHash: 'sha256', oaepLabel: Buffer.from('l') };
      return c.privateDecrypt({ key: MINE, ...more }, c.publicEncrypt({ key: ITS, ...more }, DATA));
    },
    'the other way': (c) => [c.privateEncrypt(MINE, DATA), c.publicDecrypt(ITS, c.privateEncrypt(MINE, DATA))],
    'no padding': (c) => c.publicEncrypt({ key: ITS, padding: 'x' as never }, DATA),
    'no hash': (c) => c.publicEncrypt({ key: ITS, oaepHash: 5 as never }, DATA),
    'no data': (c) => c.publicEncrypt(ITS, 5 as never),
  });
});
