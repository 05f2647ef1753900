/**
 * What the comparison with Node in a real isolate (sandbox/test/integration/node-crypto.test.ts) does not show: odd arguments of
 * random values, absent functions, and answers of the process that are failures.
 */
import * as nodeCrypto from 'node:crypto';
import t from 'tap';
import { createCryptoModule, KEYED_NAMES } from '../../../../guest/lazy/node-crypto.ts';
import { createProcessCrypto } from '../../../../guest/node/crypto/process-crypto.ts';
import { guestCrypto } from '../../../support/guest-crypto.ts';
import { runtimeServices } from '../../../support/guest-web.ts';
import { sameAsNode } from '../../../support/same-as-node.ts';

const random = (bytes: number) => nodeCrypto.randomBytes(bytes).toString('latin1');
const ours = createCryptoModule({ ...runtimeServices(), random, global: { crypto } }) as unknown as typeof nodeCrypto;

t.test('random values are as Node’s, and so is what is refused', async (t) => {
  await sameAsNode<typeof nodeCrypto>(t, ours, nodeCrypto, {
    sizes: (module) => [module.randomBytes(0).length, module.randomBytes(70_000).length, module.randomInt(7, 8)],
    'later on': (module) =>
      new Promise((resolve) => {
        module.randomBytes(2, (error, bytes) => resolve([error, bytes.length]));
      }),
    'later on, a number': (module) =>
      new Promise((resolve) => {
        module.randomInt(0, 1, (error, value) => resolve([error ?? null, value]));
      }),
    filled: (module) => {
      const bytes = new Uint8Array(4);
      module.randomFillSync(bytes, 4);
      return [bytes, module.randomFillSync(new ArrayBuffer(1)).byteLength];
    },
    'filled later on': (module) =>
      new Promise((resolve) => {
        module.randomFill(Buffer.alloc(3), (error, bytes) => resolve([error, bytes.length]));
      }),
    'a negative size': (module) => module.randomBytes(-1),
    'no size': (module) => module.randomBytes('x' as never),
    'no range': (module) => module.randomInt(5, 5),
    equal: (module) => module.timingSafeEqual(Buffer.from('ab'), Buffer.from('ab')),
    'of other lengths': (module) => module.timingSafeEqual(Buffer.from('a'), Buffer.from('ab')),
    web: (module) => [module.webcrypto.subtle === module.subtle, module.randomUUID().length, module.getFips()],
  });
  t.throws(() => ours.randomFillSync(5 as never), { code: 'ERR_INVALID_ARG_TYPE' });
  t.throws(() => ours.randomInt(0.5), { code: 'ERR_INVALID_ARG_TYPE' });
  t.throws(() => ours.randomInt(0, 2 ** 50), { code: 'ERR_OUT_OF_RANGE' });
  t.equal(ours.getRandomValues(new Uint8Array(2)).length, 2);
});

t.test('every number of a range comes up', (t) => {
  const seen = new Set(Array.from({ length: 200 }, () => ours.randomInt(3)));
  t.strictSame(seen, new Set([0, 1, 2]));
  t.end();
});

t.test('what is not there says what to use', (t) => {
  t.throws(() => ours.checkPrimeSync(7n), {
    message:
      'crypto.checkPrimeSync is not there in a plugin. Use another function of it, or a package in plain JavaScript',
    code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM',
  });
  t.equal(ours.generatePrime.name, 'generatePrime');
  for (const use of [ours.publicEncrypt, ours.createECDH, ours.generateKeyPairSync] as (() => unknown)[]) {
    t.throws(use, { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' });
  }
  const keys = guestCrypto();
  const { privateKey } = nodeCrypto.generateKeyPairSync('ed25519');
  const pem = { format: 'pem', type: 'pkcs8' } as const;
  const key = privateKey.export({ ...pem, cipher: 'aes-128-cbc', passphrase: 'x' });
  const locked = /Keys with a passphrase are not there/;
  t.throws(() => keys.createPrivateKey({ key, passphrase: 'x' }), locked);
  t.throws(() => keys.createPrivateKey(privateKey.export(pem)).export({ ...pem, cipher: 'aes-128-cbc' }), locked);
  t.throws(() => keys.createPrivateKey(key), 'without its passphrase it cannot be read');
  t.end();
});

t.test('lists and constants are Node’s, and the keyed half comes when it is asked for', async (t) => {
  await sameAsNode<typeof nodeCrypto>(t, ours, nodeCrypto, {
    lists: (module) => [module.getHashes(), module.getCiphers()],
    constants: (module) => ({ ...module.constants }),
  });
  let asked = 0;
  const large = () => {
    asked += 1;
    return { createSign: 'made' };
  };
  const lazy = createCryptoModule({ ...runtimeServices(), large, global: { crypto } });
  t.equal(asked, 0);
  t.equal(lazy['createSign'], 'made');
  const made = guestCrypto() as unknown as Record<string, unknown>;
  for (const name of KEYED_NAMES) t.type(made[name], 'function', name);
});

t.test('key objects cannot be forged', (t) => {
  const { KeyObject, createSecretKey, sign } = guestCrypto();
  const Forged = KeyObject as unknown as new (type: string, handle: object) => object;
  t.throws(() => new Forged('secret', {}), { code: 'ERR_INVALID_ARG_TYPE' });
  t.throws(() => sign('sha256', Buffer.from('x'), Object.create(createSecretKey(Buffer.from('k')))));
  t.end();
});

t.test('failures of the process are thrown as Node throws them', async (t) => {
  const answering = (answer: string) =>
    createProcessCrypto({ compute: () => answer, computeLater: () => Promise.resolve(answer) });
  const QUESTION = { op: 'names', of: 'hashes' } as const;
  t.same(answering('=AQI=').bytes(QUESTION), new Uint8Array([1, 2]));
  t.equal(await answering(':[]').textLater(QUESTION), '[]');
  t.throws(() => answering('').text(QUESTION), { code: 'ERR_CRYPTO_OPERATION_FAILED' });
  const ours = answering('!{"kind":"RangeError","message":"m","code":"ERR_CRYPTO_X"}');
  t.throws(() => ours.bytes(QUESTION), { name: 'RangeError', code: 'ERR_CRYPTO_X', stack: /\[ERR_CRYPTO_X\]/ });
  const theirs = answering('!{"kind":"Error","message":"m","code":"ERR_OSSL_X","reason":"r"}');
  await t.rejects(theirs.bytesLater(QUESTION), { code: 'ERR_OSSL_X', reason: 'r', stack: /^Error: m/ });
});
