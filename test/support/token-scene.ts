import {
  createAssociatedTokenAccountIdempotentInstruction,
  createInitializeMint2Instruction,
  createInitializeTransferFeeConfigInstruction,
  createMintToInstruction,
  ExtensionType,
  getAssociatedTokenAddressSync,
  getMintLen,
  MINT_SIZE,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import { Keypair, type PublicKey, SystemProgram } from '@solana/web3.js';
import type { SvmScene } from './svm-scene.ts';

/** A token on the SVM, of which anybody can be given some. */
export interface Token {
  readonly mint: PublicKey;
  readonly program: PublicKey;
  readonly decimals: number;
  /** The account of a wallet. */
  accountOf(wallet: PublicKey): PublicKey;
  /** Gives a wallet some, in the smallest unit. */
  give(wallet: PublicKey, amount: bigint): Promise<void>;
  /** What a wallet has; undefined without an account. */
  held(wallet: PublicKey): Promise<bigint | undefined>;
}

/** Makes a token of the Token program. If it takes a part of each transfer, makes it of Token-2022. */
export async function makeToken(
  { connection, signed, land, funded }: SvmScene,
  { decimals = 6, fee }: { decimals?: number; fee?: { basisPoints: number; most: bigint } } = {},
): Promise<Token> {
  const [issuer, mint] = [await funded(), Keypair.generate()];
  const program = fee === undefined ? TOKEN_PROGRAM_ID : TOKEN_2022_PROGRAM_ID;
  const space = fee === undefined ? MINT_SIZE : getMintLen([ExtensionType.TransferFeeConfig]);
  const config = [mint.publicKey, issuer.publicKey, issuer.publicKey] as const;
  await land(
    await signed(
      [issuer, mint],
      SystemProgram.createAccount({
        fromPubkey: issuer.publicKey,
        newAccountPubkey: mint.publicKey,
        lamports: await connection.getMinimumBalanceForRentExemption(space),
        space,
        programId: program,
      }),
      ...(fee === undefined
        ? []
        : [createInitializeTransferFeeConfigInstruction(...config, fee.basisPoints, fee.most, program)]),
      createInitializeMint2Instruction(mint.publicKey, decimals, issuer.publicKey, null, program),
    ),
  );
  const accountOf = (wallet: PublicKey) => getAssociatedTokenAddressSync(mint.publicKey, wallet, true, program);
  return {
    mint: mint.publicKey,
    program,
    decimals,
    accountOf,
    async give(wallet, amount) {
      const account = accountOf(wallet);
      const create = [issuer.publicKey, account, wallet, mint.publicKey, program] as const;
      await land(
        await signed(
          [issuer],
          createAssociatedTokenAccountIdempotentInstruction(...create),
          createMintToInstruction(mint.publicKey, account, issuer.publicKey, amount, [], program),
        ),
      );
    },
    async held(wallet) {
      const account = await connection.getAccountInfo(accountOf(wallet));
      return account?.data.readBigUInt64LE(64);
    },
  };
}
