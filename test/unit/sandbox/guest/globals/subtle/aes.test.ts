import { webcrypto } from 'node:crypto';
import t from 'tap';
import { guestSubtle } from '../../../../../support/guest-crypto.ts';
import { outcomeOf } from '../../../../../support/guest-web.ts';

type Subtle = typeof webcrypto.subtle;
const ours = guestSubtle().subtle as unknown as Subtle;
const DATA = new TextEncoder().encode('the data');
const RAW = Uint8Array.from({ length: 32 }, (_, index) => index);

const ATTEMPTS: Record<string, (s: Subtle) => Promise<unknown>> = {
  modes: (s) =>
    Promise.all(
      [
        { name: 'AES-CBC', iv: RAW.slice(0, 16) },
        { name: 'AES-CTR', counter: new Uint8Array(16).fill(255), length: 7 },
        { name: 'AES-GCM', iv: RAW.slice(0, 12), additionalData: DATA },
      ].map(async (use) => {
        const key = await s.importKey('raw', RAW, use.name, true, ['encrypt', 'decrypt']);
        const sealed = await s.encrypt(use, key, new Uint8Array(100));
        return [
          Buffer.from(sealed).toString('hex'),
          Buffer.from(await s.decrypt(use, key, sealed)).toString('hex'),
          await s.exportKey('jwk', key),
        ];
      }),
    ),
  'key wrap': async (s) => {
    const key = await s.importKey('raw', RAW, 'AES-KW', true, ['wrapKey', 'unwrapKey']);
    const wrapped = await s.wrapKey('raw', key, key, 'AES-KW');
    return [
      Buffer.from(wrapped).toString('hex'),
      (await s.unwrapKey('raw', wrapped, key, 'AES-KW', 'AES-GCM', true, ['encrypt'])).usages,
    ];
  },
  'a new key': async (s) => (await s.generateKey({ name: 'AES-GCM', length: 192 }, false, ['encrypt'])).algorithm,
  'no length': (s) => s.generateKey({ name: 'AES-GCM', length: 1 }, false, ['encrypt']),
  'no counter': async (s) => {
    const key = await s.importKey('raw', RAW, 'AES-CTR', true, ['encrypt']);
    return s.encrypt({ name: 'AES-CTR', counter: RAW, length: 5 }, key, DATA);
  },
  'no such tag': async (s) => {
    const key = await s.importKey('raw', RAW, 'AES-GCM', true, ['encrypt']);
    return s.encrypt({ name: 'AES-GCM', iv: RAW, tagLength: 5 }, key, DATA);
  },
};

t.test('AES does as Node’s', async (t) => {
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    t.strictSame(await outcomeOf(() => attempt(ours)), await outcomeOf(() => attempt(webcrypto.subtle)), name);
  }
});
