import * as node from 'node:crypto';
import t from 'tap';
import { guestCrypto } from '../../../../../support/guest-crypto.ts';
import { sameAsNode } from '../../../../../support/same-as-node.ts';

const ours = guestCrypto();
const later = (call: (done: (error: Error | null, result: unknown) => void) => void) =>
  new Promise((resolve, reject) => {
    call((error, result) => (error ? reject(error) : resolve(result)));
  });

t.test('keys of secrets are Node’s', async (t) => {
  await sameAsNode<typeof node>(t, ours, node, {
    pbkdf2: (c) =>
      Promise.all([
        Promise.resolve(c.pbkdf2Sync('p', 's', 10, 20, 'sha512')),
        later((done) => c.pbkdf2('p', 's', 10, 20, 'md5', done)),
      ]),
    scrypt: (c) => [
      c.scryptSync('p', 's', 9, { N: 16 }),
      c.scryptSync('p', 's', 9, { cost: 16, blockSize: 2, parallelization: 3 }),
    ],
    'scrypt later': (c) => later((done) => c.scrypt('p', 's', 9, done)),
    'scrypt later with options': (c) => later((done) => c.scrypt('p', 's', 9, { N: 32 }, done)),
    hkdf: (c) =>
      Promise.all([
        Promise.resolve(c.hkdfSync('sha1', 'k', 's', 'i', 9)),
        later((done) => c.hkdf('sha1', 'k', 's', 'i', 9, done)),
      ]),
    'two names': (c) => c.scryptSync('p', 's', 9, { N: 16, cost: 16 }),
    'no hash': (c) => c.pbkdf2('p', 's', 1, 1, (() => 1) as never, undefined as never),
    'no callback': (c) => c.hkdf('md5', 'k', 's', 'i', 1, undefined as never),
  });
});
