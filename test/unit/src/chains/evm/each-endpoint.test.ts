import t, { type Test } from 'tap';
import { onEach, onEachInTime } from '../../../../../src/chains/evm/each-endpoint.ts';
import { gasPrice } from '../../../../../src/chains/evm/provider.ts';
import { openRpc } from '../../../../support/evm.ts';
import { answersByMethod, type DoubleHandler, startRpcDouble } from '../../../../support/rpc-double.ts';

async function world(t: Test, ...handlers: DoubleHandler[]) {
  const doubles = await Promise.all(handlers.map((handler) => startRpcDouble(handler)));
  const rpc = openRpc(
    doubles.map(({ url }) => url),
    { timeoutMs: 20_000, tries: 1 },
  );
  t.teardown(() => Promise.all([rpc.close(), ...doubles.map((one) => one.stop())]));
  return { rpc, doubles };
}

const node = (price: unknown, chain = '0x1') => answersByMethod({ eth_chainId: chain, eth_gasPrice: price });

t.test('what each node of the chain says, without those that fail', async (t) => {
  const { rpc, doubles } = await world(t, node('0x5'), node('0x6', '0x2'), node('cheap'), () => 'hang-up', node('0x7'));
  const twice = async (read: Parameters<typeof gasPrice>[0]) => [await gasPrice(read), await gasPrice(read)];
  t.same(await onEach(1n, rpc, twice), [
    [5n, 5n],
    [7n, 7n],
  ]);
  t.equal(doubles[0]?.calls.filter(({ method }) => method === 'eth_gasPrice').length, 1, 'each is asked once');
});

t.test('one that hangs is not waited for beyond the bound', async (t) => {
  const { promise, resolve } = Promise.withResolvers<'hang-up'>();
  const { rpc } = await world(t, node('0x5'), () => promise);
  t.same(await onEach(1n, rpc, gasPrice, 20), []);
  resolve('hang-up');
});

t.test('those that answered in time count without one that hangs', async (t) => {
  const { promise, resolve } = Promise.withResolvers<'hang-up'>();
  const { rpc } = await world(t, node('0x5'), () => promise, node('0x6', '0x2'), node('cheap'), node('0x7'));
  t.same(await onEachInTime(1n, rpc, gasPrice, 2_000), [5n, 7n]);
  resolve('hang-up');
  t.same(await onEachInTime(1n, rpc, gasPrice), [5n, 7n], 'nothing is waited for where all have answered or failed');
});
