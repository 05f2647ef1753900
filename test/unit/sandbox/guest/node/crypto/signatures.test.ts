import * as node from 'node:crypto';
import t from 'tap';
import { guestCrypto } from '../../../../../support/guest-crypto.ts';
import { sameAsNode } from '../../../../../support/same-as-node.ts';

const ours = guestCrypto();
const { privateKey, publicKey } = node.generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const MINE = privateKey.export({ format: 'pem', type: 'pkcs8' });
const ITS = publicKey.export({ format: 'pem', type: 'spki' });
const DATA = Buffer.from('data');
const ED = node.generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });

t.test('signatures hold, and those that are always the same are the same', async (t) => {
  await sameAsNode<typeof node>(t, ours, node, {
    same: (c) => [c.sign(null, DATA, ED), c.verify(null, DATA, ED, c.sign(null, DATA, ED))],
    'with options': (c) => {
      const key = { key: MINE, dsaEncoding: 'ieee-p1363' as const };
      return [c.sign('sha256', DATA, key).length, c.verify('sha256', DATA, key, c.sign('sha256', DATA, key))];
    },
    later: (c) =>
      new Promise((resolve) => {
        c.sign('sha256', DATA, MINE, (error, signature) => {
          c.verify('sha256', DATA, ITS, signature, (problem, right) => resolve([error, problem, right]));
        });
      }),
    'in pieces': (c) => {
      const signature = c.createSign('sha256').update('da').update('ta').sign(MINE, 'base64');
      const verify = c.createVerify('sha256');
      verify.write('data');
      verify.end();
      return verify.verify(ITS, signature, 'base64');
    },
    'no key': (c) => c.createSign('sha256').sign(undefined as never),
    'no key at once': (c) => c.sign('sha256', DATA, undefined as never),
    'after the end': (c) => {
      const sign = c.createSign('sha256');
      sign.sign(MINE);
      return sign.sign(MINE);
    },
    'more after the end': (c) => {
      const sign = c.createSign('sha256');
      sign.sign(MINE);
      return sign.update('x');
    },
    'no hash': (c) => c.createVerify('nope'),
    'no padding': (c) => c.sign('sha256', DATA, { key: MINE, padding: 'x' as never }),
    'no salt': (c) => c.sign('sha256', DATA, { key: MINE, saltLength: 'x' as never }),
    'no encoding': (c) => c.sign('sha256', DATA, { key: MINE, dsaEncoding: 'x' as never }),
  });
});
