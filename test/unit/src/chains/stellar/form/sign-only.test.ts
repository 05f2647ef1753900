import t from 'tap';
import { unsentRequestSchema } from '../../../../../../src/chains/stellar/form/sign-only.ts';

t.test('it is one envelope', (t) => {
  t.ok(unsentRequestSchema.safeParse({ unsigned_xdr: 'AAAA' }).success);
  for (const bad of [{}, { unsigned_xdr: 5 }, { unsigned_xdr: 'AAAA', transaction: 'AAAA' }]) {
    t.notOk(unsentRequestSchema.safeParse(bad).success);
  }
  t.end();
});
