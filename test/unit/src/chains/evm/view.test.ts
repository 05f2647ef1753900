import { getCreateAddress, Wallet } from 'ethers';
import t from 'tap';
import { attemptView, inclusionView, transactionView } from '../../../../../src/chains/evm/view.ts';
import { storedAttempt, storedTransaction } from '../../../../support/evm.ts';

const account = { address: '0x00000000000000000000000000000000000000a1', policies: {} };
const RECEIVER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const KEYS = [
  'id',
  'hash',
  'status',
  'status_reason',
  'created_at',
  'sent_at',
  'confirmed_at',
  'gas_price',
  'gas_limit',
  'nonce',
  'value',
  'from',
  'to',
  'relayer_id',
  'data',
  'max_fee_per_gas',
  'max_priority_fee_per_gas',
  'signature',
  'speed',
  'is_canceled',
];

t.test('before it is prepared, a transaction shows what was asked and null for the rest', async (t) => {
  const view = transactionView(storedTransaction(account, { to: RECEIVER, value: 0, speed: 'safeLow' }));
  t.same(Object.keys(view), KEYS);
  t.match(view, {
    status: 'pending',
    created_at: '2023-11-14T22:13:20.000+00:00',
    value: '0x0',
    to: RECEIVER,
    from: account.address,
    speed: 'safeLow',
    is_canceled: false,
  });
  for (const key of ['hash', 'sent_at', 'confirmed_at', 'gas_price', 'gas_limit', 'nonce', 'data', 'signature']) {
    t.equal(view[key], null, key);
  }
  const explicit = storedTransaction(account, { to: RECEIVER, value: 0, gas_price: 5, gas_limit: 21_000 });
  t.match(transactionView(explicit), { gas_price: '5', gas_limit: 21_000n, speed: null });
});

t.test('afterwards it shows what was decided', async (t) => {
  const signature = { r: '11', s: '22', v: 1, sig: '112201' };
  const fields = {
    chain_id: 1,
    from: account.address,
    gas_limit: 23_100,
    max_fee_per_gas: '340282366920938463463374607431768211455',
    max_priority_fee_per_gas: 1,
    signature,
  };
  const pending = storedTransaction(account, { data: '0x00', value: '0x10', speed: 'fast' });
  const view = transactionView({ ...pending, fields, sequence: 2n ** 60n, hash: '0xab', sentAt: 0 });
  t.same(Object.keys(view), [...KEYS, 'contract_address']);
  t.match(view, {
    hash: '0xab',
    sent_at: '1970-01-01T00:00:00.000+00:00',
    gas_price: null,
    gas_limit: 23_100n,
    nonce: 2n ** 60n,
    value: '0x10',
    to: null,
    data: '0x00',
    max_fee_per_gas: '340282366920938463463374607431768211455',
    max_priority_fee_per_gas: '1',
    signature,
  });
  t.same(Object.keys(view['signature'] as object), ['r', 's', 'v', 'sig']);
});

t.test('lists are shown where they were given, after all other keys; the ABI never is', async (t) => {
  const list = [{ address: RECEIVER.toLowerCase(), storage_keys: [] }];
  const body = { to: RECEIVER, value: 0, speed: 'fast', access_list: [{ address: RECEIVER }], abi: ['error X()'] };
  const view = transactionView(storedTransaction(account, body));
  t.same(Object.keys(view), [...KEYS, 'access_list']);
  t.same(view['access_list'], list);
  const { r, s, yParity } = new Wallet(`0x${'46'.repeat(32)}`).authorizeSync({
    address: RECEIVER,
    nonce: 3,
    chainId: 0,
  }).signature;
  const authorization = { chain_id: 0, address: RECEIVER.toLowerCase(), nonce: 3, y_parity: yParity, r, s };
  const withBoth = storedTransaction(account, { ...body, authorization_list: [authorization] });
  t.same(Object.keys(transactionView(withBoth)), [...KEYS, 'access_list', 'authorization_list']);
  t.same(transactionView(withBoth)['authorization_list'], [authorization]);
});

t.test('a signed version is shown with what it does and offers', async (t) => {
  const fields = { chain_id: 1, from: account.address, gas_limit: 23_100, gas_price: '340282366920938463463374607431' };
  const transaction = storedTransaction(account, { to: RECEIVER, value: 16, data: '0x00', speed: 'fast' }, { fields });
  t.strictSame(attemptView(storedAttempt(transaction, 0n, '0x', '0x')), {
    to: RECEIVER,
    value: '0x10',
    gas_limit: 23_100n,
    gas_price: '340282366920938463463374607431',
    max_fee_per_gas: null,
    max_priority_fee_per_gas: null,
  });
  const unpriced = storedAttempt({ ...transaction, fields: {} }, 0n, '0x', '0x');
  t.match(attemptView(unpriced), { value: '0x10', gas_limit: null, gas_price: null });
});

t.test('what is in a block is shown with its block', async (t) => {
  const receipt = {
    block_number: String(2n ** 60n),
    block_hash: `0x${'11'.repeat(32)}`,
    succeeded: false,
    gas_used: 21_000,
    effective_gas_price: 7,
  };
  const fields = { chain_id: 1, from: account.address, gas_limit: 23_100, receipt };
  const included = storedTransaction(account, { to: RECEIVER, value: 0, speed: 'fast' }, { fields, status: 'failed' });
  t.strictSame(inclusionView(included), {
    block_number: 2n ** 60n,
    block_hash: receipt.block_hash,
    succeeded: false,
    gas_used: 21_000n,
    effective_gas_price: '7',
  });
  t.equal(inclusionView({ ...included, status: 'submitted' }), null, 'a reorganisation took it back');
  t.equal(inclusionView({ ...included, fields: {} }), null);
});

t.test('what makes a contract shows where that is, while it can be there', async (t) => {
  const pending = storedTransaction(account, { data: '0x00', value: 0, speed: 'fast' });
  const shown = (over: object) => transactionView({ ...pending, ...over })['contract_address'];
  const receipt = { block_number: 1, block_hash: '0x', succeeded: true, gas_used: 1, effective_gas_price: null };
  const fields = (more: object) => ({
    chain_id: 1,
    from: account.address,
    gas_limit: 21_000,
    receipt: { ...receipt, ...more },
  });
  const expected = getCreateAddress({ from: account.address, nonce: 5 }).toLowerCase();
  t.equal(shown({}), null);
  t.equal(shown({ status: 'submitted', sequence: 5n }), expected);
  t.equal(shown({ status: 'confirmed', sequence: 5n, fields: fields({}) }), expected);
  const elsewhere = fields({ contract_address: RECEIVER });
  t.equal(shown({ status: 'mined', sequence: 5n, fields: elsewhere }), RECEIVER, 'the chain knows better');
  t.equal(shown({ status: 'submitted', sequence: 5n, fields: elsewhere }), expected, 'taken back by a reorganisation');
  t.equal(shown({ status: 'mined', sequence: 5n, fields: fields({ succeeded: false }) }), null);
  for (const status of ['failed', 'canceled', 'expired']) t.equal(shown({ status, sequence: 5n }), null, status);
  t.notOk('contract_address' in transactionView(storedTransaction(account, { to: RECEIVER, value: 0, speed: 'fast' })));
});
