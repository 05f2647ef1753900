/** Keys and signatures whose chance comes from a seed are as good as OpenSSL's own, by OpenSSL's own judgement. */
import * as node from 'node:crypto';
import t from 'tap';
import {
  SeededChance,
  seededOaep,
  seededPair,
  seededRsaPair,
  seededSignature,
} from '../../../../process/crypto/seeded.ts';

const SEED = 'cd'.repeat(32);
const chance = (use = 'test') => new SeededChance(SEED, use);
const DATA = Buffer.from('data');
const raw = (key: node.KeyObject) => key.export({ format: 'der', type: 'pkcs8' });

t.test('a seed gives one sequence for each use', async (t) => {
  const one = chance();
  t.same(Buffer.concat([one.bytes(10), one.bytes(22)]), chance().bytes(32));
  t.notSame(chance('other').bytes(32), chance().bytes(32));
  t.notSame(chance().fork().bytes(32), chance().bytes(32));
});

t.test('keys of every kind', async (t) => {
  const kinds = [
    ['ed25519', undefined],
    ['x25519', undefined],
    ...['prime256v1', 'secp384r1', 'secp521r1', 'secp256k1'].map((curve) => ['ec', curve] as const),
  ] as const;
  for (const [kind, curve] of kinds) {
    const pair = (use?: string) => seededPair(kind, curve, chance(use));
    const { privateKey, publicKey } = pair();
    t.same(raw(privateKey), raw(pair().privateKey), `${kind} ${curve}`);
    t.notSame(raw(privateKey), raw(pair('x').privateKey));
    if (kind !== 'x25519') {
      const hash = kind === 'ec' ? 'sha256' : null;
      t.ok(node.verify(hash, DATA, publicKey, node.sign(hash, DATA, privateKey)), 'the halves fit');
    }
  }
  t.throws(() => seededPair('ec', 'brainpoolP256r1', chance()), /for the curve/);
});

t.test('keys of RSA, at once and on other threads', async (t) => {
  for (const [bits, exponent] of [
    [512, 3],
    [1024, 65_537],
    [1031, 17],
  ] as const) {
    const now = seededRsaPair(bits, exponent, chance()).run();
    const later = await new Promise<typeof now>((resolve, reject) => {
      seededRsaPair(bits, exponent, chance()).start((error, pair) => (pair ? resolve(pair) : reject(error)));
    });
    t.same(raw(now.privateKey), raw(later.privateKey));
    t.match(now.privateKey.asymmetricKeyDetails, { modulusLength: bits, publicExponent: BigInt(exponent) });
    t.ok(node.verify('sha1', DATA, now.publicKey, node.sign('sha1', DATA, now.privateKey)));
  }
  for (const exponent of [1, 2, 4]) t.throws(() => seededRsaPair(512, exponent, chance()), /odd/);
});

t.test('signatures that OpenSSL accepts', async (t) => {
  for (const curve of ['prime256v1', 'secp384r1', 'secp521r1', 'secp256k1']) {
    const { privateKey, publicKey } = node.generateKeyPairSync('ec', { namedCurve: curve });
    for (const hash of ['sha1', 'sha256', 'sha512', undefined]) {
      for (const dsaEncoding of ['der', 'ieee-p1363'] as const) {
        const form = { hash, dsaEncoding };
        const signature = seededSignature(DATA, privateKey, form, chance()) as Buffer;
        t.ok(node.verify(hash, DATA, { key: publicKey, dsaEncoding }, signature), `${curve} ${hash} ${dsaEncoding}`);
        t.same(seededSignature(DATA, privateKey, form, chance()), signature);
      }
    }
  }
  const { privateKey, publicKey } = node.generateKeyPairSync('rsa', { modulusLength: 1025 });
  for (const saltLength of [undefined, -1, -2, -3, 0, 20]) {
    const signature = seededSignature(DATA, privateKey, { hash: 'sha256', padding: 6, saltLength }, chance()) as Buffer;
    t.ok(node.verify('sha256', DATA, { key: publicKey, padding: 6 }, signature), `salt ${saltLength}`);
  }
  t.throws(
    () => seededSignature(DATA, privateKey, { hash: 'sha512', padding: 6, saltLength: 64 }, chance()),
    /too short/,
  );
  t.equal(seededSignature(DATA, privateKey, { hash: 'sha256' }, chance()), undefined, 'draws nothing');
  const pss = node.generateKeyPairSync('rsa-pss', { modulusLength: 1024 }).privateKey;
  t.throws(() => seededSignature(DATA, pss, { hash: 'sha256' }, chance()), /rsa-pss/);
});

/** Threat: two signatures with one drawn number, which give the key away. */
t.test('other data has another drawn number, also from the same seed', async (t) => {
  const { privateKey } = node.generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const drawn = (data: string) =>
    seededSignature(Buffer.from(data), privateKey, { hash: 'sha256', dsaEncoding: 'ieee-p1363' }, chance())
      ?.subarray(0, 32)
      .toString('hex');
  t.equal(drawn('one'), drawn('one'));
  t.not(drawn('one'), drawn('other'));
});

t.test('OpenSSL opens what was sealed with RSA-OAEP', async (t) => {
  const { privateKey, publicKey } = node.generateKeyPairSync('rsa', { modulusLength: 1024 });
  for (const label of [undefined, Buffer.from('label')]) {
    const sealed = seededOaep(DATA, publicKey, 'sha256', label, chance());
    const options = { key: privateKey, oaepHash: 'sha256', ...(label === undefined ? {} : { oaepLabel: label }) };
    t.same(node.privateDecrypt(options, sealed), DATA);
  }
  t.throws(() => seededOaep(Buffer.alloc(63), publicKey, 'sha256', undefined, chance()), /longer than the 62 bytes/);
});
