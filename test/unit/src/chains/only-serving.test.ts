// An endpoint can move to another chain at any time. Its figures for the account then look valid, but are wrong.
import t, { type Test } from 'tap';
import { onlyServing } from '../../../../src/chains/only-serving.ts';
import { type ReadOne, RpcError } from '../../../../src/egress/rpc/rpc-client.ts';
import { openRpc } from '../../../support/evm.ts';
import { answersByMethod, type DoubleHandler, startRpcDouble } from '../../../support/rpc-double.ts';

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
  const rpc = onlyServing(all, { method: 'chain', served, chain: OURS });
  const asked = (place: number) => doubles[place]?.calls.map(({ method }) => method).toSorted();
  return { rpc, asked };
}

const place = (read: ReadOne) => read('place', [], Number);

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
  await onlyServing(all, asked).onOne(place);
  await onlyServing(all, { ...asked, params: [1] }).onOne(place);
  const questions = double.calls.filter(({ method }) => method === 'chain');
  t.strictSame(
    questions.map(({ params }) => params),
    [[], [1]],
  );
});
