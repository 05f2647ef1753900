import t from 'tap';
import { estimateCall, readFields, readRequest, speedSchema } from '../../../../../src/chains/evm/schema.ts';

t.test('stored requests and fields are parsed on the way out', async (t) => {
  const request = {
    to: null,
    value: '0x1',
    data: '0x00',
    gas_limit: null,
    gas_price: null,
    max_fee_per_gas: null,
    max_priority_fee_per_gas: null,
    speed: 'safeLow',
  };
  t.match(readRequest(request), { to: null, value: 1n, gasLimit: null, price: { kind: 'speed', speed: 'safeLow' } });
  t.match(readRequest({ ...request, gas_price: 7, speed: null }).price, { kind: 'legacy', gasPrice: 7n });
  t.throws(() => readRequest({ ...request, value: 'one' }));
  t.equal(readFields({}), undefined);
  t.throws(() => readFields({ from: 5 }));
  t.same(speedSchema.options, ['fastest', 'fast', 'average', 'safeLow']);
});

t.test('a request stored before there were lists has none', async (t) => {
  const before = {
    to: null,
    value: '0x1',
    data: '0x00',
    gas_limit: null,
    gas_price: null,
    max_fee_per_gas: null,
    max_priority_fee_per_gas: null,
    speed: 'fast',
  };
  t.match(readRequest(before), { accessList: [], authorizationList: [], abi: [] });
  const list = [{ address: '0xaa', storage_keys: ['0xbb'] }];
  t.same(readRequest({ ...before, access_list: list, abi: ['error X()'] }).accessList, list);
  t.throws(() => readRequest({ ...before, access_list: [{ address: '0xaa' }] }));
  t.throws(() => readRequest({ ...before, blobs: [] }));
});

t.test('an estimate is asked for with everything that costs gas', async (t) => {
  const receiver = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const request = {
    to: receiver,
    value: '0x10',
    data: 'ab',
    gas_limit: 5,
    gas_price: 7,
    max_fee_per_gas: null,
    max_priority_fee_per_gas: null,
    speed: null,
  };
  t.same(estimateCall(readRequest(request), '0xf'), {
    from: '0xf',
    to: receiver.toLowerCase(),
    value: '0x10',
    data: '0xab',
  });
  t.same(estimateCall(readRequest({ ...request, to: null, data: null }), '0xf'), { from: '0xf', value: '0x10' });
  const lists = {
    access_list: [{ address: '0xaa', storage_keys: ['0xbb'] }],
    authorization_list: [{ chain_id: 0, address: '0xcc', nonce: 1, y_parity: 1, r: '0x0d', s: '0x0e' }],
  };
  t.match(estimateCall(readRequest({ ...request, ...lists }), '0xf'), {
    accessList: [{ address: '0xaa', storageKeys: ['0xbb'] }],
    authorizationList: [{ chainId: '0x0', address: '0xcc', nonce: '0x1', yParity: '0x1', r: '0xd', s: '0xe' }],
  });
});
