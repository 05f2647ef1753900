import t from 'tap';
import { readForm } from '../../../../../../src/chains/request-form.ts';
import { unsentRequestSchema } from '../../../../../../src/chains/solana/form/sign-only.ts';

t.test('a transaction, and nothing else', async (t) => {
  t.strictSame(readForm(unsentRequestSchema, { transaction: 'AQAB' }), { transaction: 'AQAB' });
  for (const [body, said] of [
    [{}, 'missing field `transaction`'],
    [{ transaction: null }, 'invalid `transaction`: expected a string, not null'],
    [{ transaction: 'AQAB', instructions: [] }, 'unknown field `instructions`, expected `transaction`'],
    [{ unsigned_xdr: 'AAAA' }, /^unknown field `unsigned_xdr`/],
    ['AQAB', 'expected an object, not a string'],
  ] as const) {
    t.throws(() => readForm(unsentRequestSchema, body), { code: 'INVALID_REQUEST', message: said });
  }
});
