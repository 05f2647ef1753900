import { generateKeyPairSync, type KeyObject, webcrypto } from 'node:crypto';
import t from 'tap';
import {
  checkedUsages,
  computed,
  failing,
  CryptoKey as GuestKey,
  makeKey,
  mustBe,
  partsOf,
  text,
} from '../../../../../sandbox/guest/globals/subtle/algorithm.ts';
import {
  checkAlg,
  checkJwk,
  cutBits,
  exportSecret,
  generateSecret,
  importSecret,
  jwkOf,
  secretIn,
} from '../../../../../sandbox/guest/globals/subtle/keys.ts';
import { guestSubtle, subtleTools } from '../../../../support/guest-crypto.ts';
import { outcomeOf } from '../../../../support/guest-web.ts';

type Subtle = typeof webcrypto.subtle;
const made = guestSubtle();
const ours = made.subtle as unknown as Subtle;
const DATA = new TextEncoder().encode('the data');
const RAW = Uint8Array.from({ length: 32 }, (_, index) => index);
const IV = RAW.slice(0, 12);
const SHA256 = { name: 'HMAC', hash: 'SHA-256' };
const EC = { name: 'ECDSA', namedCurve: 'P-256' };
const E = new Uint8Array([1, 0, 1]);
const hex = (buffer: ArrayBuffer) => Buffer.from(buffer).toString('hex');
const derOf = (key: KeyObject) => key.export({ format: 'der', type: 'pkcs8' });
const ED = derOf(generateKeyPairSync('ed25519').privateKey);
const RSA = derOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey);
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const MINE = privateKey.export({ format: 'jwk' });
const ITS = publicKey.export({ format: 'jwk' });

const ATTEMPTS: Record<string, (s: Subtle) => Promise<unknown>> = {
  'aes: modes': (s) =>
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
          hex(await s.decrypt(use, key, sealed)),
          await s.exportKey('jwk', key),
        ];
      }),
    ),
  'aes: key wrap': async (s) => {
    const key = await s.importKey('raw', RAW, 'AES-KW', true, ['wrapKey', 'unwrapKey']);
    const wrapped = await s.wrapKey('raw', key, key, 'AES-KW');
    return [
      Buffer.from(wrapped).toString('hex'),
      (await s.unwrapKey('raw', wrapped, key, 'AES-KW', 'AES-GCM', true, ['encrypt'])).usages,
    ];
  },
  'aes: a new key': async (s) => (await s.generateKey({ name: 'AES-GCM', length: 192 }, false, ['encrypt'])).algorithm,
  'aes: no length': (s) => s.generateKey({ name: 'AES-GCM', length: 1 }, false, ['encrypt']),
  'aes: no counter': async (s) => {
    const key = await s.importKey('raw', RAW, 'AES-CTR', true, ['encrypt']);
    return s.encrypt({ name: 'AES-CTR', counter: RAW, length: 5 }, key, DATA);
  },
  'aes: no such tag': async (s) => {
    const key = await s.importKey('raw', RAW, 'AES-GCM', true, ['encrypt']);
    return s.encrypt({ name: 'AES-GCM', iv: RAW, tagLength: 5 }, key, DATA);
  },
  'curves: signatures': async (s) => {
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
  'curves: Ed25519': async (s) => {
    const key = await s.importKey('pkcs8', ED, 'Ed25519', true, ['sign']);
    return [hex(await s.sign('Ed25519', key, DATA)), (await s.exportKey('jwk', key)).crv];
  },
  'curves: X25519': async (s) => {
    const { publicKey, privateKey } = (await s.generateKey('X25519', true, ['deriveBits'])) as webcrypto.CryptoKeyPair;
    const raw = await s.importKey('raw', await s.exportKey('raw', publicKey), 'X25519', true, []);
    return (await s.deriveBits({ name: 'X25519', public: raw }, privateKey, 9)).byteLength;
  },
  'curves: a point of zeros': async (s) => {
    const { privateKey } = (await s.generateKey('X25519', true, ['deriveBits'])) as webcrypto.CryptoKeyPair;
    const zeros = await s.importKey('raw', new Uint8Array(32), 'X25519', true, []);
    return s.deriveBits({ name: 'X25519', public: zeros }, privateKey, 256);
  },
  'curves: no curve': (s) => s.generateKey({ name: 'ECDH', namedCurve: 'P-1' }, true, ['deriveBits']),
  'curves: a key of another curve': (s) => s.importKey('pkcs8', ED, 'X25519', true, ['deriveBits']),
  'derivations: both': async (s) => {
    const hkdf = await s.importKey('raw', RAW, 'HKDF', false, ['deriveBits']);
    const pbkdf2 = await s.importKey('raw', RAW, 'PBKDF2', false, ['deriveBits', 'deriveKey']);
    const use = { name: 'PBKDF2', hash: 'SHA-256', salt: DATA, iterations: 10 };
    return [
      Buffer.from(await s.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt: DATA, info: DATA }, hkdf, 64)).toString(
        'hex',
      ),
      hex(await s.deriveBits(use, pbkdf2, 64)),
      (await s.deriveKey(use, pbkdf2, { name: 'AES-GCM', length: 128 }, false, ['encrypt'])).algorithm,
      await outcomeOf(() => s.deriveBits({ ...use, iterations: 0 }, pbkdf2, 64)),
      await outcomeOf(() => s.deriveBits(use, pbkdf2, 7)),
    ];
  },
  'derivations: extractable': (s) => s.importKey('raw', RAW, 'HKDF', true, ['deriveBits']),
  'derivations: another form': (s) => s.importKey('pkcs8', RAW, 'HKDF', false, ['deriveBits']),
  'hmac: both': async (s) => {
    const key = await s.importKey('raw', RAW, { name: 'HMAC', hash: 'SHA-384' }, true, ['sign', 'verify']);
    const code = await s.sign('HMAC', key, DATA);
    return [
      Buffer.from(code).toString('hex'),
      await s.verify('HMAC', key, code, DATA),
      await s.verify('HMAC', key, RAW, DATA),
      await s.exportKey('jwk', key),
    ];
  },
  'hmac: lengths': async (s) => (await s.generateKey({ name: 'HMAC', hash: 'SHA-512' }, true, ['sign'])).algorithm,
  'hmac: odd lengths': async (s) =>
    (await s.importKey('raw', RAW, { name: 'HMAC', hash: 'SHA-1', length: 250 }, true, ['sign'])).algorithm,
  'hmac: no length': (s) => s.importKey('raw', RAW, { name: 'HMAC', hash: 'SHA-1', length: 2 }, true, ['sign']),
  'hmac: nothing new': (s) => s.generateKey({ name: 'HMAC', hash: 'SHA-1', length: 0 }, true, ['sign']),
  'pairs: forms': async (s) => {
    const [mine, its] = [
      await s.importKey('jwk', MINE, EC, true, ['sign']),
      await s.importKey('jwk', ITS, EC, true, ['verify']),
    ];
    return [
      await s.exportKey('jwk', mine),
      hex(await s.exportKey('spki', its)),
      await outcomeOf(() => s.exportKey('spki', mine)),
      await outcomeOf(() => s.exportKey('pkcs8', its)),
    ];
  },
  'pairs: fields of their own': (s) =>
    s.importKey('jwk', { ...MINE, extra: 'x' } as typeof MINE, EC, false, ['sign']).then(({ type }) => type),
  'pairs: no fields': (s) => s.importKey('jwk', { kty: 'EC', crv: 'P-256' }, EC, false, ['verify']),
  'pairs: usages of the other': (s) => s.importKey('jwk', MINE, EC, false, ['verify']),
  'rsa: signatures': async (s) => {
    const mine = await s.importKey('pkcs8', RSA, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, true, ['sign']);
    return [mine.algorithm, hex(await s.sign('RSASSA-PKCS1-v1_5', mine, RAW)), (await s.exportKey('jwk', mine)).alg];
  },
  'rsa: a salt': async (s) => {
    const { publicKey, privateKey } = await s.generateKey(
      { name: 'RSA-PSS', modulusLength: 1024, publicExponent: E, hash: 'SHA-1' },
      true,
      ['sign', 'verify'],
    );
    const use = { name: 'RSA-PSS', saltLength: 9 };
    return [publicKey.algorithm, await s.verify(use, publicKey, await s.sign(use, privateKey, DATA), DATA)];
  },
  'rsa: sealed': async (s) => {
    const { publicKey, privateKey } = await s.generateKey(
      { name: 'RSA-OAEP', modulusLength: 1024, publicExponent: E, hash: 'SHA-256' },
      true,
      ['encrypt', 'decrypt'],
    );
    const use = { name: 'RSA-OAEP', label: DATA };
    return Buffer.from(await s.decrypt(use, privateKey, await s.encrypt(use, publicKey, DATA))).toString();
  },
  'rsa: no exponent': (s) =>
    s.generateKey({ name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([4]), hash: 'SHA-1' }, true, [
      'sign',
    ]),
  'rsa: no pair of RSA': (s) => s.importKey('pkcs8', ED, { name: 'RSA-PSS', hash: 'SHA-1' }, true, ['sign']),
  'subtle: digests': (s) =>
    Promise.all(
      ['SHA-1', 'sha-256', { name: 'SHA-384' }, 'SHA-512'].map(async (name) => hex(await s.digest(name, DATA))),
    ),
  'subtle: the digest of a part': async (s) => hex(await s.digest('SHA-256', new DataView(DATA.buffer, 4))),
  'subtle: an unknown hash': (s) => s.digest('MD5', DATA),
  'subtle: a digest of no bytes': (s) => s.digest('SHA-256', 'text' as never),
  'subtle: no algorithm': (s) => s.digest({} as never, DATA),
  'subtle: hmac': async (s) => {
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
  'subtle: a key that may not sign': async (s) =>
    s.sign('HMAC', await s.importKey('raw', RAW, SHA256, false, ['verify']), DATA),
  'subtle: a key for something else': async (s) =>
    s.sign('HMAC', await s.importKey('raw', RAW, 'AES-GCM', false, ['encrypt']), DATA),
  'subtle: no key': (s) => s.sign('HMAC', {} as never, DATA),
  'subtle: an empty key': (s) => s.importKey('raw', new Uint8Array(), SHA256, false, ['sign']),
  'subtle: no usages': (s) => s.importKey('raw', RAW, SHA256, false, []),
  'subtle: wrong usages': (s) => s.importKey('raw', RAW, SHA256, false, ['encrypt']),
  'subtle: an AES key of no length': (s) => s.importKey('raw', RAW.subarray(1), 'AES-GCM', false, ['encrypt']),
  'subtle: an unknown format': (s) =>
    s.importKey('pkcs8', RAW, SHA256, false, ['sign']).then(
      () => 'read',
      () => 'refused',
    ),
  'subtle: jwk': async (s) => {
    const key = await s.importKey('jwk', { kty: 'oct', k: '__4-' }, SHA256, true, ['sign']);
    const aes = await s.importKey('raw', RAW, 'AES-GCM', true, ['encrypt', 'decrypt']);
    return [await s.exportKey('jwk', key), hex(await s.exportKey('raw', key)), await s.exportKey('jwk', aes)];
  },
  'subtle: a bad jwk': (s) => s.importKey('jwk', { kty: 'RSA', k: 'AA' }, SHA256, true, ['sign']),
  'subtle: a key that stays': async (s) => s.exportKey('raw', await s.importKey('raw', RAW, SHA256, false, ['sign'])),
  'subtle: AES-GCM': async (s) => {
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
  'subtle: AES without a vector': async (s) =>
    s.encrypt({ name: 'AES-GCM' }, await s.importKey('raw', RAW, 'AES-GCM', false, ['encrypt']), DATA),
  'subtle: new keys': async (s) => {
    const keys = (await Promise.all([
      s.generateKey(SHA256, true, ['sign']),
      s.generateKey({ name: 'HMAC', hash: 'SHA-512', length: 256 }, true, ['sign']),
      s.generateKey({ name: 'AES-GCM', length: 128 }, true, ['encrypt']),
    ])) as webcrypto.CryptoKey[];
    return Promise.all(keys.map(async (key) => [key.algorithm, (await s.exportKey('raw', key)).byteLength]));
  },
  'subtle: a new key of no length': (s) => s.generateKey({ name: 'AES-GCM', length: 100 }, true, ['encrypt']),
};

t.test('every algorithm does as Node’s', async (t) => {
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    t.strictSame(await outcomeOf(() => attempt(ours)), await outcomeOf(() => attempt(webcrypto.subtle)), name);
  }
});

const tools = subtleTools();
const { fail } = tools;

t.test('failures have one name', (t) => {
  t.equal(
    failing(fail, 'DataError', () => 5),
    5,
  );
  t.throws(() => failing(fail, 'DataError', () => JSON.parse('{')), { name: 'DataError' });
  t.throws(() => computed(tools, { op: 'digest', hash: 'nope', data: '' }), { name: 'OperationError' });
  t.end();
});

t.test('usages are in order, and those that are allowed', (t) => {
  const request = { extractable: true, usages: ['verify', 'sign', 'sign'] };
  t.strictSame(checkedUsages(fail, request, ['sign', 'verify']), ['sign', 'verify']);
  t.throws(() => checkedUsages(fail, request, ['sign']), { name: 'SyntaxError' });
  const key = partsOf(
    makeKey({ type: 'public', extractable: true, algorithm: { name: 'x' }, usages: [], material: '' }),
  );
  if (key === undefined) throw new Error('no key');
  t.throws(() => mustBe(fail, key, 'private'), { name: 'InvalidAccessError' });
  t.doesNotThrow(() => mustBe(fail, key, 'public'));
  t.end();
});

/** Threat: a plugin's package that changes what a key is shown to be, and uses it so. */
const PARTS = {
  type: 'public',
  extractable: true,
  algorithm: { name: 'RSA-PSS', hash: { name: 'SHA-1' }, publicExponent: new Uint8Array([3]) },
  usages: ['verify'],
  material: 'AA==',
} as const;

t.test('a key shows copies of what it is', (t) => {
  const key = makeKey(PARTS);
  t.strictSame(
    [key.type, key.extractable, key.usages, String(key)],
    ['public', true, ['verify'], '[object CryptoKey]'],
  );
  t.equal(key.algorithm, key.algorithm);
  key.algorithm.name = 'other';
  (key.usages as string[]).push('sign');
  t.strictSame(partsOf(key), PARTS);
  t.end();
});

t.test('nothing else is one', (t) => {
  t.throws(() => new GuestKey(), TypeError);
  t.throws(() => new GuestKey(Symbol('permit'), PARTS), TypeError);
  for (const other of [undefined, null, 5, {}, Object.create(makeKey(PARTS)), PARTS])
    t.equal(partsOf(other), undefined);
  t.end();
});

const check = (jwk: object, usages: string[] = ['sign'], extractable = true) =>
  checkJwk(fail, { kty: 'oct', ...jwk }, { extractable, usages }, { kty: 'oct', use: 'sig' });

t.test('what a key says of itself agrees with what is requested', (t) => {
  t.doesNotThrow(() => check({ use: 'sig', key_ops: ['sign', 'verify'], ext: true }));
  t.doesNotThrow(() => check({ use: 'enc' }, []));
  t.doesNotThrow(() => check({ ext: false }, ['sign'], false));
  for (const wrong of [
    { kty: 'EC' },
    { use: 'enc' },
    { key_ops: 'sign' },
    { key_ops: ['verify'] },
    { key_ops: ['sign', 'sign'] },
    { ext: false },
  ]) {
    t.throws(() => check(wrong), { name: 'DataError' }, JSON.stringify(wrong));
  }
  t.throws(() => checkAlg(fail, { alg: 'HS1' }, 'HS256'), { name: 'DataError' });
  t.doesNotThrow(() => checkAlg(fail, {}, 'HS256'));
  const key = {
    type: 'secret',
    extractable: true,
    algorithm: { name: 'x' },
    usages: ['sign'],
    material: '',
  } as const;
  t.strictSame(jwkOf(key, { kty: 'oct' }), { kty: 'oct', key_ops: ['sign'], ext: true });
  t.equal(jwkOf(key, {}, 'HS1')['alg'], 'HS1');
  t.end();
});

const { parameters } = subtleTools();

t.test('dictionaries are read as Web IDL reads them', (t) => {
  t.equal(parameters.named('AES-GCM').name, 'AES-GCM');
  t.equal(parameters.named({ name: 'x', length: 5 })['length'], 5);
  t.throws(() => parameters.named({}), TypeError);
  t.equal(parameters.whole({ length: '12.7' }, 'length'), 12);
  t.equal(parameters.optionalWhole({}, 'length'), undefined);
  t.throws(() => parameters.whole({ length: 300 }, 'length', 255), TypeError);
  t.throws(() => parameters.whole({}, 'length'), TypeError);
  t.throws(() => parameters.whole({ length: Number.NaN }, 'length'), TypeError);
  t.same(parameters.bytes({ iv: new DataView(new ArrayBuffer(2)) }, 'iv'), new Uint8Array(2));
  t.throws(() => parameters.bytes({ iv: 'x' }, 'iv'), TypeError);
  t.equal(parameters.optionalBytes({}, 'label'), undefined);
  t.equal(parameters.hash({ hash: { name: 'sha-256' } }), 'SHA-256');
  t.throws(() => parameters.hash({ hash: 'MD5' }), { name: 'NotSupportedError' });
  t.throws(() => parameters.key({ public: {} }, 'public'), TypeError);
  t.equal(parameters.text({ namedCurve: 5 }, 'namedCurve'), '5');
  t.throws(() => text(Symbol('x')), TypeError);
  t.end();
});

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

t.test('nobody makes keys but the methods, and what is not here is not supported', async (t) => {
  t.throws(() => new made.CryptoKey(), TypeError);
  t.throws(() => new made.SubtleCrypto(), TypeError);
  const { subtle } = made;
  const refused = (attempt: Promise<unknown>) => t.rejects(attempt, { name: 'NotSupportedError' });
  await refused(subtle.importKey('raw', RAW, 'Ed448', true, ['verify']));
  await refused(subtle.generateKey('ML-KEM-768', true, ['sign']));
  await refused(subtle.sign('AES-GCM', {}, DATA));
  await refused(subtle.encrypt('RSA-PSS', {}, DATA));
});
