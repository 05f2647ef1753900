import t from 'tap';
import { sponsoredSchema } from '../../../../../../src/chains/stellar/sponsor/form.ts';
import { lumens } from '../../../../../support/stellar-relayer.ts';

t.test('an envelope or operations, and a token', (t) => {
  const accepts = (body: object) => sponsoredSchema.safeParse(body).success;
  t.ok(accepts({ fee_token: 'native', transaction_xdr: 'AAAA' }));
  t.ok(accepts({ fee_token: 'native', operations: [lumens(5)], source_account: 'G' }));
  t.notOk(accepts({ transaction_xdr: 'AAAA' }));
  t.notOk(accepts({ fee_token: 'native', transaction: 'AAAA' }), 'as Solana has it');
  t.end();
});
