import t, { type Test } from 'tap';
import {
  balanceOnChain,
  chainIdentityOf,
  chainIdOf,
  readChainId,
  restartableChainId,
} from '../../../../../src/chains/evm/chain-identity.ts';
import { openRpc } from '../../../../support/evm.ts';
import { answersByMethod, type DoubleHandler, type RpcDouble, startRpcDouble } from '../../../../support/rpc-double.ts';

const ADDRESS = '0x00000000000000000000000000000000000000b0';
const SILENT: DoubleHandler = () => 'hang-up';

/** Starts one endpoint for each handler, in order, and a client over them. */
async function stage(t: Test, handlers: readonly DoubleHandler[]) {
  const doubles: RpcDouble[] = [];
  for (const handler of handlers) doubles.push(await startRpcDouble(handler));
  const urls = doubles.map(({ url }) => url);
  const rpc = openRpc(urls);
  t.teardown(() => Promise.all([rpc.close(), ...doubles.map((double) => double.stop())]));
  const network = {
    type: 'evm' as const,
    name: 'testnet',
    rpcUrls: urls.map((url) => ({ url: `${url}/v3/secret`, weight: 100 })),
    settings: {},
  };
  const served: [number, bigint][] = [];
  const onServed = (host: string, chain: bigint) =>
    served.push([doubles.findIndex(({ port }) => host === `127.0.0.1:${port}`), chain]);
  return { doubles, rpc, network, served, onServed };
}

const serving = (chain: number, wei = 0n): DoubleHandler =>
  answersByMethod({ eth_chainId: `0x${chain.toString(16)}`, eth_getBalance: `0x${wei.toString(16)}` });

t.test('one endpoint of the expected chain is enough, and every answer is told', async (t) => {
  const { rpc, network, served, onServed } = await stage(t, [serving(5), SILENT, serving(1), serving(7)]);
  t.equal(await readChainId(network, rpc, { expected: 1n, onServed }), 1n);
  t.strictSame(served, [
    [0, 5n],
    [2, 1n],
    [3, 7n],
  ]);
});

t.test('none of the expected chain is a failure that names one and what it serves', async (t) => {
  const { rpc, network, served, onServed, doubles } = await stage(t, [SILENT, serving(5)]);
  await t.rejects(readChainId(network, rpc, { expected: 1n, onServed }), {
    code: 'PROVIDER_FAILED',
    message: `The RPC endpoints of network testnet failed: 127.0.0.1:${doubles[1]?.port} serves chain 5, not 1`,
  });
  t.strictSame(served, [[1, 5n]]);
});

t.test('endpoints that disagree while nothing is expected are a failure: nobody can know', async (t) => {
  const { rpc, network, onServed } = await stage(t, [serving(1), serving(1), serving(5)]);
  await t.rejects(readChainId(network, rpc, { expected: null, onServed }), { message: /serves chain 5, not 1$/ });
});

t.test('those that agree are believed, whoever is silent or talks nonsense', async (t) => {
  const { rpc, network, onServed } = await stage(t, [
    SILENT,
    serving(8),
    answersByMethod({ eth_chainId: 'mainnet' }),
    serving(8),
  ]);
  t.equal(await readChainId(network, rpc, { expected: null, onServed }), 8n);
});

t.test('no answer at all is a failure without the path of an endpoint', async (t) => {
  const silent = await stage(t, [SILENT]);
  const failure = await readChainId(silent.network, silent.rpc, { expected: 1n, onServed: silent.onServed }).catch(
    String,
  );
  t.match(failure, /network testnet failed/);
  t.notMatch(failure, /secret/);
  t.strictSame(silent.served, []);
  const nonsense = await stage(t, [answersByMethod({ eth_chainId: 7 })]);
  await t.rejects(readChainId(nonsense.network, nonsense.rpc, { expected: null, onServed: nonsense.onServed }), {
    message: /has no chain id$/,
  });
  const none = await stage(t, []);
  await t.rejects(readChainId(none.network, none.rpc, { expected: null, onServed: none.onServed }), {
    message: /no endpoint is switched on$/,
  });
});

t.test('once one answer falls short, the middle one of its chain counts, of two the higher', async (t) => {
  const question = { chain: 1n, address: ADDRESS };
  const lying = await stage(t, [serving(1, 0n), serving(5, 99n), serving(1, 7n), SILENT]);
  t.equal(await balanceOnChain(lying.rpc, { ...question, least: 3n }), 7n);
  t.equal(await balanceOnChain(lying.rpc, { ...question, least: 8n }), 7n, 'the richer one is of another chain');
  const poor = await stage(t, [serving(1, 2n), serving(1, 1n)]);
  t.equal(await balanceOnChain(poor.rpc, { ...question, least: 3n }), 2n);
  const boasting = await stage(t, [serving(1, 2n), serving(1, 1n), serving(1, 99n)]);
  t.equal(await balanceOnChain(boasting.rpc, { ...question, least: 3n }), 2n, 'one makes no account rich');
});

t.test('one answer that is enough is all that is asked for', async (t) => {
  const { rpc, doubles } = await stage(t, [serving(1, 3n), serving(1, 9n)]);
  t.equal(await balanceOnChain(rpc, { chain: 1n, address: ADDRESS, least: 3n }), 3n);
  t.equal(await balanceOnChain(rpc, { chain: 1n, address: ADDRESS, least: undefined }), 3n);
  t.equal(doubles[1]?.calls.length, 0);
});

t.test(
  'an endpoint of another chain is not believed about a balance; any is while the chain is not known',
  async (t) => {
    const { rpc } = await stage(t, [serving(5, 4n), serving(1, 3n)]);
    t.equal(await balanceOnChain(rpc, { chain: 1n, address: ADDRESS, least: undefined }), 3n);
    const unknown = await stage(t, [serving(5, 4n)]);
    t.equal(await balanceOnChain(unknown.rpc, { chain: null, address: ADDRESS, least: 1n }), 4n);
  },
);

t.test('one endpoint of many that answers is found, and none is the failure of the endpoints', async (t) => {
  const { rpc } = await stage(t, [...Array.from({ length: 12 }, () => SILENT), serving(1, 3n)]);
  t.equal(await balanceOnChain(rpc, { chain: 1n, address: ADDRESS, least: 1n }), 3n);
  const gone = await stage(t, [SILENT, SILENT]);
  await t.rejects(balanceOnChain(gone.rpc, { chain: 1n, address: ADDRESS, least: 1n }), { name: 'RpcError' });
});

t.test('chain identity', async (t) => {
  /** The identity of a chain as one node shows it, and how often that node was asked for a block. */
  async function identityOn(t: Test, chainId: bigint, genesis: string | null) {
    const block = genesis === null ? null : { number: '0x0', hash: genesis, transactions: [] };
    const node = await startRpcDouble(
      answersByMethod({ eth_chainId: `0x${chainId.toString(16)}`, eth_getBlockByNumber: block }),
    );
    const rpc = openRpc([node.url]);
    t.teardown(() => Promise.all([rpc.close(), node.stop()]));
    const identity = await chainIdentityOf(rpc, chainId);
    return { identity, asked: node.calls.filter(({ method }) => method === 'eth_getBlockByNumber').length };
  }

  const hashOf = (digit: string) => `0x${digit.repeat(64)}`;

  t.test('a chain is known by its id, one for development also by its first block', async (t) => {
    t.strictSame(await identityOn(t, 1n, hashOf('a')), { identity: '1', asked: 0 });
    for (const chainId of [31_337n, 1337n]) {
      const [one, other] = [await identityOn(t, chainId, hashOf('a')), await identityOn(t, chainId, hashOf('b'))];
      t.strictSame(one, { identity: `${chainId}@aaaaaaaaaaaaaaaa`, asked: 1 });
      t.strictSame(other, { identity: `${chainId}@bbbbbbbbbbbbbbbb`, asked: 1 });
      t.equal((await identityOn(t, chainId, null)).identity, String(chainId), 'where the node shows none');
    }
  });

  t.test('an identity tells its chain id, and whether its chain can be started anew', (t) => {
    t.equal(chainIdOf('31337@aaaaaaaaaaaaaaaa'), 31_337n);
    t.equal(chainIdOf('1'), 1n);
    t.equal(restartableChainId('31337@aaaaaaaaaaaaaaaa'), '31337');
    t.equal(restartableChainId('31337'), '31337');
    t.equal(restartableChainId('1'), undefined);
    t.end();
  });
});
