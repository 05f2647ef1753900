import { generateKeyPairSync, webcrypto } from 'node:crypto';
import t from 'tap';
import { guestSubtle } from '../../../../../support/guest-crypto.ts';
import { outcomeOf } from '../../../../../support/guest-web.ts';

type Subtle = typeof webcrypto.subtle;
const ours = guestSubtle().subtle as unknown as Subtle;
const DATA = new TextEncoder().encode('the data');
const RAW = Uint8Array.from({ length: 32 }, (_, index) => index);
const ED = generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' });

const ATTEMPTS: Record<string, (s: Subtle) => Promise<unknown>> = {
  signatures: async (s) => {
    const { publicKey, privateKey } = await s.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
      'sign',
      'verify',
    ]);
    const use = { name: 'ECDSA', hash: 'SHA-256' };
    const signature = await s.sign(use, privateKey, DATA);
    return [
      await s.verify(use, publicKey, signature, DATA),
      await s.verify(use, publicKey, RAW, DATA),
      (await s.exportKey('raw', publicKey)).byteLength,
    ];
  },
  Ed25519: async (s) => {
    const key = await s.importKey('pkcs8', ED, 'Ed25519', true, ['sign']);
    return [Buffer.from(await s.sign('Ed25519', key, DATA)).toString('hex'), (await s.exportKey('jwk', key)).crv];
  },
  X25519: async (s) => {
    const { publicKey, privateKey } = (await s.generateKey('X25519', true, ['deriveBits'])) as {
      publicKey: CryptoKey;
      privateKey: CryptoKey;
    };
    const raw = await s.importKey('raw', await s.exportKey('raw', publicKey), 'X25519', true, []);
    return (await s.deriveBits({ name: 'X25519', public: raw }, privateKey, 9)).byteLength;
  },
  'a point of zeros': async (s) => {
    const { privateKey } = (await s.generateKey('X25519', true, ['deriveBits'])) as {
      publicKey: CryptoKey;
      privateKey: CryptoKey;
    };
    const zeros = await s.importKey('raw', new Uint8Array(32), 'X25519', true, []);
    return s.deriveBits({ name: 'X25519', public: zeros }, privateKey, 256);
  },
  'no curve': (s) => s.generateKey({ name: 'ECDH', namedCurve: 'P-1' }, true, ['deriveBits']),
  'a key of another curve': (s) => s.importKey('pkcs8', ED, 'X25519', true, ['deriveBits']),
};

t.test('keys of curves do as Node’s', async (t) => {
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    t.strictSame(await outcomeOf(() => attempt(ours)), await outcomeOf(() => attempt(webcrypto.subtle)), name);
  }
});
