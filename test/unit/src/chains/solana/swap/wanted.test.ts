import t from 'tap';
import { swapsOf } from '../../../../../../src/chains/solana/swap/wanted.ts';
import { openSolana } from '../../../../../support/solana-node.ts';
import { MINT, relayerAddress } from '../../../../../support/sponsor-scene.ts';
import { SWAP_ACCOUNTS, SWAP_POLICIES } from '../../../../../support/swap-scene.ts';

t.test('a swap of each token that there is, and none without a strategy', async (t) => {
  const { rpc } = await openSolana(t, { accounts: SWAP_ACCOUNTS });
  const account = { address: relayerAddress, policies: SWAP_POLICIES };
  t.strictSame(await swapsOf(rpc, account), [
    {
      request: { swap: { mint: MINT } },
      validUntil: null,
      contentKey: `swap:${MINT}`,
      anchorKind: 'none',
      onDeath: 'renew',
    },
  ]);
  t.strictSame(
    await swapsOf(rpc, { ...account, policies: { ...SWAP_POLICIES, swap_config: { strategy: 'noop' } } }),
    [],
  );
});
