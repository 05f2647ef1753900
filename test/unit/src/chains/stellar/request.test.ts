import { Account, MuxedAccount } from '@stellar/stellar-sdk';
import t from 'tap';
import { parseSendRequest } from '../../../../../src/chains/stellar/request.ts';
import { CLIENT, envelopeText, payOp } from '../../../../support/stellar-envelopes.ts';
import { lumens, RELAYER, relayerAccount } from '../../../../support/stellar-relayer.ts';

const NOW = 1_700_000_000_000;
const account = relayerAccount();
const parse = (body: object, policies = {}) =>
  parseSendRequest({ network: 'testnet', operations: [lumens(5)], ...body }, relayerAccount(policies), NOW);

t.test('operations are kept as they are, under a sequence of the account', (t) => {
  t.strictSame(parse({ source_account: account.address }), {
    request: { operations: [lumens(5)] },
    validUntil: null,
    anchorKind: 'sequence',
    onDeath: 'renew',
    contentKey: null,
  });
  const muxed = (key: typeof CLIENT) => new MuxedAccount(new Account(key.publicKey(), '0'), '7').accountId();
  t.same(parse({ source_account: muxed(RELAYER) }), parse({}), 'its address with a number is its own too');
  t.throws(() => parse({ source_account: muxed(CLIENT) }), { message: /^source_account M\w+ is not the relayer's/ });
  const own = { operations: null, transaction_xdr: envelopeText(RELAYER, [payOp('1')], { signers: [] }) };
  t.same(parse({ ...own, source_account: muxed(RELAYER) }), parse(own));
  t.throws(() => parse({ ...own, source_account: muxed(CLIENT) }), { message: /is not that of transaction_xdr/ });
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
  t.throws(() => parseSendRequest({}, { address: account.address, policies: {} }, NOW), { code: 'INVALID_REQUEST' });
  t.end();
});

t.test('which form it is, is said in the reference’s words', (t) => {
  const xdr = envelopeText(RELAYER, [payOp('1')], { signers: [] });
  const signed = envelopeText(CLIENT, [payOp('1')]);
  const cases: [object, string][] = [
    [{ transaction_xdr: xdr }, 'Cannot provide both operations and transaction_xdr'],
    [{ operations: null }, 'Must provide either operations or transaction_xdr'],
    [{ operations: [] }, 'Must provide either operations or transaction_xdr'],
    [{ fee_bump: true }, 'Cannot request fee_bump with operations mode'],
    [{ max_fee: 5 }, 'max_fee is only allowed with fee_bump'],
    [
      { operations: null, transaction_xdr: xdr, memo: { type: 'id', value: 1 } },
      'memo is only allowed with operations',
    ],
    [
      { operations: null, transaction_xdr: xdr, fee_bump: true },
      'Transaction validation error: Cannot request fee_bump with unsigned XDR',
    ],
    [
      { operations: null, transaction_xdr: signed },
      'Transaction validation error: Expected unsigned XDR but received signed XDR',
    ],
  ];
  for (const [body, message] of cases) t.throws(() => parse(body), { code: 'INVALID_REQUEST', message });
  t.match(parse({ operations: [], transaction_xdr: xdr, memo: { type: 'none' } }), { request: { transaction: xdr } });
  t.match(parse({ operations: null, transaction_xdr: signed, fee_bump: true, max_fee: 300 }), {
    request: { inner: signed, max_fee: 300 },
  });
  t.end();
});

t.test('operations of contracts have no memo', (t) => {
  const call = {
    type: 'invoke_contract',
    contract_address: 'CAS3J7GYLGXMF6TDJBBYYSE3HQ6BBSMLNUQ34T6TZMYMW2EVH34XOWMA',
    function_name: 'hello',
    args: [{ i128: { hi: '0', lo: '7' } }],
  };
  const { request } = parse({ operations: [call], memo: { type: 'none' } });
  t.strictSame(request, { operations: [call], memo: { type: 'none' } }, 'kept as it came');
  t.throws(() => parse({ operations: [call], memo: { type: 'id', value: 1 } }), {
    message: 'Soroban operations cannot have a memo (except MemoNone)',
  });
  t.end();
});

t.test('a signed consent comes with the call that it is for, and with no fee bump', (t) => {
  const consent = { signed_auth_entry: 'AAAA', operations: null };
  const cases: [object, RegExp][] = [
    [consent, /^Must provide either/],
    [{ ...consent, operations: [lumens(1)] }, /^signed_auth_entry requires transaction_xdr/],
    [{ ...consent, transaction_xdr: 'AAAA', fee_bump: true }, /^Cannot use both signed_auth_entry and fee_bump/],
    [{ ...consent, transaction_xdr: 'AAAA' }, /Invalid XDR/],
    [{ signed_auth_entry: 5, transaction_xdr: 'AAAA' }, /invalid `signed_auth_entry`/],
  ];
  for (const [body, message] of cases) t.throws(() => parse(body), { code: 'INVALID_REQUEST', message });
  t.match(parse({ operations: [lumens(1)], signed_auth_entry: null }), { anchorKind: 'sequence' });
  t.end();
});
