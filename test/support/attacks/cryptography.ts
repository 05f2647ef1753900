import { generateKeyPairSync } from 'node:crypto';
import { ANY_DEATH, type Attack } from './attack.ts';

/** Node's crypto module, also for scripts that are not bundled. */
const CRYPTO = "globalThis[Symbol.for('isolayer.module')]('crypto')";

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp521r1' });
const written = { format: 'pem', type: 'pkcs8' } as const;
const PEM = JSON.stringify(privateKey.export(written));
const LOCKED = JSON.stringify(privateKey.export({ ...written, cipher: 'aes-256-cbc', passphrase: 'x' }));
const RSA = "{ name: 'RSA-PSS', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }";

/** Programs that attack with the process's own cryptography. Each of its functions has at least one. */
export const CRYPTOGRAPHY_ATTACKS: readonly Attack[] = [
  {
    name: 'a password stretched for an hour',
    threat: null,
    recovery: 'R2',
    body: `return ${CRYPTO}.pbkdf2Sync('p', 's', 2 ** 31 - 1, 65536, 'sha512').length;`,
    ends: ['threw'],
  },
  {
    name: 'passwords stretched as long as one may, for ever',
    threat: null,
    recovery: 'R0',
    body: `const c = ${CRYPTO}; for (;;) try { c.pbkdf2Sync('p', 's', 150_000, 32, 'sha256'); } catch {}`,
    ends: ANY_DEATH,
  },
  {
    name: 'a password stretched beside the guest for an hour',
    threat: null,
    recovery: null,
    body: `return new Promise((resolve, reject) => ${CRYPTO}.pbkdf2('p', 's', 2 ** 31 - 1, 65536, 'sha512', (error) => (error ? reject(error) : resolve())));`,
    ends: ['threw'],
  },
  {
    name: 'scrypt that takes all memory',
    threat: null,
    recovery: 'R4',
    body: `return ${CRYPTO}.scryptSync('p', 's', 32, { N: 2 ** 24, r: 64, p: 1, maxmem: 2 ** 40 }).length;`,
    ends: ['threw'],
  },
  {
    name: 'scrypt beside the guest, as often as one may ask',
    threat: null,
    recovery: 'R1',
    body: `const { scrypt } = ${CRYPTO}; const later = () => new Promise((resolve, reject) => scrypt('p', 's', 32, { N: 2 ** 16, maxmem: 2 ** 28 }, (error) => (error ? reject(error) : resolve())));
      for (;;) await Promise.allSettled(Array.from({ length: 300 }, later));`,
    ends: [...ANY_DEATH, 'TIMEOUT'],
  },
  {
    name: 'jobs that nobody waits for',
    threat: null,
    recovery: 'R1',
    body: `const { scrypt } = ${CRYPTO}; for (let i = 0; i < 300; i++) { try { scrypt('p', 's', 32, () => {}); crypto.subtle.generateKey(${RSA}, true, ['sign']).catch(() => {}); } catch {} } return 'left';`,
    ends: ['returned', 'CPU_LIMIT'],
  },
  {
    name: 'keys of RSA that are long to find',
    threat: null,
    recovery: 'R2',
    body: `return crypto.subtle.generateKey({ ...${RSA}, modulusLength: 16384 }, true, ['sign']);`,
    ends: ['threw'],
  },
  {
    name: 'signatures for ever',
    threat: null,
    recovery: 'R0',
    body: `const c = ${CRYPTO}; const key = c.createPrivateKey(${PEM}); for (;;) c.sign('sha512', Buffer.alloc(1e6), key);`,
    // An operation that would take too long is refused before it starts.
    ends: ['CPU_LIMIT', 'MEMORY_LIMIT', 'threw'],
  },
  {
    name: 'a public key of a million bits',
    threat: null,
    recovery: null,
    body: `const n = Buffer.alloc(125_000, 255).toString('base64url'); return ${CRYPTO}.createPublicKey({ key: { kty: 'RSA', n, e: 'AQAB' }, format: 'jwk' }).type;`,
    ends: ['threw'],
  },
  {
    name: 'a locked key, whose file says how long its password is stretched',
    threat: null,
    recovery: 'R2',
    body: `const c = ${CRYPTO}; const attempts = [() => c.createPrivateKey(${LOCKED}), () => c.createPrivateKey({ key: ${LOCKED}, passphrase: 'x' }), () => c.createPublicKey(${LOCKED}), () => c.createSign('sha256').sign({ key: ${LOCKED}, passphrase: Buffer.from('x') })];
      attempts.forEach((attempt, at) => { try { attempt(); } catch { return; } throw new Error('attempt ' + at + ' was taken'); }); return 'refused';`,
    ends: ['returned'],
  },
  {
    name: 'ciphers that are begun and never ended',
    threat: null,
    recovery: 'R4',
    body: `const c = ${CRYPTO}; for (;;) c.createCipheriv('aes-256-gcm', Buffer.alloc(32), Buffer.alloc(12)).update('x');`,
    ends: ['threw'],
  },
  {
    name: 'a cipher of single bits over megabytes',
    threat: null,
    recovery: 'R0',
    body: `const c = ${CRYPTO}; const cipher = c.createCipheriv('des-ede3-cfb1', Buffer.alloc(24, 1), Buffer.alloc(8)); const data = Buffer.alloc(8e6); for (;;) cipher.update(data);`,
    ends: ['CPU_LIMIT', 'MEMORY_LIMIT'],
  },
  {
    name: 'an output as long as memory',
    threat: null,
    recovery: 'R4',
    body: `return ${CRYPTO}.createHash('shake256', { outputLength: 2 ** 31 }).digest().length;`,
    ends: ['threw'],
  },
  {
    name: 'one key taken for another',
    threat: null,
    recovery: null,
    body: `const c = ${CRYPTO}; const [publicKey, privateKey] = [c.createPublicKey(${PEM}), c.createPrivateKey(${PEM})];
      const attempts = [() => c.sign('sha256', 'x', publicKey), () => c.createHmac('sha256', publicKey), () => c.createCipheriv('aes-128-cbc', privateKey, Buffer.alloc(16)),
        () => c.sign('sha256', 'x', c.createSecretKey(Buffer.alloc(32))),
        () => c.sign('sha256', 'x', { type: 'private', asymmetricKeyType: 'ec', export: () => 'x' }), () => c.sign('sha256', 'x', Object.create(privateKey)), () => new privateKey.constructor('private', 'AAAA'), () => Reflect.construct(c.KeyObject, ['secret', 'AAAA'])];
      attempts.forEach((attempt, at) => { try { attempt(); } catch { return; } throw new Error('attempt ' + at + ' was taken'); }); return 'refused';`,
    ends: ['returned'],
  },
  {
    name: 'questions that change while they are read',
    threat: null,
    recovery: null,
    body: `const c = ${CRYPTO}; let reads = 0; const options = { get key() { reads += 1; return reads > 1 ? { toString: 1 } : 'no key'; }, get format() { return reads > 2 ? 'der' : 'pem'; } };
      try { c.createPrivateKey(options); } catch {}
      for (const evil of [{ toJSON: () => 'x' }, new Proxy({}, { get: () => evil, has: () => true }), { length: 2 ** 31, 0: 1 }, [1], Symbol('x'), 5n, () => 1])
        for (const use of [() => c.createHash(evil), () => c.createHmac('md5', evil), () => c.pbkdf2Sync(evil, evil, evil, evil, evil), () => c.createSecretKey(evil), () => c.sign(null, evil, evil), () => c.createCipheriv(evil, evil, evil, evil), () => c.createPublicKey(evil), () => c.createPrivateKey({ key: evil, format: evil, type: evil }), () => c.hkdfSync('md5', evil, evil, evil, evil), () => c.createSign(evil), () => c.scryptSync('p', 's', 9, { N: evil })])
          try { use(); } catch {}
      return c.createHash('md5').update('').digest('hex');`,
    ends: ['returned', 'CPU_LIMIT'],
  },
  {
    name: 'a prototype that answers for the process',
    threat: null,
    recovery: null,
    body: `for (const name of ['key', 'op', 'hash', 'cipher', 'padding', 'kind', 'memory', 'toJSON', 'then']) try { Object.defineProperty(Object.prototype, name, { value: 'x', configurable: true }); } catch {}
      const c = ${CRYPTO}; const digest = c.createHash('sha256').update('abc').digest('hex'); for (const name of ['key', 'op', 'hash', 'cipher', 'padding', 'kind', 'memory', 'toJSON', 'then']) delete Object.prototype[name];
      if (!digest.startsWith('ba7816bf')) throw new Error('a wrong digest'); return 'right';`,
    ends: ['returned', 'threw'],
  },
  {
    name: 'PBKDF2 of the web with billions of rounds',
    threat: null,
    recovery: null,
    body: `const key = await crypto.subtle.importKey('raw', new Uint8Array(9), 'PBKDF2', false, ['deriveBits']);
      return crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-512', salt: new Uint8Array(8), iterations: 2 ** 32 - 1 }, key, 524288);`,
    ends: ['threw'],
  },
  {
    name: 'keys of RSA of the web, sought all at once',
    threat: null,
    recovery: 'R1',
    body: `const rsa = ${RSA};
      for (;;) await Promise.allSettled(Array.from({ length: 300 }, () => crypto.subtle.generateKey(rsa, true, ['sign'])));`,
    ends: [...ANY_DEATH, 'TIMEOUT'],
  },
  {
    name: 'a key of the web that may not leave',
    threat: null,
    recovery: null,
    body: `const s = crypto.subtle; const key = await s.importKey('raw', new Uint8Array(32).fill(7), 'AES-GCM', false, ['encrypt']); const c = ${CRYPTO};
      key.usages.push('decrypt', 'wrapKey'); key.algorithm.name = 'HMAC'; try { Object.defineProperty(key, 'extractable', { value: true }); } catch {}
      const iv = { name: 'AES-GCM', iv: new Uint8Array(12) }; const gcm = await s.importKey('raw', new Uint8Array(16), 'AES-GCM', true, ['wrapKey']);
      const attempts = [() => s.exportKey('raw', key), () => s.exportKey('jwk', key), () => s.decrypt(iv, key, new Uint8Array(16)), () => s.wrapKey('raw', key, gcm, iv), () => s.sign('HMAC', key, new Uint8Array(1)), () => s.exportKey('raw', Object.create(key)), () => s.exportKey('raw', new Proxy(key, { get: (target, name) => (name === 'extractable' ? true : target[name]) })), () => Reflect.construct(key.constructor, [Symbol('permit'), { type: 'secret' }]), () => s.exportKey('raw', structuredClone(key))];
      for (const [at, attempt] of attempts.entries()) { let taken = true; try { await attempt(); } catch { taken = false; } if (taken) throw new Error('attempt ' + at + ' was taken'); }
      return JSON.stringify(key).includes('7') ? 'seen' : 'kept';`,
    ends: ['returned'],
  },
];
