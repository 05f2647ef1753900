import t from 'tap';
import { createChains } from '../../../../../src/chains/registry.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { chainBodies } from '../../../../../src/http/openapi/chain-bodies.ts';

t.test('each family is shown under its own name', (t) => {
  const { named, policies, request } = chainBodies(createChains(systemClock));
  t.strictSame(Object.keys(named), [
    'EvmPolicies',
    'SolanaPolicies',
    'StellarPolicies',
    'EvmTransactionRequest',
    'SolanaTransactionRequest',
    'EvmTypedData',
    'EvmUnsentTransaction',
    'SolanaUnsentTransaction',
  ]);
  t.ok(policies.schema.safeParse({ gas_price_cap: 5 }).success);
  t.ok(policies.schema.safeParse({ allowed_programs: [] }).success);
  t.notOk(policies.schema.safeParse({ no_such_policy: 1 }).success);
  t.ok(request.schema.safeParse({ value: 1, data: '0x' }).success);
  t.end();
});
