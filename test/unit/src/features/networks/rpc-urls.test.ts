import '../../../../../src/domain/json/issue-text.ts';
import t, { type Test } from 'tap';
import { createChains } from '../../../../../src/chains/registry.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { createAddressGuard } from '../../../../../src/egress/address-guard.ts';
import {
  checkRpcAddresses,
  networkUrlsSchema,
  refuseOtherChain,
  relayerUrlsSchema,
} from '../../../../../src/features/networks/rpc-urls.ts';
import { EngineWorld } from '../../../../support/engine-world.ts';

const URL_ONE = 'https://rpc.example/v3/key';

t.test('an entry is an object with a url, and a weight of 0 to 100', (t) => {
  t.strictSame(relayerUrlsSchema.parse([{ url: URL_ONE }, { url: URL_ONE, weight: 0 }]), [
    { url: URL_ONE, weight: 100 },
    { url: URL_ONE, weight: 0 },
  ]);
  t.strictSame(relayerUrlsSchema.parse([]), []);
  for (const [entry, message] of [
    [{ url: 'ws://rpc.example' }, 'must be an http or https URL'],
    [{ url: 'https://rpc.example/***' }, /is hidden in part/],
    [{ url: `https://rpc.example/${'x'.repeat(2_048)}` }, 'must have at most 2048 characters'],
    [{ url: URL_ONE, weight: 101 }, 'RPC URL weight must be in range 0-100'],
    [{ url: URL_ONE, weight: 0 }, 'at least one weight must be above 0'],
    [URL_ONE, /expected an object/],
  ] as const) {
    t.match(relayerUrlsSchema.safeParse([entry]).error?.issues, [{ message }], JSON.stringify(entry).slice(0, 80));
  }
  t.match(relayerUrlsSchema.safeParse(Array(65).fill(0)).error?.issues, [{ message: 'must have at most 64 entries' }]);
  t.end();
});

t.test('a network’s may be bare URLs, and it has at least one', (t) => {
  t.strictSame(networkUrlsSchema.parse([URL_ONE, { url: URL_ONE, weight: 7 }]), [
    { url: URL_ONE, weight: 100 },
    { url: URL_ONE, weight: 7 },
  ]);
  t.match(networkUrlsSchema.safeParse([]).error?.issues, [{ message: /must contain at least one RPC endpoint/ }]);
  t.match(networkUrlsSchema.safeParse([{ url: URL_ONE, weight: 0 }]).error?.issues, [{ message: /above 0/ }]);
  t.end();
});

t.test('what the guard refuses is refused with its place', (t) => {
  const guard = createAddressGuard({ allowedHosts: [], blockPrivate: true });
  const urls = [URL_ONE, 'http://10.0.0.1/key'].map((url) => ({ url, weight: 1 }));
  t.throws(() => checkRpcAddresses(urls, guard, 'rpc_urls'), {
    code: 'INVALID_REQUEST',
    message: 'rpc_urls.1.url: Invalid RPC URL: 10.0.0.1 is refused: a private address',
  });
  checkRpcAddresses(urls.slice(0, 1), guard, 'custom_rpc_urls');
  t.end();
});

const SERVED = { networkType: 'evm', network: 'fake', customRpcUrls: null } as const;

async function stage(t: Test, told: string[]) {
  const world = await EngineWorld.open(t);
  const evm = createChains(systemClock).get('evm');
  if (evm === undefined) throw new Error('no EVM');
  world.client.identity = async (_expected, onServed = () => {}) => {
    for (const chain of told) onServed('rpc.example', chain);
    return told[0] ?? Promise.reject(new Error('no endpoint answers'));
  };
  const deps = { read: world.store.read, connections: { clientOf: () => world.client } };
  return (network: string) => refuseOtherChain(deps, evm, { ...SERVED, network }, 'rpc_urls');
}

t.test('endpoints of another chain are refused, those of the same and silent ones are not', async (t) => {
  await t.rejects((await stage(t, ['31337', '5']))('fake'), {
    code: 'INVALID_REQUEST',
    message: 'rpc_urls: the endpoints serve chain 5, but network fake is chain 31337',
  });
  await (await stage(t, ['31337']))('fake');
  await (await stage(t, []))('fake');
});

t.test('before the first contact with a network any chain may be its own', async (t) => {
  t.equal(await (await stage(t, ['5']))('unknown'), undefined);
});
