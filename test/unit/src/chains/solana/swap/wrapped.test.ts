import { getAssociatedTokenAddressSync, NATIVE_MINT } from '@solana/spl-token';
import t from 'tap';
import { wrappedAccount } from '../../../../../../src/chains/solana/swap/wrapped.ts';
import { relayerAddress } from '../../../../../support/sponsor-scene.ts';
import { RELAYER_KEY } from '../../../../../support/swap-scene.ts';

t.test('wrapped SOL is where everybody looks for it', async (t) => {
  t.equal(wrappedAccount(relayerAddress), getAssociatedTokenAddressSync(NATIVE_MINT, RELAYER_KEY).toBase58());
});
