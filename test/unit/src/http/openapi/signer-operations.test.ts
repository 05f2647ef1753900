import t from 'tap';
import { signerOperations, signerSchema } from '../../../../../src/http/openapi/signer-operations.ts';
import { describedBodies } from '../../../../support/described.ts';

t.test('the body is that of any kind that clients can make, with its secrets as texts', (t) => {
  const body = signerOperations(describedBodies())['POST /api/v1/signers']?.body;
  t.ok(body?.schema.safeParse(body.example).success);
  t.notOk(body?.schema.safeParse({ type: 'local', config: { path: 'x', passphrase: 'x' } }).success);
  t.ok(signerSchema.safeParse({ id: 'k', type: 'local', config: {} }).success);
  t.notOk(signerSchema.safeParse({ id: 'k', type: 'local', config: {}, key: 'x' }).success);
  t.end();
});
