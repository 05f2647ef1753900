// A node that misstates how long a blockhash is valid can cause a second signature while the first can still land.
import t, { type Test } from 'tap';
import { lastHeight } from '../../../../../../src/chains/solana/inclusion/chain-height.ts';
import { openRpc } from '../../../../../support/evm.ts';
import { answersByMethod, type DoubleHandler, startRpcDouble } from '../../../../../support/rpc-double.ts';

/**
 * The last valid height for a blockhash that the first node calls valid until `told`. The others are at these heights.
 */
async function lastAmong(t: Test, told: bigint, ...others: (number | DoubleHandler)[]): Promise<bigint | string> {
  const handlers = [0, ...others].map((height) =>
    typeof height === 'function'
      ? height
      : answersByMethod({ getEpochInfo: { absoluteSlot: height + 5_000, blockHeight: height } }),
  );
  const doubles = await Promise.all(handlers.map((handler) => startRpcDouble(handler)));
  const rpc = openRpc(doubles.map(({ url }) => url));
  t.teardown(() => Promise.all([rpc.close(), ...doubles.map((double) => double.stop())]));
  return await rpc.onOne(async (read) => {
    await read('getEpochInfo', [], (answer) => answer);
    return await lastHeight(rpc, read, told).catch(({ name, message }: Error) => `${name}: ${message}`);
  });
}

t.test('one node alone is believed', async (t) => {
  t.equal(await lastAmong(t, 10n ** 12n), 10n ** 12n);
});

t.test('others that are a little ahead bear out a later end, and none an earlier one', async (t) => {
  t.equal(await lastAmong(t, 1_150n, 1_003), 1_153n);
  t.equal(await lastAmong(t, 1_150n, 990), 1_150n);
  t.equal(await lastAmong(t, 1_150n, 2_000), 2_150n, 'the furthest that is still near');
});

t.test('who is far from every other one that answers is not believed', async (t) => {
  t.equal(await lastAmong(t, 1_150n, 2_001), 'EndpointUnfit: it is near height 1000, and others at 2001');
  t.equal(await lastAmong(t, 2_151n, 1_000), 'EndpointUnfit: it is near height 2001, and others at 1000');
  t.equal(await lastAmong(t, 1_150n, 10 ** 9, 1_001), 1_151n, 'one of several may be wrong');
});

t.test('silence denies nothing', async (t) => {
  t.equal(await lastAmong(t, 1_150n, () => ({ status: 503 })), 1_150n);
});
