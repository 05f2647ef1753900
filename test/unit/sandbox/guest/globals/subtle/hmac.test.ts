import { webcrypto } from 'node:crypto';
import t from 'tap';
import { guestSubtle } from '../../../../../support/guest-crypto.ts';
import { outcomeOf } from '../../../../../support/guest-web.ts';

type Subtle = typeof webcrypto.subtle;
const ours = guestSubtle().subtle as unknown as Subtle;
const DATA = new TextEncoder().encode('the data');
const RAW = Uint8Array.from({ length: 32 }, (_, index) => index);

const ATTEMPTS: Record<string, (s: Subtle) => Promise<unknown>> = {
  both: async (s) => {
    const key = await s.importKey('raw', RAW, { name: 'HMAC', hash: 'SHA-384' }, true, ['sign', 'verify']);
    const code = await s.sign('HMAC', key, DATA);
    return [
      Buffer.from(code).toString('hex'),
      await s.verify('HMAC', key, code, DATA),
      await s.verify('HMAC', key, RAW, DATA),
      await s.exportKey('jwk', key),
    ];
  },
  lengths: async (s) => (await s.generateKey({ name: 'HMAC', hash: 'SHA-512' }, true, ['sign'])).algorithm,
  'odd lengths': async (s) =>
    (await s.importKey('raw', RAW, { name: 'HMAC', hash: 'SHA-1', length: 250 }, true, ['sign'])).algorithm,
  'no length': (s) => s.importKey('raw', RAW, { name: 'HMAC', hash: 'SHA-1', length: 2 }, true, ['sign']),
  'nothing new': (s) => s.generateKey({ name: 'HMAC', hash: 'SHA-1', length: 0 }, true, ['sign']),
};

t.test('HMAC does as Node’s', async (t) => {
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    t.strictSame(await outcomeOf(() => attempt(ours)), await outcomeOf(() => attempt(webcrypto.subtle)), name);
  }
});
