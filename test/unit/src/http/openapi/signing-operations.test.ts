import t from 'tap';
import { signingOperations } from '../../../../../src/http/openapi/signing-operations.ts';
import { describedBodies } from '../../../../support/described.ts';

const described = signingOperations(describedBodies());

t.test('each example is a body, and what is sent on without a name is described', (t) => {
  for (const [route, { body, errors }] of Object.entries(described)) {
    t.ok(body?.schema.safeParse(body.example).success, route);
    t.ok(errors.includes('RELAYER_PAUSED'), `${route} is gated`);
  }
  t.match(described['POST /api/v1/relayers/:id/sign-transaction']?.description, /is the risk of the caller/);
  t.end();
});

t.test('typed data are described in both their forms', (t) => {
  const schema = described['POST /api/v1/relayers/:id/sign-typed-data']?.body?.schema;
  const whole = { domain: { name: 'x' }, types: { A: [{ name: 'a', type: 'bool' }] }, primaryType: 'A', message: {} };
  t.ok(schema?.safeParse(whole).success);
  t.notOk(schema?.safeParse({ domain_separator: '0x' }).success);
  t.end();
});

t.test('a transaction that is signed only is described with all that it needs', (t) => {
  const schema = described['POST /api/v1/relayers/:id/sign-transaction']?.body?.schema;
  const whole = { value: 1, nonce: 0, gas_limit: 21_000, gas_price: 1 };
  t.ok(schema?.safeParse(whole).success);
  for (const key of ['nonce', 'gas_limit', 'value']) {
    t.notOk(schema?.safeParse({ ...whole, [key]: undefined }).success, key);
  }
  t.end();
});

t.test('what users pay is asked with the transaction and the token', (t) => {
  for (const step of ['quote', 'build']) {
    const operation = described[`POST /api/v1/relayers/:id/transactions/sponsored/${step}`];
    t.ok(operation?.body?.schema.safeParse({ transaction: 'AQAB', fee_token: 'x' }).success);
    t.notOk(operation?.body?.schema.safeParse({ transaction: 'AQAB' }).success);
  }
  t.match(described['POST /api/v1/relayers/:id/rpc']?.description, /Solana: feeEstimate, /);
  t.end();
});

t.test('a JSON-RPC call needs a method only', (t) => {
  const schema = described['POST /api/v1/relayers/:id/rpc']?.body?.schema;
  t.ok(schema?.safeParse({ method: 'eth_chainId' }).success);
  t.ok(schema?.safeParse({ jsonrpc: '2.0', method: 'eth_chainId', id: null }).success);
  t.notOk(schema?.safeParse({ id: 1 }).success);
  t.end();
});
