import t, { type Test } from 'tap';
import { chainIdOf, identityOf, restartable } from '../../../../../src/chains/evm/chain-identity.ts';
import { openRpc } from '../../../../support/evm.ts';
import { answersByMethod, startRpcDouble } from '../../../../support/rpc-double.ts';

/** The identity of a chain as one node shows it, and how often that node was asked for a block. */
async function identityOn(t: Test, chainId: bigint, genesis: string | null) {
  const block = genesis === null ? null : { number: '0x0', hash: genesis, transactions: [] };
  const node = await startRpcDouble(
    answersByMethod({ eth_chainId: `0x${chainId.toString(16)}`, eth_getBlockByNumber: block }),
  );
  const rpc = openRpc([node.url]);
  t.teardown(() => Promise.all([rpc.close(), node.stop()]));
  const identity = await identityOf(rpc, chainId);
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
  t.equal(restartable('31337@aaaaaaaaaaaaaaaa'), '31337');
  t.equal(restartable('31337'), '31337');
  t.equal(restartable('1'), undefined);
  t.end();
});
