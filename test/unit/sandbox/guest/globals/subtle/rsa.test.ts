import { generateKeyPairSync, webcrypto } from 'node:crypto';
import t from 'tap';
import { guestSubtle } from '../../../../../support/guest-crypto.ts';
import { outcomeOf } from '../../../../../support/guest-web.ts';

type Subtle = typeof webcrypto.subtle;
const ours = guestSubtle().subtle as unknown as Subtle;
const DATA = new TextEncoder().encode('the data');
const RAW = Uint8Array.from({ length: 32 }, (_, index) => index);
const RSA = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ format: 'der', type: 'pkcs8' });
const ED = generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' });
const E = new Uint8Array([1, 0, 1]);

const ATTEMPTS: Record<string, (s: Subtle) => Promise<unknown>> = {
  signatures: async (s) => {
    const mine = await s.importKey('pkcs8', RSA, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, true, ['sign']);
    return [
      mine.algorithm,
      Buffer.from(await s.sign('RSASSA-PKCS1-v1_5', mine, RAW)).toString('hex'),
      (await s.exportKey('jwk', mine)).alg,
    ];
  },
  'a salt': async (s) => {
    const { publicKey, privateKey } = await s.generateKey(
      { name: 'RSA-PSS', modulusLength: 1024, publicExponent: E, hash: 'SHA-1' },
      true,
      ['sign', 'verify'],
    );
    const use = { name: 'RSA-PSS', saltLength: 9 };
    return [publicKey.algorithm, await s.verify(use, publicKey, await s.sign(use, privateKey, DATA), DATA)];
  },
  sealed: async (s) => {
    const { publicKey, privateKey } = await s.generateKey(
      { name: 'RSA-OAEP', modulusLength: 1024, publicExponent: E, hash: 'SHA-256' },
      true,
      ['encrypt', 'decrypt'],
    );
    const use = { name: 'RSA-OAEP', label: DATA };
    return Buffer.from(await s.decrypt(use, privateKey, await s.encrypt(use, publicKey, DATA))).toString();
  },
  'no exponent': (s) =>
    s.generateKey({ name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([4]), hash: 'SHA-1' }, true, [
      'sign',
    ]),
  'no pair of RSA': (s) => s.importKey('pkcs8', ED, { name: 'RSA-PSS', hash: 'SHA-1' }, true, ['sign']),
};

t.test('RSA does as Node’s', async (t) => {
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    t.strictSame(await outcomeOf(() => attempt(ours)), await outcomeOf(() => attempt(webcrypto.subtle)), name);
  }
});
