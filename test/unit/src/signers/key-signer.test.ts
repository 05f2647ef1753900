import { randomBytes } from 'node:crypto';
import t from 'tap';
import { createKeySigner } from '../../../../src/signers/key-signer.ts';
import { assertSignedBy } from '../../../../src/signers/secp256k1/ecdsa.ts';

t.test('signs, and what it cannot is an error with its name', async (t) => {
  const signer = createKeySigner('both', randomBytes(32));
  const digest = randomBytes(32);
  assertSignedBy(digest, await signer.sign('secp256k1', digest), await signer.publicKey('secp256k1'));
  t.equal((await signer.sign('ed25519', Buffer.from('any message'))).length, 64);
  await t.rejects(signer.sign('secp256k1', Buffer.alloc(31)), {
    code: 'SIGNER_FAILED',
    message: 'Signer both failed: a digest has 32 bytes, not 31',
  });
});

t.test('closing wipes the key', async (t) => {
  const key = randomBytes(32);
  const signer = createKeySigner('closed', key);
  await signer.close();
  t.ok(key.equals(Buffer.alloc(32)));
  await t.rejects(signer.publicKey('ed25519'), { message: 'Signer closed failed: it is closed' });
});
