/** Known ways to drain a relayer whose users pay. Each is refused, and costs the relayer nothing. */
import {
  AuthorityType,
  createAssociatedTokenAccountInstruction,
  createCloseAccountInstruction,
  createInitializeAccount3Instruction,
  createInitializeMint2Instruction,
  createMintToInstruction,
  createSetAuthorityInstruction,
  createTransferInstruction,
  getAssociatedTokenAddressSync,
  MINT_SIZE,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import { Keypair, type PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import t from 'tap';
import { gaslessStage } from '../support/gasless-stage.ts';

const stage = await gaslessStage(t);
const { connection, funded, relayer, svm, usd, rent, built, pay, policies, post, user, land, signed, tickUntil } =
  stage;
await usd.give(relayer, 1n);
await policies({ allowed_tokens: [{ mint: usd.mint.toBase58() }] });

const UNPAID = /doesn't contain required fee payment instruction or payment amount is insufficient/;
const TOKEN_ACCOUNT = 165;

/** Posts a transaction. Expects a refusal and an unchanged balance. */
async function refused(t: Test, signers: Keypair[], instructions: TransactionInstruction[], reason: RegExp) {
  const before = await connection.getBalance(relayer);
  const { status, body } = await post({ transaction: await built(signers, ...instructions) });
  t.equal(status, 400);
  t.match(body.error, reason);
  await svm.tick(2);
  t.equal(await connection.getBalance(relayer), before);
}

type Test = typeof t;

const made = (payer: Keypair, account: Keypair): TransactionInstruction =>
  SystemProgram.createAccount({
    fromPubkey: payer.publicKey,
    newAccountPubkey: account.publicKey,
    lamports: rent,
    space: TOKEN_ACCOUNT,
    programId: TOKEN_PROGRAM_ID,
  });

const initialized = (account: Keypair, mint: PublicKey, owner: PublicKey): TransactionInstruction =>
  createInitializeAccount3Instruction(account.publicKey, mint, owner);

t.test('rent is paid for each time that an account is made, not for each account', async (t) => {
  const [wallet, owner] = [await user(), Keypair.generate()];
  const account = usd.accountOf(owner.publicKey);
  const rounds = Array.from({ length: 6 }, () => [
    createAssociatedTokenAccountInstruction(relayer, account, owner.publicKey, usd.mint),
    createCloseAccountInstruction(account, wallet.publicKey, owner.publicKey),
  ]).flat();
  const priceOfOne = BigInt(Math.ceil((15_000 + rent) / 5) + 1);
  await refused(t as Test, [wallet, owner], [pay(wallet, relayer, priceOfOne), ...rounds], UNPAID);
});

t.test('an account that somebody else can close is not the relayer’s to be paid into', async (t) => {
  const [wallet, payer, account] = [await user(), await funded(), Keypair.generate()];
  const ownedBy = (type: AuthorityType, owner: PublicKey) =>
    createSetAuthorityInstruction(account.publicKey, wallet.publicKey, type, owner);
  await land(
    await signed(
      [payer, account, wallet],
      made(payer, account),
      initialized(account, usd.mint, wallet.publicKey),
      ownedBy(AuthorityType.CloseAccount, wallet.publicKey),
      ownedBy(AuthorityType.AccountOwner, relayer),
    ),
  );
  const swap = [
    createCloseAccountInstruction(account.publicKey, payer.publicKey, wallet.publicKey),
    made(payer, account),
    initialized(account, usd.mint, wallet.publicKey),
    createTransferInstruction(usd.accountOf(wallet.publicKey), account.publicKey, wallet.publicKey, 10_000n),
  ];
  await refused(t as Test, [wallet, payer, account], swap, UNPAID);
});

t.test('an account that changes its token on the way pays nothing', async (t) => {
  const [wallet, payer, source, fake] = [await user(), await funded(), Keypair.generate(), Keypair.generate()];
  const own = getAssociatedTokenAddressSync(fake.publicKey, relayer, true);
  await land(
    await signed(
      [payer, fake],
      SystemProgram.createAccount({
        fromPubkey: payer.publicKey,
        newAccountPubkey: fake.publicKey,
        programId: TOKEN_PROGRAM_ID,
        space: MINT_SIZE,
        lamports: await connection.getMinimumBalanceForRentExemption(MINT_SIZE),
      }),
      createInitializeMint2Instruction(fake.publicKey, 6, payer.publicKey, null),
      createAssociatedTokenAccountInstruction(payer.publicKey, own, relayer, fake.publicKey),
    ),
  );
  await land(await signed([payer, source], made(payer, source), initialized(source, usd.mint, payer.publicKey)));
  const swap = [
    createCloseAccountInstruction(source.publicKey, payer.publicKey, payer.publicKey),
    made(payer, source),
    initialized(source, fake.publicKey, payer.publicKey),
    createMintToInstruction(fake.publicKey, source.publicKey, payer.publicKey, 1_000_000_000n),
    createTransferInstruction(source.publicKey, own, payer.publicKey, 1_000_000_000n),
  ];
  await refused(t as Test, [payer, source], swap, UNPAID);
  const paid = await post({
    transaction: await built([wallet, payer, source], pay(wallet, relayer, 100_000n), ...swap),
  });
  const { status_reason: reason } = await tickUntil(paid.body.data.id, 'failed');
  t.match(reason, /Policy violation: .* is made in the transaction that moves its tokens/);
});
