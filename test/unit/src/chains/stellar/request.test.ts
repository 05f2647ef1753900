import t from 'tap';
import { parseRequest } from '../../../../../src/chains/stellar/request.ts';
import { lumens, relayerAccount } from '../../../../support/stellar-relayer.ts';

const NOW = 1_700_000_000_000;
const account = relayerAccount();
const parse = (body: object, policies = {}) =>
  parseRequest({ network: 'testnet', operations: [lumens(5)], ...body }, relayerAccount(policies), NOW);

t.test('operations are kept as they are, under a sequence of the account', (t) => {
  t.strictSame(parse({ source_account: account.address }), {
    request: { operations: [lumens(5)] },
    validUntil: null,
    anchorKind: 'sequence',
    onDeath: 'renew',
    contentKey: null,
  });
  const memo = { type: 'id', value: '18446744073709551615' };
  t.match(parse({ memo }).request, { memo });
  t.match(parse({ memo: null, fee_bump: false, max_fee: null, transaction_xdr: null }).request, {
    operations: [lumens(5)],
  });
  t.end();
});

t.test('an end is a moment to come, or none', (t) => {
  t.equal(parse({ valid_until: '1700000060' }).validUntil, NOW + 60_000);
  t.equal(parse({ valid_until: '2023-11-14T22:14:20Z' }).validUntil, NOW + 60_000);
  t.equal(parse({ valid_until: '0' }).validUntil, null);
  for (const bad of ['1700000000', '1', 'soon', '', '-1', '2023-02-30T00:00:00Z']) {
    t.throws(() => parse({ valid_until: bad }), { code: 'INVALID_REQUEST' }, bad);
  }
  t.throws(() => parse({ valid_until: 1_700_000_060 }), { code: 'INVALID_REQUEST' }, 'a number is no text');
  t.end();
});

t.test('policies have the first word', (t) => {
  t.throws(() => parse({}, { fee_payment_strategy: 'user' }), { message: /Gasless transactions .* operations path/ });
  t.throws(() => parse({}, { max_fee: 99 }), { message: 'Max fee exceeded: 99' });
  t.match(parse({}, { max_fee: 100 }), { anchorKind: 'sequence' });
  t.throws(() => parseRequest({}, { address: account.address, policies: {} }, NOW), { code: 'INVALID_REQUEST' });
  t.end();
});

t.test('what is not taken yet says so', (t) => {
  for (const body of [{ transaction_xdr: 'AAAA' }, { signed_auth_entry: 'AAAA' }, { fee_bump: true }, { max_fee: 5 }]) {
    t.throws(() => parse(body), { code: 'NOT_AVAILABLE_YET', status: 501 }, JSON.stringify(body));
  }
  t.end();
});
