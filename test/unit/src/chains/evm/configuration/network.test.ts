import t from 'tap';
import { networkSchema, readSettings } from '../../../../../../src/chains/evm/configuration/network.ts';
import type { JsonObject } from '../../../../../../src/domain/json/json.ts';

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
