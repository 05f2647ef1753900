import t from 'tap';
import { networkSchema, readSettings } from '../../../../../../src/chains/evm/configuration/network.ts';
import type { PrepareParts } from '../../../../../../src/chains/evm/prepare.ts';
import type { Market } from '../../../../../../src/chains/evm/price/market.ts';
import { noopGas, noopRequest, withinLimit } from '../../../../../../src/chains/evm/price/noop.ts';
import { readRequest } from '../../../../../../src/chains/evm/schema.ts';
import type { JsonObject } from '../../../../../../src/domain/json/json.ts';
import { RpcError } from '../../../../../../src/egress/rpc/rpc-client.ts';

const FROM = '0x00000000000000000000000000000000000000a1';
const account = { address: FROM, policies: {} };

/**
 * Parts whose nodes give these estimates: `one` from a single node, `all` as the median. Null: the node cannot
 * estimate.
 */
function partsOf(one: bigint | null, all = one, settings: JsonObject = {}): PrepareParts {
  return {
    figure: () => Promise.reject(new Error('not asked')),
    estimate: async (_call, of) => {
      const used = of === 'all' ? all : one;
      if (used === null) throw new RpcError('node', 'method not found');
      return { kind: 'gas', used };
    },
    settings: readSettings({ type: 'evm', name: 'x', rpcUrls: [], settings: networkSchema.parse(settings) }),
    chainId: 1n,
    market: () => Promise.reject(new Error('not asked')),
    balance: () => Promise.reject(new Error('not asked')),
    endpoints: { endpointCount: 1, onAll: () => [] },
  };
}

const gas = async (parts: PrepareParts) => (await noopGas(parts, account)).limit;

t.test('it pays the account nothing and calls nobody', async (t) => {
  t.match(readRequest(noopRequest(account)), { to: FROM, value: 0n, gasLimit: null, accessList: [] });
});

t.test('its gas is that of a transfer, or what the chain takes for one', async (t) => {
  t.equal(await gas(partsOf(21_000n)), 21_000n);
  t.equal(await gas(partsOf(30_000n)), 33_000n, 'with a tenth on top');
  t.equal(await gas(partsOf(null)), 21_000n, 'the node cannot say');
  t.equal(await gas(partsOf(null, null, { tags: ['arbitrum-based'] })), 50_000n);
});

t.test('what all nodes estimate counts', async (t) => {
  t.equal(await gas(partsOf(10_000_000n, 21_000n)), 21_000n);
});

t.test('it fits into a block, and is never less than nodes take', async (t) => {
  const within = (gasLimit: bigint) => withinLimit(90_000n, { block: { gasLimit } } as Market);
  t.equal(within(80_000n), 80_000n);
  t.equal(within(1_000n), 21_000n);
  t.equal(within(0n), 90_000n, 'a block without a limit says nothing');
});
