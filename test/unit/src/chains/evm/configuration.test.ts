import t from 'tap';
import { networkSchema, readNetworkSettings } from '../../../../../src/chains/evm/configuration/network.ts';
import { evmPolicies, networkPolicyFault, readPolicy } from '../../../../../src/chains/evm/configuration/policy.ts';
import type { JsonObject } from '../../../../../src/domain/json/json.ts';

t.test('network', async (t) => {
  const read = (entry: JsonObject) =>
    readNetworkSettings({ type: 'evm', name: 'test', rpcUrls: [], settings: networkSchema.parse(entry) });

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
});

t.test('policy', async (t) => {
  const { schema: policySchema, view: policyView } = evmPolicies;
  const RECEIVER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const LARGEST = ((1n << 128n) - 1n).toString();

  t.test('every field of the seed and the reference is known, and null means unset', async (t) => {
    const all = {
      min_balance: '0',
      gas_limit_estimation: false,
      gas_price_cap: LARGEST,
      whitelist_receivers: [RECEIVER],
      eip1559_pricing: false,
      private_transactions: true,
      private_blocks: 25,
      private_then: 'public',
      include_revert_data: true,
    };
    t.same(policySchema.parse(all), { ...all, min_balance: 0 });
    const unset = Object.fromEntries(Object.keys(all).map((key) => [key, null]));
    t.same(policySchema.parse(unset), {});
  });

  t.test('what is not such a policy is refused by name', async (t) => {
    for (const [policy, said] of [
      [{ gas_price_cp: 1 }, /gas_price_cp/],
      [{ min_balance: -1 }, /must not be negative/],
      [{ min_balance: 1.5 }, /expected an integer/],
      [{ gas_price_cap: (1n << 128n).toString() }, /at most 128 bits/],
      [{ whitelist_receivers: ['0x12'] }, /0x12.* is not an address/],
      [{ whitelist_receivers: Array.from({ length: 500_000 }, () => 0) }, /at most 4096 receivers/],
      [{ eip1559_pricing: 'no' }, /boolean/],
      [{ private_blocks: 0 }, /private_blocks/],
      [{ private_then: 'never' }, /wait/],
      [[], /object/],
    ] as const) {
      const { error } = policySchema.safeParse(policy);
      t.match(error?.message, said);
    }
  });

  t.test('the adapter works with defaults, answers show them', async (t) => {
    t.match(readPolicy({}), {
      minBalance: 1n,
      gasLimitEstimation: true,
      gasPriceCap: { cap: null },
      whitelistReceivers: null,
      eip1559Pricing: null,
      privateTransactions: false,
      privateBlocks: 25,
      privateThen: 'wait',
      includeRevertData: true,
    });
    t.match(readPolicy({ include_revert_data: false }), { includeRevertData: false });
    t.match(readPolicy({ whitelist_receivers: [RECEIVER] }), { whitelistReceivers: [RECEIVER.toLowerCase()] });
    t.equal(policyView({}), undefined, 'nothing set, nothing shown');
    t.same(policyView({ gas_price_cap: LARGEST }), {
      min_balance: 1n,
      gas_limit_estimation: true,
      gas_price_cap: BigInt(LARGEST),
      include_revert_data: true,
    });
    t.equal(readPolicy({ min_balance: '10000000000000000000' }).minBalance, 10n ** 19n);
  });

  t.test('private transactions are not promised where they would be public', async (t) => {
    t.equal(
      networkPolicyFault({ private_transactions: true }, 'sepolia'),
      'private_transactions is not supported on network sepolia: its entry in the configuration has no private_rpc_urls',
    );
    t.equal(
      networkPolicyFault({ private_transactions: true }, 'sepolia', { private_rpc_urls: ['https://relay.example'] }),
      null,
    );
    t.match(
      networkPolicyFault({ private_blocks: 3 }, 'sepolia'),
      /private_blocks has no effect without private_transactions/,
    );
    t.match(networkPolicyFault({ private_then: 'wait' }, 'sepolia'), /private_then has no effect/);
    const set = { private_transactions: true, private_blocks: 3, private_then: 'public' };
    t.match(readPolicy(set), { privateTransactions: true, privateBlocks: 3, privateThen: 'public' });
    t.equal(networkPolicyFault({ private_transactions: false }, 'sepolia'), null);
    t.equal(networkPolicyFault({}, 'sepolia'), null);
  });
});
