import t from 'tap';
import { servedChain } from '../../../../src/chains/served-chain.ts';
import { type RpcClient, RpcError } from '../../../../src/egress/rpc/rpc-client.ts';

const DOWN = new RpcError('transport', 'connection refused');

/** The judgment when endpoints, in this order, report these chains. Null: the endpoint is switched off. */
function ask(said: readonly (string | number | Error | null)[], expected: string | null = null) {
  const rpcUrls = said.map((one, index) => ({
    url: `http://node${index}.test:8899/v1/secret?key=secret`,
    weight: one === null ? 0 : 100,
  }));
  const answers = said.flatMap((one): PromiseSettledResult<string | number>[] => {
    if (one === null) return [];
    return [one instanceof Error ? { status: 'rejected', reason: one } : { status: 'fulfilled', value: one }];
  });
  const told: [string, string][] = [];
  const rpc = { each: async () => answers } as unknown as RpcClient;
  const served = (answer: unknown) => {
    if (typeof answer !== 'string') throw new TypeError('not a text');
    return answer;
  };
  const network = { type: 'solana', name: 'net', rpcUrls, settings: {} } as const;
  const onServed = (host: string, chain: string) => told.push([host, chain]);
  const chain = servedChain(network, rpc, { method: 'm', served, what: 'genesis hash', expected, onServed });
  return { chain, told };
}

t.test('one endpoint of the expected chain is enough, and every answer is told with its host', async (t) => {
  const { chain, told } = ask(['theirs', null, DOWN, 'ours', 5], 'ours');
  t.equal(await chain, 'ours');
  t.strictSame(told, [
    ['node0.test:8899', 'theirs'],
    ['node3.test:8899', 'ours'],
  ]);
});

t.test('where nothing is expected, those that answer have to agree', async (t) => {
  t.equal(await ask(['ours', DOWN, 'ours', 5]).chain, 'ours');
  await t.rejects(ask(['ours', 'ours', 'theirs']).chain, {
    code: 'PROVIDER_FAILED',
    message: 'The RPC endpoints of network net failed: node2.test:8899 serves chain theirs, not ours',
  });
});

t.test('who serves no right chain is named without its path', async (t) => {
  const failures: [ReturnType<typeof ask>, RegExp][] = [
    [ask(['theirs', DOWN], 'ours'), /node0\.test:8899 serves chain theirs, not ours$/],
    [ask([DOWN]), /connection refused$/],
    [ask([DOWN, 5]), /node1\.test:8899 has no genesis hash$/],
    [ask([null]), /no endpoint is switched on$/],
    [ask([]), /no endpoint is switched on$/],
  ];
  for (const [{ chain }, reason] of failures) {
    const failure = await chain.catch(String);
    t.match(failure, reason);
    t.notMatch(failure, /secret/);
  }
});

t.test('it is asked with the family’s own parameters', async (t) => {
  const asked: unknown[] = [];
  const each = async (...question: unknown[]) => {
    asked.push(question);
    return [{ status: 'fulfilled', value: 'ours' }];
  };
  const rpc = { each } as unknown as RpcClient;
  const rpcUrls = [{ url: 'http://n.test', weight: 1 }];
  const network = { type: 'stellar', name: 'net', rpcUrls, settings: {} } as const;
  const question = { method: 'm', served: String, what: 'passphrase', expected: null, onServed: () => {} };
  await servedChain(network, rpc, question);
  await servedChain(network, rpc, { ...question, params: null });
  t.strictSame(asked, [
    ['m', []],
    ['m', null],
  ]);
});
