// Threat: a key reaches a log, an error or an answer because somebody prints the object that holds it.
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import t from 'tap';
import { assertSignedBy } from '../../../../src/signers/ecdsa.ts';
import { createKeySigner } from '../../../../src/signers/key-signer.ts';

t.test('one key signs on both curves', async (t) => {
  const signer = createKeySigner('both', randomBytes(32));
  t.teardown(() => signer.close());
  const digest = randomBytes(32);
  const publicKey = await signer.publicKey('secp256k1');
  t.equal(publicKey.length, 65);
  assertSignedBy(digest, await signer.sign('secp256k1', digest), publicKey);
  t.equal((await signer.publicKey('ed25519')).length, 32);
  t.equal((await signer.sign('ed25519', Buffer.from('any message'))).length, 64);
  await t.rejects(signer.sign('secp256k1', Buffer.alloc(31)), {
    code: 'SIGNER_FAILED',
    message: 'Signer both failed: a digest has 32 bytes, not 31',
  });
});

t.test('a public key that is handed out is a copy', async (t) => {
  const signer = createKeySigner('copy', randomBytes(32));
  const digest = randomBytes(32);
  (await signer.publicKey('secp256k1')).fill(0);
  t.equal((await signer.sign('secp256k1', digest)).length, 65);
});

t.test('a key outside the range of secp256k1 still is an ed25519 seed', async (t) => {
  const signer = createKeySigner('zero', Buffer.alloc(32));
  await t.rejects(signer.publicKey('secp256k1'), { code: 'SIGNER_FAILED', message: /zero or not below the order/ });
  await t.rejects(signer.sign('secp256k1', Buffer.alloc(32)), { code: 'SIGNER_FAILED' });
  t.equal((await signer.publicKey('ed25519')).length, 32);
});

t.test('nothing that prints a signer or its errors shows the key', async (t) => {
  const key = randomBytes(32);
  const hex = key.toString('hex');
  const signer = createKeySigner('secret', key);
  const failure: unknown = await signer.sign('secp256k1', Buffer.alloc(1)).catch((error: unknown) => error);
  await signer.publicKey('ed25519');
  const printed = [
    JSON.stringify(signer),
    inspect(signer, { depth: 9, showHidden: true }),
    inspect(failure, { depth: 9 }),
  ];
  for (const text of printed) t.notOk(text.includes(hex) || text.includes(key.toString('base64')));
});

t.test('closing wipes the key, ends signing, and may be done twice', async (t) => {
  const key = randomBytes(32);
  const signer = createKeySigner('closed', key);
  await signer.publicKey('secp256k1');
  await signer.close();
  await signer.close();
  t.ok(key.equals(Buffer.alloc(32)));
  for (const curve of ['secp256k1', 'ed25519'] as const) {
    await t.rejects(signer.sign(curve, Buffer.alloc(32)), { message: 'Signer closed failed: it is closed' });
  }
});
