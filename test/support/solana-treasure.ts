import {
  createAssociatedTokenAccountInstruction,
  createInitializeMintInstruction,
  createMintToInstruction,
  getAssociatedTokenAddressSync,
  MINT_SIZE,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import {
  Keypair,
  NONCE_ACCOUNT_LENGTH,
  type PublicKey,
  SYSVAR_RECENT_BLOCKHASHES_PUBKEY,
  SYSVAR_RENT_PUBKEY,
  SystemProgram,
} from '@solana/web3.js';
import type { SvmScene } from './svm-scene.ts';

/**
 * A relayer that owns something of each kind, an attacker, and the accounts that the attacker's instructions could
 * name.
 */
export async function treasureOf(scene: SvmScene) {
  const { svm, connection, funded } = scene;
  const [relayer, attacker] = [await funded(), await funded()];
  const pool: PublicKey[] = [relayer.publicKey, attacker.publicKey, Keypair.generate().publicKey];
  const tokens: PublicKey[] = [];
  await svm.tick();
  for (const program of [TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID]) {
    const mint = Keypair.generate();
    const lamports = await connection.getMinimumBalanceForRentExemption(MINT_SIZE);
    const own = getAssociatedTokenAddressSync(mint.publicKey, relayer.publicKey, false, program);
    const other = getAssociatedTokenAddressSync(mint.publicKey, attacker.publicKey, false, program);
    const creation = { fromPubkey: attacker.publicKey, newAccountPubkey: mint.publicKey, space: MINT_SIZE, lamports };
    await scene.land(
      await scene.signed(
        [attacker, mint],
        SystemProgram.createAccount({ ...creation, programId: program }),
        createInitializeMintInstruction(mint.publicKey, 6, attacker.publicKey, null, program),
        createAssociatedTokenAccountInstruction(attacker.publicKey, own, relayer.publicKey, mint.publicKey, program),
        createAssociatedTokenAccountInstruction(attacker.publicKey, other, attacker.publicKey, mint.publicKey, program),
        createMintToInstruction(mint.publicKey, own, attacker.publicKey, 1_000, [], program),
        createMintToInstruction(mint.publicKey, other, attacker.publicKey, 1_000, [], program),
      ),
    );
    tokens.push(own);
    pool.push(own, other, mint.publicKey, program);
  }
  const nonce = Keypair.generate();
  const lamports = await connection.getMinimumBalanceForRentExemption(NONCE_ACCOUNT_LENGTH);
  const { instructions } = SystemProgram.createNonceAccount({
    fromPubkey: attacker.publicKey,
    noncePubkey: nonce.publicKey,
    lamports,
    authorizedPubkey: relayer.publicKey,
  });
  await scene.land(await scene.signed([attacker, nonce], ...instructions));
  pool.push(nonce.publicKey, SystemProgram.programId, SYSVAR_RECENT_BLOCKHASHES_PUBKEY, SYSVAR_RENT_PUBKEY);
  return {
    relayer,
    attacker,
    pool,
    async state() {
      const accounts = await connection.getMultipleAccountsInfo(
        [relayer.publicKey, ...tokens, nonce.publicKey],
        'processed',
      );
      const [wallet, ...owned] = accounts;
      const shown = owned.map((account, index) => {
        // Compares only the owned part: a mint can freeze an account, and a nonce can advance.
        const data = account?.data.subarray(0, index < tokens.length ? 72 : 40).toString('hex');
        return [`account ${index + 1}`, `${account?.owner.toBase58()} ${data}`];
      });
      const kept = {
        wallet: wallet?.owner.toBase58() ?? 'gone',
        ...(Object.fromEntries(shown) as Record<string, string>),
      };
      return { lamports: wallet?.lamports ?? 0, owned: kept as Record<string, string> };
    },
  };
}
