/**
 * Node's `crypto` as plugins see it: in real isolates, with the process doing the cryptography, compared with Node's.
 */
import { generateKeyPairSync, getCipherInfo, randomBytes, webcrypto } from 'node:crypto';
import { stop } from 'esbuild';
import t from 'tap';
import { createCryptoModule } from '../../guest/lazy/node-crypto.ts';
import { guestCrypto } from '../support/guest-crypto.ts';
import { GuestWorld } from '../support/guest-isolate.ts';
import { compareWithNode } from '../support/guest-oracle.ts';
import { runtimeServices } from '../support/guest-web.ts';

t.teardown(stop);
const world = await GuestWorld.open();
const random = (bytes: number) => randomBytes(bytes).toString('latin1');
const keyed = guestCrypto() as unknown as Record<string, unknown>;
const crypto = createCryptoModule({ ...runtimeServices(), random, global: { crypto: webcrypto }, large: () => keyed });
const ours = () => crypto;

const pems = (kind: 'rsa' | 'ec' | 'ed25519' | 'x25519', options: object = {}) => {
  const { privateKey, publicKey } = generateKeyPairSync(kind as 'rsa', options as { modulusLength: number });
  return [
    privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    publicKey.export({ format: 'pem', type: 'spki' }).toString(),
  ] as const;
};
const KEYS = {
  rsa: pems('rsa', { modulusLength: 2048 }),
  ec: pems('ec', { namedCurve: 'prime256v1' }),
  k1: pems('ec', { namedCurve: 'secp256k1' }),
  ed: pems('ed25519'),
  x: pems('x25519'),
};
/** Bytes of a cipher's key and vector. */
const LENGTHS = Object.fromEntries(
  [
    ...['aes-128-cbc', 'aes-192-cbc', 'aes-256-cbc', 'aes-256-ctr', 'aes-128-ctr', 'aes-256-ecb', 'des-ede3-cbc'],
    ...['chacha20', 'aes-256-cfb', 'aes-256-ofb', 'camellia-128-cbc'],
    ...['aes-128-gcm', 'aes-256-gcm', 'chacha20-poly1305', 'aes-128-ocb', 'aes-256-ccm'],
  ].map((name) => {
    const { keyLength = 0, ivLength = 0 } = getCipherInfo(name) ?? {};
    return [name, [keyLength, ivLength]];
  }),
);
/** The scope of every case. Random bytes clear OpenSSL's error queue, see `crypto-answer.ts`. */
const HEAD = `const c = require('crypto'); c.randomBytes(1); const keys = ${JSON.stringify(KEYS)}, lengths = ${JSON.stringify(LENGTHS)}; const bytes = (length, first = 0) => Buffer.from(Array.from({ length }, (_, at) => (at * 7 + first) & 255));
  const later = (name, ...args) => new Promise((resolve, reject) => c[name](...args, (error, ...results) => (error ? reject(error) : resolve(results.length > 1 ? results : results[0]))));
  const said = (attempt) => { try { return attempt(); } catch (error) { c.randomBytes(1); return [error.name, error.code, error.message, error.reason, error.library]; } };`;
const cases = (bodies: Record<string, string>) =>
  Object.fromEntries(Object.entries(bodies).map(([name, body]) => [name, `${HEAD} ${body}`]));

t.test('ciphers', (t) =>
  compareWithNode(
    t,
    world,
    cases({
      'block and stream ciphers': `return ['aes-128-cbc', 'aes-192-cbc', 'aes-256-cbc', 'aes-256-ctr', 'aes-128-ctr', 'aes-256-ecb', 'des-ede3-cbc', 'chacha20', 'AES-256-CBC', 'aes-256-cfb', 'aes-256-ofb', 'camellia-128-cbc'].map((name) => {
        const [keyLength, ivLength] = lengths[name.toLowerCase()]; const iv = ivLength ? bytes(ivLength, 3) : null;
        const cipher = c.createCipheriv(name, bytes(keyLength), iv); const sealed = Buffer.concat([cipher.update('some text'), cipher.update(bytes(50)), cipher.final()]);
        const decipher = c.createDecipheriv(name, bytes(keyLength), iv); return [sealed, Buffer.concat([decipher.update(sealed), decipher.final()])]; });`,
      'authenticated ciphers': `return ['aes-128-gcm', 'aes-256-gcm', 'chacha20-poly1305', 'aes-128-ocb', 'aes-256-ccm'].map((name) => {
        const options = name.endsWith('gcm') ? undefined : { authTagLength: 16 }; const iv = bytes(12); const key = bytes(lengths[name][0]);
        const cipher = c.createCipheriv(name, key, iv, options); cipher.setAAD(Buffer.from('beside'), { plaintextLength: 40 }); const sealed = Buffer.concat([cipher.update(bytes(40)), cipher.final()]); const tag = cipher.getAuthTag();
        const open = (tag) => said(() => { const d = c.createDecipheriv(name, key, iv, options); d.setAuthTag(tag); d.setAAD(Buffer.from('beside'), { plaintextLength: 40 }); return Buffer.concat([d.update(sealed), d.final()]); });
        return [sealed, tag, open(tag), open(bytes(16))]; });`,
      'short tags and long vectors': `const cipher = c.createCipheriv('aes-256-gcm', bytes(32), bytes(60), { authTagLength: 12 }); return [cipher.update('a', 'utf8', 'hex') + cipher.final('hex'), cipher.getAuthTag()];`,
      'texts in and out': `const cipher = c.createCipheriv('aes-128-cbc', bytes(16), bytes(16)); let out = cipher.update('ab', 'utf8', 'base64'); out += cipher.update('00ff'.repeat(20), 'hex', 'base64'); out += cipher.final('base64');
        const d = c.createDecipheriv('aes-128-cbc', bytes(16), bytes(16)); return [out, d.update(out, 'base64', 'latin1') + d.final('latin1')];`,
      'large data': `const cipher = c.createCipheriv('aes-256-ctr', bytes(32), bytes(16)); return c.createHash('sha256').update(Buffer.concat([cipher.update(Buffer.alloc(700_001, 5)), cipher.final()])).digest('hex');`,
      'no padding': `const d = c.createDecipheriv('aes-128-cbc', bytes(16), bytes(16)); d.setAutoPadding(false); return [d.update(bytes(32)), d.final(), said(() => { const e = c.createCipheriv('aes-128-cbc', bytes(16), bytes(16)); e.setAutoPadding(false); e.update('x'); return e.final(); })];`,
      'key wrap': `const wrap = c.createCipheriv('aes128-wrap', bytes(16), Buffer.alloc(8, 0xa6)); return Buffer.concat([wrap.update(bytes(32)), wrap.final()]);`,
      'keys as objects': `const cipher = c.createCipheriv('aes-128-cbc', c.createSecretKey(bytes(16)), bytes(16)); return cipher.update('x'.repeat(16));`,
      'what is refused': `return [() => c.createCipheriv('aes-128-cbc', bytes(15), bytes(16)), () => c.createCipheriv('aes-128-cbc', bytes(16), bytes(15)), () => c.createCipheriv('nope', bytes(16), bytes(16)), () => c.createCipheriv('aes-128-cbc', bytes(16)),
        () => c.createCipheriv('aes-128-cbc', bytes(16), null), () => c.createCipheriv(5), () => c.createCipheriv('aes-128-cbc', 5, bytes(16)), () => c.createCipheriv('aes-128-gcm', bytes(16), bytes(12), { authTagLength: 3 }),
        () => c.createCipheriv('aes-128-gcm', bytes(16), Buffer.alloc(0)), () => c.createCipheriv('aes-128-gcm', bytes(16), bytes(12)).getAuthTag(), () => c.createDecipheriv('aes-128-gcm', bytes(16), bytes(12)).final(),
        () => { const x = c.createDecipheriv('aes-128-cbc', bytes(16), bytes(16)); x.update(bytes(16)); return x.final(); }, () => c.createDecipheriv('aes-128-cbc', bytes(16), bytes(16)).final(),
        () => c.createCipheriv('aes-128-cbc', bytes(16), bytes(16)).update(5)].map(said);`,
      'a cipher that is over': `const x = c.createCipheriv('aes-128-cbc', bytes(16), bytes(16)); x.final(); return [() => x.update('x'), () => x.final(), () => x.setAAD(bytes(1))].map(said);`,
      lists: `return [c.getCiphers(), c.getHashes(), c.constants.RSA_PKCS1_PSS_PADDING];`,
    }),
    ours,
  ),
);

t.test('passwords and secrets', (t) =>
  compareWithNode(
    t,
    world,
    cases({
      pbkdf2: `return [c.pbkdf2Sync('p', 's', 1000, 40, 'sha256'), await later('pbkdf2', Buffer.from('p'), bytes(8), 2000, 20, 'SHA512'), c.pbkdf2Sync('p', 's', 1, 0, 'md5')];`,
      scrypt: `return [c.scryptSync('p', 's', 32), c.scryptSync('p', 's', 20, { N: 1024, r: 4, p: 2 }), await later('scrypt', 'p', 's', 16), await later('scrypt', 'p', 's', 16, { cost: 512, blockSize: 2, parallelization: 1 })];`,
      hkdf: `return [c.hkdfSync('sha256', 'key', 'salt', 'info', 42), await later('hkdf', 'sha512', c.createSecretKey(bytes(9)), bytes(3), Buffer.alloc(0), 10)];`,
      'what is refused': `return [() => c.pbkdf2Sync('p', 's', 0, 10, 'sha256'), () => c.pbkdf2Sync('p', 's', 1, -1, 'sha256'), () => c.pbkdf2Sync('p', 's', 1, 10, 'nope'), () => c.pbkdf2Sync('p', 's', 1, 10), () => c.pbkdf2Sync(5, 's', 1, 10, 'md5'), () => c.pbkdf2('p', 's', 1, 10, 'md5'), () => c.pbkdf2('p', 's', 1, 10, () => 1),
        () => c.scryptSync('p', 's', 10, { N: 3 }), () => c.scryptSync('p', 's', 10, { N: 2 ** 20 }), () => c.scryptSync('p', 's', 10, { N: 16, cost: 16 }), () => c.scrypt('p', 's', 10), () => c.scryptSync('p', 's', 'x'),
        () => c.hkdfSync('nope', 'k', 's', 'i', 10), () => c.hkdfSync('sha256', 'k', 's', 'i', 100_000 - 90_000), () => c.hkdfSync('sha256', 'k', 's', 5, 10)].map(said);`,
      'refused later': `return later('scrypt', 'p', 's', 10, { N: 3 }).catch((error) => error);`,
    }),
    ours,
  ),
);

t.test('keys', (t) =>
  compareWithNode(
    t,
    world,
    cases({
      'what they are': `return Object.values(keys).map(([a, b]) => [c.createPrivateKey(a), c.createPublicKey(b), c.createPublicKey(a)].map((key) => [key.type, key.asymmetricKeyType, key.asymmetricKeyDetails, key.constructor.name, key instanceof c.KeyObject, key.equals(c.createPublicKey(b))]));`,
      'every form': `return Object.entries(keys).map(([name, [a, b]]) => { const [mine, its] = [c.createPrivateKey(a), c.createPublicKey(b)];
        const forms = [['pem', 'pkcs8'], ['der', 'pkcs8'], ['jwk'], ...(name === 'rsa' ? [['pem', 'pkcs1'], ['der', 'pkcs1']] : []), ...(/^(ec|k1)$/.test(name) ? [['pem', 'sec1'], ['der', 'sec1']] : [])].map(([format, type]) => { const out = mine.export({ format, type }); return [out, c.createPrivateKey(format === 'pem' ? out : { key: out, format, type }).equals(mine)]; });
        const open = [['pem', 'spki'], ['der', 'spki'], ['jwk'], ...(name === 'rsa' ? [['pem', 'pkcs1']] : [])].map(([format, type]) => { const out = its.export({ format, type }); return [out, c.createPublicKey(format === 'pem' ? out : { key: out, format, type }).equals(its)]; });
        return [forms, open]; });`,
      secrets: `const key = c.createSecretKey('abc', 'utf8'); return [key.type, key.symmetricKeySize, key.export(), key.export({ format: 'jwk' }), key.equals(c.createSecretKey(Buffer.from('abc'))), c.createHmac('sha256', key).update('x').digest('hex')];`,
      'what is refused': `return [() => c.createPrivateKey('no key'), () => c.createPublicKey('no key'), () => c.createPrivateKey(), () => c.createPublicKey(5), () => c.createPrivateKey(keys.rsa[1]), () => c.createPrivateKey({ key: bytes(30), format: 'der', type: 'pkcs8' }), () => c.createPrivateKey({ key: {}, format: 'jwk' }), () => c.createPublicKey({ key: 'x', format: 'nope' }),
        () => c.createPrivateKey(keys.ec[0]).export(), () => c.createPrivateKey(keys.ec[0]).export({ format: 'pem', type: 'spki' }), () => c.createPrivateKey(keys.ec[0]).export({ format: 'pem', type: 'pkcs1' }), () => c.createSecretKey(''), () => c.createSecretKey(5), () => c.createPrivateKey(c.createPrivateKey(keys.ec[0])), () => c.createSecretKey('a').equals(5), () => new c.KeyObject('x')].map(said);`,
    }),
    ours,
  ),
);

t.test('signatures', (t) =>
  compareWithNode(
    t,
    world,
    cases({
      'those that are always the same': `return [c.sign('sha256', Buffer.from('x'), keys.rsa[0]), c.sign(null, Buffer.from('x'), keys.ed[0]), c.createSign('RSA-SHA512').update('a').update('b').sign(keys.rsa[0], 'base64'), c.sign('sha1', Buffer.from('x'), { key: keys.rsa[0], padding: c.constants.RSA_PKCS1_PADDING }), await later('sign', 'sha384', Buffer.from('y'), c.createPrivateKey(keys.rsa[0]))];`,
      'those with a salt': `const both = (hash, data, mine, its) => { const signature = c.sign(hash, data, mine); return [c.verify(hash, data, its, signature), c.verify(hash, Buffer.from('other'), its, signature), signature.length > 0]; }; const x = Buffer.from('x'); const pss = { padding: c.constants.RSA_PKCS1_PSS_PADDING, saltLength: 20 };
        return [both('sha256', x, keys.ec[0], keys.ec[1]), both('sha512', x, keys.k1[0], keys.k1[0]), both('sha256', x, { key: keys.rsa[0], ...pss }, { key: keys.rsa[1], ...pss }), both('sha256', x, { key: keys.ec[0], dsaEncoding: 'ieee-p1363' }, { key: keys.ec[1], dsaEncoding: 'ieee-p1363' }), c.sign('sha256', x, { key: keys.ec[0], dsaEncoding: 'ieee-p1363' }).length];`,
      'after the end': `const sign = c.createSign('sha256'); sign.sign(keys.ec[0]); return [() => sign.sign(keys.ec[0]), () => c.sign('sha256', bytes(1), { key: keys.ec[0], saltLength: 'x' })].map(said);`,
      'in pieces': `const sign = c.createSign('sha256'); sign.write('a'); sign.end('b'); const signature = sign.sign({ key: c.createPrivateKey(keys.ec[0]) }, 'hex'); return [c.createVerify('SHA256').update('ab').verify(keys.ec[1], signature, 'hex'), c.createVerify('SHA256').update('ac').verify(c.createPublicKey(keys.ec[1]), signature, 'hex'), await later('verify', 'sha256', Buffer.from('ab'), keys.ec[1], Buffer.from(signature, 'hex'))];`,
      'what is refused': `return [() => c.sign('nope', bytes(1), keys.rsa[0]), () => c.createSign('nope'), () => c.createSign(), () => c.sign('sha256', bytes(1)), () => c.sign('sha256', 5, keys.rsa[0]), () => c.sign('sha256', bytes(1), keys.rsa[1]), () => c.sign('sha256', bytes(1), keys.ed[0]), () => c.sign('sha256', bytes(1), { key: keys.rsa[0], padding: 'x' }), () => c.sign('sha256', bytes(1), { key: keys.ec[0], dsaEncoding: 'x' }), () => c.createSign('sha256').sign(), () => { const s = c.createSign('sha256'); s.sign(keys.ec[0]); return s.update('x'); }, () => c.sign(null, bytes(1), keys.x[0]), () => c.verify('sha256', bytes(1), keys.ec[1], 5)].map(said);`,
    }),
    ours,
  ),
);
