import { randomBytes } from 'node:crypto';
import t from 'tap';
import { createRemoteSigner } from '../../../../../src/signers/remote/remote-signer.ts';
import { newServiceKey } from '../../../../support/signers/service-key.ts';

for (const curve of ['secp256k1', 'ed25519'] as const) {
  t.test(`which key it is stays found, and each signature on ${curve} is proven against it`, async (t) => {
    const [key, other] = [newServiceKey(curve), newServiceKey(curve)];
    let finds = 0;
    let signing = key;
    const signer = createRemoteSigner('one', async () => {
      finds += 1;
      if (finds === 1) throw new Error('away');
      return { publicKey: key.publicKey, sign: async (payload) => signing.sign(payload) };
    });
    const payload = randomBytes(32);
    await t.rejects(signer.sign(curve, payload), { message: 'away' });
    t.equal((await signer.sign(curve, payload)).length, curve === 'ed25519' ? 64 : 65);
    t.same(await signer.publicKey(curve), key.publicKey);
    signing = other;
    await t.rejects(signer.sign(curve, payload), { message: /another key/ });
    t.equal(finds, 2);
    await signer.close();
  });
}

t.test('a digest has 32 bytes, and an Ed25519 signature 64', async (t) => {
  const secp = newServiceKey('secp256k1');
  const ed = newServiceKey('ed25519');
  const digests = createRemoteSigner('one', async () => ({
    publicKey: secp.publicKey,
    sign: () => Promise.reject(new Error('it was asked')),
  }));
  await t.rejects(digests.sign('secp256k1', randomBytes(31)), { message: 'a digest has 32 bytes, not 31' });
  const short = createRemoteSigner('one', async () => ({
    publicKey: ed.publicKey,
    sign: async (payload) => ed.sign(payload).subarray(0, 63),
  }));
  await t.rejects(short.sign('ed25519', randomBytes(5)), { message: /another key/ });
});
