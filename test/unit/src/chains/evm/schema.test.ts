import t from 'tap';
import {
  estimateCall,
  networkSchema,
  readFields,
  readRequest,
  readSettings,
  speedSchema,
} from '../../../../../src/chains/evm/schema.ts';
import type { JsonObject } from '../../../../../src/domain/json/json.ts';

const read = (entry: JsonObject) =>
  readSettings({ type: 'evm', name: 'test', rpcUrls: [], settings: networkSchema.parse(entry) });

t.test('a whole entry is taken at its word', async (t) => {
  const legacy = read({ chain_id: 56, required_confirmations: 3, symbol: 'BNB', average_blocktime_ms: 3_000 });
  t.match(legacy, { declaredChainId: 56n, hasEip1559: false, averageBlocktimeMs: 3_000 });
  t.equal(legacy.confirmationsOn(56n), 3n);
  t.match(read({ chain_id: 1, features: ['eip1559'] }), { hasEip1559: true });
});

t.test('an entry of nothing gets defaults that fit any chain', async (t) => {
  const bare = read({});
  t.match(bare, { declaredChainId: null, hasEip1559: null, averageBlocktimeMs: 12_000 });
  t.equal(bare.confirmationsOn(5n), 12n);
  t.equal(bare.confirmationsOn(31_337n), 1n);
  t.equal(bare.confirmationsOn(1_337n), 1n);
});

t.test('tags and the price cache say how a network is priced', async (t) => {
  const plain = { lacksMempool: false, isArbitrum: false, isOptimism: false, isZkEvm: false, gasPriceCache: null };
  t.match(read({}), plain);
  t.match(read({ tags: ['rollup', 'deprecated'], gas_price_cache: {} }), plain);
  t.match(read({ tags: ['no-mempool'] }), { ...plain, lacksMempool: true });
  t.match(read({ tags: ['arbitrum-based'] }), { ...plain, lacksMempool: true, isArbitrum: true });
  for (const tag of ['optimism-based', 'optimism']) {
    t.match(read({ tags: [tag] }), { ...plain, lacksMempool: true, isOptimism: true });
  }
  t.match(read({ tags: ['polygon-zkevm-based'] }), { ...plain, isZkEvm: true });
  const cached = read({ gas_price_cache: { enabled: true, stale_after_ms: 5 } });
  t.same(cached.gasPriceCache, { staleAfterMs: 5, expireAfterMs: 45_000 });
});

t.test('what no network can have is refused', async (t) => {
  for (const [entry, said] of [
    [{ chain: 1 }, /chain/],
    [{ average_blocktime_ms: 0 }, /average_blocktime_ms/],
    [{ symbol: '' }, /symbol/],
    [{ required_confirmations: -1 }, /required_confirmations/],
    [{ explorer_urls: ['nowhere'] }, /explorer_urls/],
    [{ gas_price_cache: { enabled: true, ttl: 1 } }, /ttl/],
    [{ gas_price_cache: { stale_after_ms: 0 } }, /Gas price cache stale_after_ms must be greater than zero/],
    [{ gas_price_cache: { expire_after_ms: 0 } }, /Gas price cache expire_after_ms must be greater than zero/],
    [
      { gas_price_cache: { stale_after_ms: 5, expire_after_ms: 5 } },
      /Gas price cache expire_after_ms must be greater than stale_after_ms/,
    ],
  ] as const) {
    t.match(networkSchema.safeParse(entry).error?.message, said);
  }
});

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
