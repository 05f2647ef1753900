import t, { type Test } from 'tap';
import {
  findServedChain,
  onlyEndpointsServing,
  providerFailedError,
  withProviderErrors,
} from '../../../../src/chains/served-chain.ts';
import { type ReadFromEndpoint, type RpcClient, RpcError } from '../../../../src/egress/rpc/rpc-client.ts';
import { openRpc } from '../../../support/evm.ts';
import { answersByMethod, type DoubleHandler, startRpcDouble } from '../../../support/rpc-double.ts';

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
  const chain = findServedChain(network, rpc, { method: 'm', served, what: 'genesis hash', expected, onServed });
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
  await findServedChain(network, rpc, question);
  await findServedChain(network, rpc, { ...question, params: null });
  t.strictSame(asked, [
    ['m', []],
    ['m', null],
  ]);
});

// An endpoint can move to another chain at any time. Its figures for the account then look valid, but are wrong.
t.test('only serving', async (t) => {
  const OURS = 'chain of ours';

  /**
   * One endpoint for each of the given chains; its answers carry its position. Only endpoints of our chain are believed.
   */
  async function open(t: Test, ...chains: (string | DoubleHandler)[]) {
    const handlers = chains.map((chain, place) =>
      typeof chain === 'function' ? chain : answersByMethod({ chain, place, send: place }),
    );
    const doubles = await Promise.all(handlers.map((handler) => startRpcDouble(handler)));
    const all = openRpc(doubles.map(({ url }) => url));
    t.teardown(() => Promise.all([all.close(), ...doubles.map((double) => double.stop())]));
    const served = (answer: unknown) => String(answer);
    const rpc = onlyEndpointsServing(all, { method: 'chain', served, chain: OURS });
    const asked = (place: number) => doubles[place]?.calls.map(({ method }) => method).toSorted();
    return { rpc, asked };
  }

  const place = (read: ReadFromEndpoint) => read('place', [], Number);

  t.test('a figure of another chain is nobody’s', async (t) => {
    const { rpc, asked } = await open(t, 'another', OURS);
    t.equal(await rpc.onOne(place), 1);
    t.equal(await rpc.onOne(place), 1);
    t.strictSame(asked(0), ['chain', 'place'], 'who is of another chain is left alone');
    const all = await Promise.allSettled(rpc.onAll(place));
    t.match(all, [
      { status: 'rejected', reason: { message: /it serves chain another, not chain of ours/ } },
      { value: 1 },
    ]);
    const strays = await open(t, 'another');
    await t.rejects(strays.rpc.onOne(place), { name: 'RpcError', kind: 'malformed' });
  });

  t.test('others are asked what they serve as well', async (t) => {
    const { rpc } = await open(t, OURS, 'another', OURS);
    const [first, others] = await rpc.onOne(async (read) => {
      const opinions = await Promise.allSettled(rpc.onOthers(read, place));
      return [await place(read), opinions] as const;
    });
    t.equal(first, 0);
    t.match(others, [{ status: 'rejected' }, { value: 2 }]);
  });

  t.test(
    'nothing is offered to an endpoint of another chain, nor to one that does not say which it serves',
    async (t) => {
      const silent: DoubleHandler = (call) =>
        call.method === 'chain' ? { status: 500 } : { result: 'taken all the same' };
      const { rpc, asked } = await open(t, 'another', OURS, silent);
      const rows = await rpc.offerEach('send', [['bytes']]);
      t.match(
        rows.map(([answer]) => (answer?.status === 'rejected' ? answer.reason : answer)),
        [RpcError, { value: 1 }, RpcError],
      );
      for (const stray of [0, 2]) t.notOk(asked(stray)?.includes('send'));
      const answers = await rpc.each('place', []);
      t.match(answers, [{ status: 'rejected' }, { value: 1 }, { status: 'rejected' }]);
    },
  );

  t.test('what a chain is called is asked with the family’s own parameters', async (t) => {
    const double = await startRpcDouble(answersByMethod({ chain: OURS, place: 0 }));
    const all = openRpc([double.url]);
    t.teardown(() => Promise.all([all.close(), double.stop()]));
    const asked = { method: 'chain', served: String, chain: OURS };
    await onlyEndpointsServing(all, asked).onOne(place);
    await onlyEndpointsServing(all, { ...asked, params: [1] }).onOne(place);
    const questions = double.calls.filter(({ method }) => method === 'chain');
    t.strictSame(
      questions.map(({ params }) => params),
      [[], [1]],
    );
  });
});

t.test('failures of the endpoints get the service’s form, others stay what they are', async (t) => {
  const fault = new RangeError('a fault of our own');
  await t.rejects(
    withProviderErrors('sepolia', async () => {
      throw new RpcError('timeout', 'https://rpc.example.com: no answer within 10000 ms');
    }),
    {
      code: 'PROVIDER_FAILED',
      message: 'The RPC endpoints of network sepolia failed: https://rpc.example.com: no answer within 10000 ms',
    },
  );
  await t.rejects(
    withProviderErrors('sepolia', () => Promise.reject(fault)),
    fault,
  );
  t.equal(await withProviderErrors('sepolia', async () => 7), 7);
  t.match(providerFailedError('sepolia', 'why'), { details: { network: 'sepolia', reason: 'why' } });
});
