import t from 'tap';
import { signingOperations } from '../../../../../src/http/openapi/signing-operations.ts';

t.test('each example is a body, and what is sent on without a name is described', (t) => {
  for (const [route, { body, errors }] of Object.entries(signingOperations)) {
    t.ok(body?.schema.safeParse(body.example).success, route);
    t.ok(errors.includes('RELAYER_PAUSED'), `${route} is gated`);
  }
  t.match(signingOperations['POST /api/v1/relayers/:id/sign-transaction']?.description, /is the risk of the caller/);
  t.end();
});

t.test('typed data are described in both their forms', (t) => {
  const schema = signingOperations['POST /api/v1/relayers/:id/sign-typed-data']?.body?.schema;
  const whole = { domain: { name: 'x' }, types: { A: [{ name: 'a', type: 'bool' }] }, primaryType: 'A', message: {} };
  t.ok(schema?.safeParse(whole).success);
  t.notOk(schema?.safeParse({ domain_separator: '0x' }).success);
  t.end();
});
