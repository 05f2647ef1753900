import t from 'tap';
import { partsOf } from '../../../../../../sandbox/guest/globals/subtle/algorithm.ts';
import {
  cutBits,
  exportSecret,
  generateSecret,
  importSecret,
  secretIn,
} from '../../../../../../sandbox/guest/globals/subtle/keys.ts';
import { subtleTools } from '../../../../../support/guest-crypto.ts';

const tools = subtleTools();
const KIND = { use: 'sig', usages: ['sign'], alg: () => 'X' } as const;
const request = { extractable: true, usages: ['sign'] };

t.test('secret keys come and go as bytes and as JSON', (t) => {
  const data = { kty: 'oct', k: '__8', alg: 'X' };
  const key = partsOf(importSecret(tools, KIND, { format: 'jwk', data, request }, () => ({ name: 'x' })));
  if (key === undefined) throw new Error('no key');
  t.equal(key.material, '//8=');
  t.match(exportSecret(tools, KIND, 'jwk', key), data);
  t.same(exportSecret(tools, KIND, 'raw', key), new Uint8Array([255, 255]));
  t.throws(() => exportSecret(tools, KIND, 'spki', key), { name: 'NotSupportedError' });
  t.throws(() => secretIn(tools, 'pkcs8', data), { name: 'NotSupportedError' });
  t.throws(() => secretIn(tools, 'jwk', { k: '+' }), { name: 'DataError' });
  t.end();
});

t.test('new ones have so many bits', (t) => {
  const key = partsOf(generateSecret(tools, KIND, request, { name: 'x', length: 12 }));
  const bytes = Buffer.from(key?.material ?? '', 'base64');
  t.equal(bytes.length, 2);
  t.equal((bytes[1] ?? 1) & 0x0f, 0);
  const cut = new Uint8Array([255, 255]);
  cutBits(cut, 9);
  t.same(cut, new Uint8Array([255, 128]));
  t.end();
});
