import { createAssociatedTokenAccountIdempotentInstruction } from '@solana/spl-token';
import { PublicKey, TransactionMessage } from '@solana/web3.js';
import t, { type Test } from 'tap';
import { decodeMessage } from '../../../../../../src/chains/solana/message/compiled-message.ts';
import {
  associatedAccount,
  createAssociated,
  rentPaid,
} from '../../../../../../src/chains/solana/tokens/associated.ts';
import { readMint } from '../../../../../../src/chains/solana/tokens/mint.ts';
import { keyOf, openSolana } from '../../../../../support/solana-node.ts';
import { accountOf, MINT, relayerAddress, TOKENS, userAddress } from '../../../../../support/sponsor-scene.ts';
import { mintAccount } from '../../../../../support/token-accounts.ts';

const RENT = BigInt((165 + 128) * 6_960);

const creation = (payer: string, owner: string) =>
  createAssociatedTokenAccountIdempotentInstruction(
    ...([new PublicKey(payer), new PublicKey(accountOf(owner)), new PublicKey(owner), new PublicKey(MINT)] as const),
  );

async function rentOf(t: Test, ...instructions: ReturnType<typeof creation>[]): Promise<bigint> {
  const draft = { payerKey: new PublicKey(relayerAddress), recentBlockhash: keyOf(7), instructions };
  const message = decodeMessage(new TransactionMessage(draft).compileToLegacyMessage().serialize());
  const { rpc } = await openSolana(t, { accounts: TOKENS });
  return rpc.onOne((read) => rentPaid(read, message, message.keys));
}

t.test('an account is made as the public client makes it', async (t) => {
  const { owner, data } = mintAccount(6);
  const mint = readMint(MINT, { lamports: 1n, owner, isExecutable: false, data });
  if (mint === undefined) throw new Error('it is one');
  const theirs = creation(relayerAddress, userAddress);
  t.strictSame(createAssociated(relayerAddress, userAddress, mint), theirs);
  t.equal(associatedAccount(userAddress, mint), accountOf(userAddress));
});

t.test('rent is for every account that the relayer pays for, but its own that is there', async (t) => {
  t.equal(await rentOf(t), 0n);
  t.equal(await rentOf(t, creation(relayerAddress, userAddress)), RENT, 'it may be closed by then');
  t.equal(await rentOf(t, creation(relayerAddress, keyOf(50)), creation(relayerAddress, keyOf(51))), 2n * RENT);
  const again = [creation(relayerAddress, userAddress), creation(relayerAddress, userAddress)];
  t.equal(await rentOf(t, ...again), 2n * RENT, 'it may be closed in between');
  t.equal(await rentOf(t, creation(relayerAddress, relayerAddress)), 0n);
  t.equal(await rentOf(t, creation(userAddress, keyOf(50))), 0n, 'somebody else pays');
});
