import { generateKeyPairSync, webcrypto } from 'node:crypto';
import t from 'tap';
import { guestSubtle } from '../../../../../support/guest-crypto.ts';
import { outcomeOf } from '../../../../../support/guest-web.ts';

type Subtle = typeof webcrypto.subtle;
const ours = guestSubtle().subtle as unknown as Subtle;
const EC = { name: 'ECDSA', namedCurve: 'P-256' };
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const MINE = privateKey.export({ format: 'jwk' });
const ITS = publicKey.export({ format: 'jwk' });

const ATTEMPTS: Record<string, (s: Subtle) => Promise<unknown>> = {
  forms: async (s) => {
    const [mine, its] = [
      await s.importKey('jwk', MINE, EC, true, ['sign']),
      await s.importKey('jwk', ITS, EC, true, ['verify']),
    ];
    return [
      await s.exportKey('jwk', mine),
      Buffer.from(await s.exportKey('spki', its)).toString('hex'),
      await outcomeOf(() => s.exportKey('spki', mine)),
      await outcomeOf(() => s.exportKey('pkcs8', its)),
    ];
  },
  'fields of their own': (s) =>
    s.importKey('jwk', { ...MINE, extra: 'x' } as typeof MINE, EC, false, ['sign']).then(({ type }) => type),
  'no fields': (s) => s.importKey('jwk', { kty: 'EC', crv: 'P-256' }, EC, false, ['verify']),
  'usages of the other': (s) => s.importKey('jwk', MINE, EC, false, ['verify']),
};

t.test('keys of pairs are read and written as Node’s', async (t) => {
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    t.strictSame(await outcomeOf(() => attempt(ours)), await outcomeOf(() => attempt(webcrypto.subtle)), name);
  }
});
