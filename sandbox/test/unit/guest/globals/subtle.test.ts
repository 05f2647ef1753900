/** Parts of `crypto.subtle` that its comparison with Node (sandbox/test/integration/web-crypto.test.ts) does not show by name. */
import t from 'tap';
import {
  assertKeyType,
  checkedUsages,
  computeBytes,
  cryptoKeyParts,
  CryptoKey as GuestKey,
  makeKey,
  toDomString,
  withErrorName,
} from '../../../../guest/globals/subtle/algorithm.ts';
import {
  checkAlg,
  checkJwk,
  cutBits,
  exportSecret,
  generateSecret,
  importSecret,
  jwkOf,
  secretIn,
} from '../../../../guest/globals/subtle/keys.ts';
import { guestSubtle, subtleTools } from '../../../support/guest-crypto.ts';

const made = guestSubtle();
const DATA = new TextEncoder().encode('the data');
const RAW = Uint8Array.from({ length: 32 }, (_, index) => index);

const tools = subtleTools();
const { fail } = tools;

t.test('failures have one name', (t) => {
  t.equal(
    withErrorName(fail, 'DataError', () => 5),
    5,
  );
  t.throws(() => withErrorName(fail, 'DataError', () => JSON.parse('{')), { name: 'DataError' });
  t.throws(() => computeBytes(tools, { op: 'digest', hash: 'nope', data: '' }), { name: 'OperationError' });
  t.end();
});

t.test('usages are in order, and those that are allowed', (t) => {
  const request = { extractable: true, usages: ['verify', 'sign', 'sign'] };
  t.strictSame(checkedUsages(fail, request, ['sign', 'verify']), ['sign', 'verify']);
  t.throws(() => checkedUsages(fail, request, ['sign']), { name: 'SyntaxError' });
  const key = cryptoKeyParts(
    makeKey({ type: 'public', extractable: true, algorithm: { name: 'x' }, usages: [], material: '' }),
  );
  if (key === undefined) throw new Error('no key');
  t.throws(() => assertKeyType(fail, key, 'private'), { name: 'InvalidAccessError' });
  t.doesNotThrow(() => assertKeyType(fail, key, 'public'));
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
  t.strictSame(cryptoKeyParts(key), PARTS);
  t.end();
});

t.test('nothing else is one', (t) => {
  t.throws(() => new GuestKey(), TypeError);
  t.throws(() => new GuestKey(Symbol('permit'), PARTS), TypeError);
  for (const other of [undefined, null, 5, {}, Object.create(makeKey(PARTS)), PARTS])
    t.equal(cryptoKeyParts(other), undefined);
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
  t.throws(() => toDomString(Symbol('x')), TypeError);
  t.end();
});

const KIND = { use: 'sig', usages: ['sign'], alg: () => 'X' } as const;
const request = { extractable: true, usages: ['sign'] };

t.test('secret keys come and go as bytes and as JSON', (t) => {
  const data = { kty: 'oct', k: '__8', alg: 'X' };
  const key = cryptoKeyParts(importSecret(tools, KIND, { format: 'jwk', data, request }, () => ({ name: 'x' })));
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
  const key = cryptoKeyParts(generateSecret(tools, KIND, request, { name: 'x', length: 12 }));
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
