/**
 * Web Cryptography as plugins see it: in real isolates, with the process doing the cryptography, compared with Node's.
 */
import { randomBytes, webcrypto } from 'node:crypto';
import { stop } from 'esbuild';
import t from 'tap';
import { createCryptoModule } from '../../guest/lazy/node-crypto.ts';
import { create as createKeyed } from '../../guest/lazy/node-keys.ts';
import { guestSubtle } from '../support/guest-crypto.ts';
import { GuestWorld } from '../support/guest-isolate.ts';
import { compareWithNode } from '../support/guest-oracle.ts';
import { runtimeServices } from '../support/guest-web.ts';

t.teardown(stop);
const world = await GuestWorld.open();
const { subtle } = webcrypto;

const random = (bytes: number) => randomBytes(bytes).toString('latin1');
const own = guestSubtle();
const services = { ...runtimeServices(), random, webKeys: () => own.webKeys, global: { crypto: own } };
const keyed = createKeyed(services);
const crypto = createCryptoModule({ ...services, large: () => keyed });
const ours = () => crypto;

/** One key pair of each kind, as JSON Web Keys. */
async function pairs(): Promise<Record<string, { its: unknown; mine: unknown }>> {
  const rsa = (name: string) => ({
    name,
    modulusLength: 1024,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: 'SHA-256',
  });
  const made = {
    ec256: await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']),
    ec521: await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-521' }, true, ['sign', 'verify']),
    ed: await subtle.generateKey('Ed25519', true, ['sign', 'verify']),
    x: await subtle.generateKey('X25519', true, ['deriveBits']),
    y: await subtle.generateKey('X25519', true, ['deriveBits']),
    rsa: await subtle.generateKey(rsa('RSASSA-PKCS1-v1_5'), true, ['sign', 'verify']),
  } as Record<string, Record<'publicKey' | 'privateKey', CryptoKey>>;
  const written = async (key: CryptoKey) => {
    const { alg: _alg, key_ops: _operations, ext: _ext, ...rest } = await subtle.exportKey('jwk', key);
    return rest;
  };
  const entries = Object.entries(made).map(
    async ([name, { publicKey, privateKey }]) =>
      [name, { its: await written(publicKey), mine: await written(privateKey) }] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

const HEAD = `const s = require('crypto').webcrypto.subtle; const keys = ${JSON.stringify(await pairs())};
  const bytes = (length, first = 0) => Uint8Array.from({ length }, (_, at) => (at * 7 + first) & 255);
  const text = new TextEncoder().encode('the data');
  const said = async (attempt) => { try { return await attempt(); } catch (error) { return error.name; } };
  const each = async (attempts) => { const all = []; for (const one of attempts) all.push(await said(one)); return all; };
  const shape = (key) => [key.type, key.extractable, key.usages, key.algorithm.name, key.algorithm.length, key.algorithm.hash, key.algorithm.namedCurve, key.algorithm.modulusLength, key.algorithm.publicExponent, String(key)];
  const sorted = (jwk) => Object.fromEntries(Object.entries(jwk).sort(([a], [b]) => (a < b ? -1 : 1)));`;
const cases = (bodies: Record<string, string>) =>
  Object.fromEntries(Object.entries(bodies).map(([name, body]) => [name, `${HEAD} ${body}`]));

t.test('secret keys', (t) =>
  compareWithNode(
    t,
    world,
    cases({
      digests: `return each([...['SHA-1', 'sha-256', { name: 'SHA-384' }, 'SHA-512', 'MD5', 5, {}].map((name) => () => s.digest(name, text)), () => s.digest('SHA-256', 'x'), () => s.digest('SHA-256')]);`,
      HMAC: `const key = await s.importKey('raw', bytes(20), { name: 'hmac', hash: 'sha-256' }, true, ['verify', 'sign']); const signature = await s.sign('HMAC', key, text);
        return [shape(key), signature, await s.verify('HMAC', key, signature, text), await s.verify('HMAC', key, bytes(32), text), sorted(await s.exportKey('jwk', key)), await s.exportKey('raw', key)];`,
      'HMAC of odd lengths': `const key = await s.importKey('raw', new Uint8Array([255, 255]), { name: 'HMAC', hash: 'SHA-1', length: 13 }, true, ['sign']); return [shape(key), await s.exportKey('raw', key), ...(await each([() => s.importKey('raw', bytes(2), { name: 'HMAC', hash: 'SHA-1', length: 17 }, true, ['sign']), () => s.importKey('raw', bytes(2), { name: 'HMAC', hash: 'SHA-1', length: 8 }, true, ['sign']), () => s.importKey('raw', bytes(0), { name: 'HMAC', hash: 'SHA-1' }, true, ['sign'])]))];`,
      'AES in every mode': `const out = []; for (const length of [16, 24, 32]) for (const [name, more] of [['AES-CBC', { iv: bytes(16) }], ['AES-CTR', { counter: bytes(16), length: 64 }], ['AES-GCM', { iv: bytes(12) }], ['AES-GCM', { iv: bytes(16), additionalData: text, tagLength: 96 }]]) {
        const key = await s.importKey('raw', bytes(length), name, false, ['encrypt', 'decrypt']); const sealed = await s.encrypt({ name, ...more }, key, text); out.push([shape(key), sealed, await s.decrypt({ name, ...more }, key, sealed)]); } return out;`,
      'a counter that counts over': `const key = await s.importKey('raw', bytes(16), 'AES-CTR', false, ['encrypt']); const counter = new Uint8Array(16).fill(255); return each([() => s.encrypt({ name: 'AES-CTR', counter, length: 8 }, key, bytes(60)), () => s.encrypt({ name: 'AES-CTR', counter, length: 128 }, key, bytes(60)), () => s.encrypt({ name: 'AES-CTR', counter, length: 2 }, key, bytes(65)), () => s.encrypt({ name: 'AES-CTR', counter, length: 2 }, key, bytes(64)), () => s.encrypt({ name: 'AES-CTR', counter, length: 0 }, key, bytes(1)), () => s.encrypt({ name: 'AES-CTR', counter, length: 129 }, key, bytes(1)), () => s.encrypt({ name: 'AES-CTR', counter: bytes(15), length: 8 }, key, bytes(1))]);`,
      'what AES refuses': `const key = await s.importKey('raw', bytes(16), 'AES-GCM', false, ['encrypt']); const cbc = await s.importKey('raw', bytes(16), 'AES-CBC', false, ['decrypt']);
        return each([() => s.encrypt({ name: 'AES-GCM' }, key, text), () => s.encrypt({ name: 'AES-GCM', iv: 5 }, key, text), () => s.encrypt({ name: 'AES-GCM', iv: bytes(12), tagLength: 33 }, key, text), () => s.encrypt({ name: 'AES-GCM', iv: bytes(12), tagLength: 300 }, key, text), () => s.decrypt({ name: 'AES-GCM', iv: bytes(12) }, key, text), () => s.encrypt({ name: 'AES-CBC', iv: bytes(16) }, key, text), () => s.decrypt({ name: 'AES-CBC', iv: bytes(15) }, cbc, text), () => s.decrypt({ name: 'AES-CBC', iv: bytes(16) }, cbc, text), () => s.encrypt('AES-KW', key, text), () => s.importKey('raw', bytes(15), 'AES-CTR', false, ['encrypt']), () => s.importKey('raw', bytes(16), 'AES-CTR', false, []), () => s.importKey('raw', bytes(16), 'AES-CTR', false, ['sign']), () => s.importKey('raw', bytes(16), 'AES-CTR', false, ['nope']), () => s.importKey('spki', bytes(16), 'AES-CTR', false, ['encrypt']), () => s.importKey('nope', bytes(16), 'AES-CTR', false, ['encrypt']), () => s.importKey('raw', 'x', 'AES-CTR', false, ['encrypt'])]);`,
      'JSON Web Keys': `const k = 'AAECAwQFBgcICQoLDA0ODw'; const take = (jwk, algorithm = 'AES-GCM', usages = ['encrypt'], extractable = true) => async () => { const key = await s.importKey('jwk', jwk, algorithm, extractable, usages); return [shape(key), sorted(await s.exportKey('jwk', key))]; };
        return each([take({ kty: 'oct', k }), take({ kty: 'oct', k, alg: 'A128GCM', use: 'enc', key_ops: ['encrypt', 'decrypt'], ext: true }), take({ kty: 'oct', k, alg: 'A256GCM' }), take({ kty: 'oct', k, use: 'sig' }), take({ kty: 'oct', k, key_ops: ['decrypt'] }), take({ kty: 'oct', k, key_ops: ['encrypt', 'encrypt'] }), take({ kty: 'oct', k, ext: false }), take({ kty: 'RSA', k }), take({ kty: 'oct' }), take({ kty: 'oct', k: '###' }), take({ kty: 'oct', k, alg: 'HS256' }, { name: 'HMAC', hash: 'SHA-256' }, ['sign']), take({ kty: 'oct', k, alg: 'HS1' }, { name: 'HMAC', hash: 'SHA-256' }, ['sign']), take(5)]);`,
      'new ones': `const made = async (algorithm, usages) => { const key = await s.generateKey(algorithm, true, usages); return [shape(key), (await s.exportKey('raw', key)).byteLength]; };
        return each([() => made({ name: 'AES-CBC', length: 256 }, ['encrypt']), () => made({ name: 'AES-KW', length: 128 }, ['wrapKey']), () => made({ name: 'HMAC', hash: 'SHA-384' }, ['sign', 'verify']), () => made({ name: 'HMAC', hash: 'SHA-1', length: 12 }, ['sign']), () => made({ name: 'AES-CBC', length: 100 }, ['encrypt']), () => made({ name: 'AES-CBC' }, ['encrypt']), () => made({ name: 'HMAC', hash: 'SHA-1', length: 0 }, ['sign']), () => made({ name: 'AES-CBC', length: 128 }, []), () => made({ name: 'AES-KW', length: 128 }, ['encrypt']), () => made('HKDF', ['deriveKey']), () => made('nope', ['sign'])]);`,
      'keys that stay': `const key = await s.importKey('raw', bytes(16), 'AES-GCM', false, ['encrypt']); return each([() => s.exportKey('raw', key), () => s.exportKey('nope', key), () => s.exportKey('raw', {}), () => s.exportKey('raw', { ...key })]);`,
    }),
    ours,
  ),
);

t.test('secrets that are derived, keys that are wrapped', (t) =>
  compareWithNode(
    t,
    world,
    cases({
      'HKDF and PBKDF2': `const hkdf = await s.importKey('raw', bytes(9), 'HKDF', false, ['deriveBits', 'deriveKey']); const pbkdf2 = await s.importKey('raw', text, 'PBKDF2', false, ['deriveBits', 'deriveKey']);
        const h = { name: 'HKDF', hash: 'SHA-256', salt: bytes(3), info: bytes(2) }; const p = { name: 'PBKDF2', hash: 'SHA-512', salt: bytes(3), iterations: 100 };
        return each([() => shape(hkdf), () => s.deriveBits(h, hkdf, 256), () => s.deriveBits(p, pbkdf2, 128), () => s.deriveBits(h, hkdf, null), () => s.deriveBits(h, hkdf, 12), () => s.deriveBits(p, pbkdf2, 0), () => s.deriveBits({ ...p, iterations: 0 }, pbkdf2, 8), () => s.deriveBits({ ...h, info: undefined }, hkdf, 8), () => s.deriveBits(h, pbkdf2, 8), () => s.deriveBits(h, hkdf, 255 * 256 + 8),
          async () => { const key = await s.deriveKey(h, hkdf, { name: 'AES-GCM', length: 256 }, true, ['encrypt']); return [shape(key), await s.exportKey('raw', key)]; }, async () => { const key = await s.deriveKey(p, pbkdf2, { name: 'HMAC', hash: 'SHA-256' }, true, ['sign']); return [shape(key), await s.exportKey('raw', key)]; },
          () => s.deriveKey(h, hkdf, { name: 'AES-GCM', length: 5 }, true, ['encrypt']), () => s.deriveKey(h, hkdf, 'HKDF', false, ['deriveBits']), () => s.importKey('raw', text, 'PBKDF2', true, ['deriveBits']), () => s.importKey('raw', text, 'HKDF', false, ['sign']), () => s.importKey('jwk', {}, 'HKDF', false, ['deriveBits']), () => s.deriveKey(h, hkdf, 'Ed25519', false, ['sign'])]);`,
      'X25519 and ECDH': `const take = (jwk, algorithm, usages) => s.importKey('jwk', jwk, algorithm, true, usages); const x = await take(keys.x.mine, 'X25519', ['deriveBits', 'deriveKey']); const y = await take(keys.y.its, 'X25519', []); const ec = { name: 'ECDH', namedCurve: 'P-256' };
        const a = await take(keys.ec256.mine, ec, ['deriveBits']); const b = await take(keys.ec256.its, ec, []); const c521 = await take(keys.ec521.its, { name: 'ECDH', namedCurve: 'P-521' }, []);
        return each([() => s.deriveBits({ name: 'X25519', public: y }, x, 256), () => s.deriveBits({ name: 'X25519', public: y }, x, null), () => s.deriveBits({ name: 'X25519', public: y }, x, 13), () => s.deriveBits({ name: 'X25519', public: y }, x, 264), () => s.deriveBits({ name: 'ECDH', public: b }, a, 256), () => s.deriveBits({ name: 'ECDH', public: c521 }, a, 256), () => s.deriveBits({ name: 'ECDH', public: y }, a, 256), () => s.deriveBits({ name: 'ECDH', public: a }, a, 256), () => s.deriveBits({ name: 'ECDH' }, a, 256), () => s.deriveBits({ name: 'ECDH', public: 5 }, a, 256), () => s.deriveBits({ name: 'ECDH', public: b }, b, 256), async () => shape(await s.deriveKey({ name: 'X25519', public: y }, x, { name: 'AES-CBC', length: 128 }, true, ['encrypt'])), () => [shape(x), shape(y), shape(a)]]);`,
      wrapping: `const kw = await s.importKey('raw', bytes(16), 'AES-KW', true, ['wrapKey', 'unwrapKey']); const gcm = await s.importKey('raw', bytes(32), 'AES-GCM', true, ['wrapKey', 'unwrapKey', 'encrypt']); const key = await s.importKey('raw', bytes(24), 'AES-CBC', true, ['encrypt']); const iv = { name: 'AES-GCM', iv: bytes(12) };
        const mine = await s.importKey('jwk', keys.ec256.mine, { name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign']);
        return each([() => s.wrapKey('raw', key, kw, 'AES-KW'), async () => { const wrapped = await s.wrapKey('raw', key, kw, 'AES-KW'); const again = await s.unwrapKey('raw', wrapped, kw, 'AES-KW', 'AES-CBC', true, ['decrypt']); return [shape(again), await s.exportKey('raw', again)]; },
          async () => { const wrapped = await s.wrapKey('jwk', key, gcm, iv); return shape(await s.unwrapKey('jwk', wrapped, gcm, iv, 'AES-CBC', true, ['encrypt'])); }, async () => { const wrapped = await s.wrapKey('pkcs8', mine, gcm, iv); return shape(await s.unwrapKey('pkcs8', wrapped, gcm, iv, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign'])); },
          () => s.unwrapKey('raw', bytes(32), kw, 'AES-KW', 'AES-CBC', true, ['encrypt']), () => s.wrapKey('raw', kw, key, { name: 'AES-CBC', iv: bytes(16) }), () => s.wrapKey('pkcs8', mine, kw, 'AES-KW').then((wrapped) => wrapped.byteLength % 8, () => 'no multiple of 8'), () => s.unwrapKey('jwk', text, gcm, iv, 'AES-CBC', true, ['encrypt']), () => s.wrapKey('raw', key, gcm, 'AES-GCM')]);`,
    }),
    ours,
  ),
);

t.test('pairs of keys', (t) =>
  compareWithNode(
    t,
    world,
    cases({
      'those that sign the same every time': `const take = async (pair, algorithm) => [await s.importKey('jwk', pair.mine, algorithm, true, ['sign']), await s.importKey('jwk', pair.its, algorithm, true, ['verify'])]; const out = [];
        for (const [pair, algorithm] of [[keys.ed, 'Ed25519'], [keys.rsa, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }], [keys.rsa, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-1' }]]) { const [mine, its] = await take(pair, algorithm); const signature = await s.sign(algorithm, mine, text); out.push([shape(mine), shape(its), signature, await s.verify(algorithm, its, signature, text), await s.verify(algorithm, its, bytes(64), text)]); } return out;`,
      'those that do not': `const out = []; for (const [pair, algorithm, more] of [[keys.ec256, { name: 'ECDSA', namedCurve: 'P-256' }, { hash: 'SHA-256' }], [keys.ec521, { name: 'ECDSA', namedCurve: 'P-521' }, { hash: 'SHA-512' }], [keys.rsa, { name: 'RSA-PSS', hash: 'SHA-256' }, { saltLength: 20 }]]) {
        const mine = await s.importKey('jwk', pair.mine, algorithm, false, ['sign']); const its = await s.importKey('jwk', pair.its, algorithm, true, ['verify']); const use = { name: algorithm.name, ...more }; const signature = await s.sign(use, mine, text); out.push([shape(mine), shape(its), signature.byteLength, await s.verify(use, its, signature, text), await s.verify(use, its, signature, bytes(3)), await said(() => s.sign({ name: algorithm.name }, mine, text)), await said(() => s.sign(use, its, text)), await said(() => s.exportKey('pkcs8', mine))]); } return out;`,
      'every form': `const out = []; for (const [pair, algorithm, mineMay, itsMay] of [[keys.ec256, { name: 'ECDSA', namedCurve: 'P-256' }, ['sign'], ['verify']], [keys.ec521, { name: 'ECDH', namedCurve: 'P-521' }, ['deriveBits'], []], [keys.ed, 'Ed25519', ['sign'], ['verify']], [keys.x, 'X25519', ['deriveKey'], []], [keys.rsa, { name: 'RSA-OAEP', hash: 'SHA-256' }, ['decrypt'], ['encrypt']], [keys.rsa, { name: 'RSA-PSS', hash: 'SHA-512' }, ['sign'], ['verify']], [keys.rsa, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-1' }, ['sign'], ['verify']]]) {
        const mine = await s.importKey('jwk', pair.mine, algorithm, true, mineMay); const its = await s.importKey('jwk', pair.its, algorithm, true, itsMay);
        out.push(sorted(await s.exportKey('jwk', mine)), sorted(await s.exportKey('jwk', its)));
        for (const [format, key, may] of [['pkcs8', mine, mineMay], ['spki', its, itsMay], ['raw', its, itsMay], ['spki', mine, mineMay], ['pkcs8', its, itsMay]]) out.push(await said(async () => { const written = await s.exportKey(format, key); const again = await s.importKey(format, written, algorithm, true, may); return [format, written, shape(again)]; })); } return out;`,
      'RSA-OAEP': `const algorithm = { name: 'RSA-OAEP', hash: 'SHA-1' }; const mine = await s.importKey('jwk', keys.rsa.mine, algorithm, false, ['decrypt', 'unwrapKey']); const its = await s.importKey('jwk', keys.rsa.its, algorithm, false, ['encrypt', 'wrapKey']); const label = { name: 'RSA-OAEP', label: text };
        return each([async () => s.decrypt('RSA-OAEP', mine, await s.encrypt('RSA-OAEP', its, text)), async () => s.decrypt(label, mine, await s.encrypt(label, its, text)), async () => s.decrypt('RSA-OAEP', mine, await s.encrypt(label, its, text)), () => s.encrypt('RSA-OAEP', its, bytes(200)), () => s.encrypt('RSA-OAEP', mine, text), async () => shape(await s.unwrapKey('raw', await s.wrapKey('raw', await s.importKey('raw', bytes(16), 'AES-GCM', true, ['encrypt']), its, 'RSA-OAEP'), mine, 'RSA-OAEP', 'AES-GCM', false, ['decrypt']))]);`,
      'what is refused': `const ec = { name: 'ECDSA', namedCurve: 'P-256' }; const rsa = { name: 'RSA-PSS', hash: 'SHA-256' }; const { mine, its } = keys.ec256;
        return each([() => s.importKey('jwk', mine, ec, true, ['verify']), () => s.importKey('jwk', its, ec, true, ['sign']), () => s.importKey('jwk', mine, ec, true, []), () => s.importKey('jwk', mine, { name: 'ECDSA', namedCurve: 'P-384' }, true, ['sign']), () => s.importKey('jwk', mine, { name: 'ECDSA', namedCurve: 'K-256' }, true, ['sign']), () => s.importKey('jwk', mine, 'ECDSA', true, ['sign']), () => s.importKey('jwk', { ...mine, kty: 'OKP' }, ec, true, ['sign']), () => s.importKey('jwk', { ...mine, use: 'enc' }, ec, true, ['sign']), () => s.importKey('jwk', { ...mine, x: undefined }, ec, true, ['sign']), () => s.importKey('jwk', { ...its, x: its.y }, ec, true, ['verify']), () => s.importKey('spki', bytes(40), ec, true, ['verify']), () => s.importKey('pkcs8', bytes(40), rsa, true, ['sign']), () => s.importKey('raw', bytes(65), ec, true, ['verify']), () => s.importKey('raw', bytes(31), 'Ed25519', true, ['verify']), () => s.importKey('raw', bytes(32), rsa, true, ['verify']), () => s.importKey('jwk', keys.ed.its, 'X25519', true, []), () => s.importKey('jwk', keys.rsa.its, { name: 'RSA-PSS' }, true, ['verify']), () => s.importKey('jwk', { ...keys.rsa.its, alg: 'RS256' }, rsa, true, ['verify']), () => s.importKey('jwk', { ...keys.ed.its, alg: 'EdDSA' }, 'Ed25519', true, ['verify']).then(shape), () => s.importKey('jwk', { ...mine, alg: 'ES384' }, ec, true, ['sign'])]);`,
      'new ones': `const made = async (algorithm, usages) => { const { publicKey, privateKey } = await s.generateKey(algorithm, false, usages); return [shape(publicKey), shape(privateKey)]; }; const rsa = { name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' };
        return each([() => made({ name: 'ECDSA', namedCurve: 'P-384' }, ['sign', 'verify']), () => made({ name: 'ECDH', namedCurve: 'P-521' }, ['deriveBits']), () => made('Ed25519', ['sign']), () => made('X25519', ['deriveKey']), () => made(rsa, ['verify', 'sign']), () => made({ ...rsa, name: 'RSA-OAEP' }, ['decrypt', 'encrypt']), () => made({ name: 'ECDSA', namedCurve: 'P-384' }, ['verify']), () => made({ name: 'ECDSA', namedCurve: 'P-384' }, ['encrypt']), () => made({ name: 'ECDSA', namedCurve: 'nope' }, ['sign']), () => made({ ...rsa, publicExponent: 5 }, ['sign']), () => made({ ...rsa, modulusLength: undefined }, ['sign']), () => made({ ...rsa, publicExponent: new Uint8Array([2]) }, ['sign']), () => made('Ed25519', [])]);`,
      'odd ones': `const EC = { name: 'ECDSA', namedCurve: 'P-256' }; const rsa = (exponent) => s.generateKey({ name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array(exponent), hash: 'SHA-1' }, true, ['sign']);
        const zeros = await s.importKey('raw', new Uint8Array(32), 'X25519', true, []); const x = await s.importKey('jwk', keys.x.mine, 'X25519', true, ['deriveBits']);
        return each([() => s.digest('SHA-256', new DataView(text.buffer, 4)), () => rsa([4]), () => rsa([1, 0, 1]).then(({ publicKey }) => shape(publicKey)), () => s.deriveBits({ name: 'X25519', public: zeros }, x, 256), () => s.importKey('jwk', { ...keys.ec256.mine, extra: 'x' }, EC, false, ['sign']).then(shape), () => s.importKey('jwk', { kty: 'EC', crv: 'P-256' }, EC, false, ['verify']), () => s.importKey('jwk', keys.ec256.mine, EC, false, ['verify']), () => s.importKey('jwk', keys.ed.mine, 'X25519', true, ['deriveBits']), () => s.generateKey({ name: 'ECDH', namedCurve: 'P-1' }, true, ['deriveBits']), async () => { const { publicKey, privateKey } = await s.generateKey({ name: 'RSA-OAEP', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }, true, ['encrypt', 'decrypt']); const use = { name: 'RSA-OAEP', label: text }; return s.decrypt(use, privateKey, await s.encrypt(use, publicKey, text)); }]);`,
      'keys of both worlds': `const { createPublicKey, createPrivateKey, createSecretKey, sign, verify } = require('crypto'); const mine = createPrivateKey({ key: keys.ec256.mine, format: 'jwk' });
        return [verify('sha256', text, createPublicKey(mine), sign('sha256', text, mine)), shape(createSecretKey(bytes(16)).toCryptoKey('AES-GCM', true, ['encrypt'])), shape(createPublicKey(mine).toCryptoKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['verify'])), shape(mine.toCryptoKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']))];`,
    }),
    ours,
  ),
);
