import t from 'tap';
import { authorizationSchema } from '../../../../../../src/chains/stellar/form/authorization.ts';

t.test('who consents is one of four, and one of them is not taken', (t) => {
  t.ok(authorizationSchema.safeParse({ type: 'none' }).success);
  t.ok(authorizationSchema.safeParse({ type: 'source_account' }).success);
  t.ok(authorizationSchema.safeParse({ type: 'xdr', entries: [] }).success);
  const said = (auth: unknown) => authorizationSchema.safeParse(auth).error?.issues[0];
  t.match(said({ type: 'addresses', signers: ['G'] }), { message: 'Address-based auth not yet implemented' });
  t.match(said({ type: 'xdr', entries: ['AAAA'] }), { path: ['entries', 0], message: /SorobanAuthorizationEntry/ });
  t.ok(said({ type: 'none', entries: [] }));
  t.end();
});
