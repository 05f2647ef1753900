import t from 'tap';
import { createSubtle } from '../../../../../../sandbox/guest/lazy/subtle.ts';
import { outcomeOf, runtimeServices } from '../../../../../support/guest-web.ts';

const { classes, ...world } = runtimeServices();
const ours = createSubtle({ ...world, DOMException: classes.DOMException });

type Subtle = Pick<
  SubtleCrypto,
  'digest' | 'sign' | 'verify' | 'encrypt' | 'decrypt' | 'importKey' | 'exportKey' | 'generateKey'
>;

const DATA = new TextEncoder().encode('the data');
const RAW = Uint8Array.from({ length: 32 }, (_, index) => index);
const IV = Uint8Array.from({ length: 12 }, (_, index) => index);
const hex = (buffer: ArrayBuffer) => Buffer.from(buffer).toString('hex');
const SHA256 = { name: 'HMAC', hash: 'SHA-256' };

const ATTEMPTS: Record<string, (subtle: Subtle) => unknown> = {
  digests: (s) =>
    Promise.all(
      ['SHA-1', 'sha-256', { name: 'SHA-384' }, 'SHA-512'].map(async (name) => hex(await s.digest(name, DATA))),
    ),
  'the digest of a part': async (s) => hex(await s.digest('SHA-256', new DataView(DATA.buffer, 4))),
  'an unknown hash': (s) => s.digest('MD5', DATA),
  'a digest of no bytes': (s) => s.digest('SHA-256', 'text' as never),
  'no algorithm': (s) => s.digest({} as never, DATA),
  hmac: async (s) => {
    const key = await s.importKey('raw', RAW, SHA256, false, ['sign', 'verify']);
    const signature = await s.sign('HMAC', key, DATA);
    const other = new Uint8Array(signature.slice(0));
    other[0] = (other[0] ?? 0) ^ 1;
    return [
      hex(signature),
      await s.verify('hmac', key, signature, DATA),
      await s.verify('HMAC', key, other, DATA),
      await s.verify('HMAC', key, signature.slice(1), DATA),
      [key.type, key.extractable, key.algorithm, key.usages, String(key)],
    ];
  },
  'a key that may not sign': async (s) =>
    s.sign('HMAC', await s.importKey('raw', RAW, SHA256, false, ['verify']), DATA),
  'a key for something else': async (s) =>
    s.sign('HMAC', await s.importKey('raw', RAW, 'AES-GCM', false, ['encrypt']), DATA),
  'no key': (s) => s.sign('HMAC', {} as never, DATA),
  'an empty key': (s) => s.importKey('raw', new Uint8Array(), SHA256, false, ['sign']),
  'no usages': (s) => s.importKey('raw', RAW, SHA256, false, []),
  'wrong usages': (s) => s.importKey('raw', RAW, SHA256, false, ['encrypt']),
  'an AES key of no length': (s) => s.importKey('raw', RAW.subarray(1), 'AES-GCM', false, ['encrypt']),
  'an unknown format': (s) =>
    s.importKey('pkcs8', RAW, SHA256, false, ['sign']).then(
      () => 'read',
      () => 'refused',
    ),
  jwk: async (s) => {
    const key = await s.importKey('jwk', { kty: 'oct', k: '__4-' }, SHA256, true, ['sign']);
    const aes = await s.importKey('raw', RAW, 'AES-GCM', true, ['encrypt', 'decrypt']);
    return [await s.exportKey('jwk', key), hex(await s.exportKey('raw', key)), await s.exportKey('jwk', aes)];
  },
  'a bad jwk': (s) => s.importKey('jwk', { kty: 'RSA', k: 'AA' }, SHA256, true, ['sign']),
  'a key that stays': async (s) => s.exportKey('raw', await s.importKey('raw', RAW, SHA256, false, ['sign'])),
  'AES-GCM': async (s) => {
    const key = await s.importKey('raw', RAW, 'AES-GCM', false, ['encrypt', 'decrypt']);
    const long = { name: 'AES-GCM', iv: IV, additionalData: DATA };
    const short = { name: 'AES-GCM', iv: IV, tagLength: 96 };
    const sealed = await s.encrypt(long, key, DATA);
    return [
      hex(sealed),
      hex(await s.encrypt(short, key, DATA)),
      hex(await s.decrypt(long, key, sealed)),
      hex(await s.decrypt(short, key, await s.encrypt(short, key, new Uint8Array()))),
      await outcomeOf(() => s.decrypt({ ...long, additionalData: IV }, key, sealed)),
      await outcomeOf(() => s.decrypt(long, key, new Uint8Array(3))),
      await outcomeOf(() => s.encrypt({ ...long, tagLength: 7 }, key, DATA)),
    ];
  },
  'AES without a vector': async (s) =>
    s.encrypt({ name: 'AES-GCM' }, await s.importKey('raw', RAW, 'AES-GCM', false, ['encrypt']), DATA),
  'new keys': async (s) => {
    const keys = (await Promise.all([
      s.generateKey(SHA256, true, ['sign']),
      s.generateKey({ name: 'HMAC', hash: 'SHA-512', length: 256 }, true, ['sign']),
      s.generateKey({ name: 'AES-GCM', length: 128 }, true, ['encrypt']),
    ])) as CryptoKey[];
    return Promise.all(keys.map(async (key) => [key.algorithm, (await s.exportKey('raw', key)).byteLength]));
  },
  'a new key of no length': (s) => s.generateKey({ name: 'AES-GCM', length: 100 }, true, ['encrypt']),
};

t.test('subtle crypto does as Node’s', async (t) => {
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    t.strictSame(
      await outcomeOf(() => attempt(ours.subtle as unknown as Subtle)),
      await outcomeOf(() => attempt(crypto.subtle)),
      name,
    );
  }
});

t.test('nobody makes keys but the methods, and what is not here is not supported', async (t) => {
  t.throws(() => new ours.CryptoKey(), TypeError);
  t.throws(() => new ours.SubtleCrypto(), TypeError);
  const { subtle } = ours;
  const refused = (attempt: Promise<unknown>) => t.rejects(attempt, { name: 'NotSupportedError' });
  await refused(subtle.importKey('raw', RAW, 'Ed448', true, ['verify']));
  await refused(subtle.generateKey('ML-KEM-768', true, ['sign']));
  await refused(subtle.sign('AES-GCM', {}, DATA));
  await refused(subtle.encrypt('RSA-PSS', {}, DATA));
});
