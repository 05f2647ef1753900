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
    const hkdf = await s.importKey('raw', RAW, 'HKDF', false, ['deriveBits']);
    const pbkdf2 = await s.importKey('raw', RAW, 'PBKDF2', false, ['deriveBits', 'deriveKey']);
    const use = { name: 'PBKDF2', hash: 'SHA-256', salt: DATA, iterations: 10 };
    return [
      Buffer.from(await s.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt: DATA, info: DATA }, hkdf, 64)).toString(
        'hex',
      ),
      Buffer.from(await s.deriveBits(use, pbkdf2, 64)).toString('hex'),
      (await s.deriveKey(use, pbkdf2, { name: 'AES-GCM', length: 128 }, false, ['encrypt'])).algorithm,
      await outcomeOf(() => s.deriveBits({ ...use, iterations: 0 }, pbkdf2, 64)),
      await outcomeOf(() => s.deriveBits(use, pbkdf2, 7)),
    ];
  },
  extractable: (s) => s.importKey('raw', RAW, 'HKDF', true, ['deriveBits']),
  'another form': (s) => s.importKey('pkcs8', RAW, 'HKDF', false, ['deriveBits']),
};

t.test('HKDF and PBKDF2 do as Node’s', async (t) => {
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    t.strictSame(await outcomeOf(() => attempt(ours)), await outcomeOf(() => attempt(webcrypto.subtle)), name);
  }
});
