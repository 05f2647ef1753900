import t from 'tap';
import {
  nothingSchema,
  readParams,
  sponsoredSchema,
  transferSchema,
} from '../../../../../../src/chains/solana/sponsor/form.ts';
import type { Json } from '../../../../../../src/domain/json/json.ts';

const refusal = (schema: Parameters<typeof readParams>[0], params: Json): string => {
  try {
    readParams(schema, params);
  } catch (error) {
    return String(error);
  }
  return 'taken';
};

const transfer = (amount: Json) => ({ amount, token: 't', source: 's', destination: 'd' });

t.test('parameters are objects with just these fields', async (t) => {
  t.strictSame(readParams(sponsoredSchema, { transaction: 'a', fee_token: 'b' }), { transaction: 'a', fee_token: 'b' });
  t.strictSame(readParams(nothingSchema, {}), {});
  const starts = /Invalid Solana RPC request: /;
  for (const params of [null, [], 'x', { transaction: 'a' }, { transaction: 1, fee_token: 'b' }]) {
    t.match(refusal(sponsoredSchema, params), starts);
  }
  t.match(refusal(sponsoredSchema, { transaction: 'a', fee_token: 'b', feeToken: 'c' }), /unknown field `feeToken`/);
  t.match(refusal(nothingSchema, { a: 1 }), starts);
  t.match(refusal(nothingSchema, null), starts);
});

t.test('an amount is an integer of 64 bits, never a text', async (t) => {
  t.equal(readParams(transferSchema, transfer(5)).amount, 5n);
  t.equal(readParams(transferSchema, transfer(0)).amount, 0n);
  // JSON numbers beyond 2^53 keep their digits here.
  t.equal(readParams(transferSchema, transfer('18446744073709551615')).amount, 2n ** 64n - 1n);
  for (const amount of ['5', '9007199254740991', '18446744073709551616', -1, 1.5, '-5', null, true, 1e300]) {
    t.match(refusal(transferSchema, transfer(amount)), /Invalid Solana RPC request: .*amount/, String(amount));
  }
});
