import t from 'tap';
import { secretSchema } from '../../../../src/signers/secret.ts';

t.test('a secret is a reference to the environment or plain text', async (t) => {
  const secret = { type: 'env', value: 'KEYSTORE_PASSPHRASE' };
  t.same(secretSchema.parse({ ...secret, note: 'ignored, as the reference does' }), secret);
  t.ok(secretSchema.safeParse({ type: 'plain', value: 'text' }).success);
  for (const bad of [{ type: 'file', value: 'x' }, { type: 'env', value: '' }, { type: 'env' }, 'text', null]) {
    t.notOk(secretSchema.safeParse(bad).success, JSON.stringify(bad));
  }
});
