import { createTransferCheckedInstruction, TOKEN_2022_PROGRAM_ID } from '@solana/spl-token';
import { SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import t from 'tap';
import type { Instruction } from '../../../../../../src/chains/solana/message/compile.ts';
import { lamportsTransfer, readLamports, tokensTransfer } from '../../../../../../src/chains/solana/tokens/transfer.ts';
import { keypair } from '../../../../../support/solana-messages.ts';

const [from, to, mint, source, destination] = [1, 2, 3, 4, 5].map((seed) => keypair(seed).publicKey);
if (!from || !to || !mint || !source || !destination) throw new Error('there are five keys');

const ours = ({ programId, keys, data }: TransactionInstruction): Instruction => ({
  program: programId.toBase58(),
  accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({ key: pubkey.toBase58(), isSigner, isWritable })),
  data,
});

const named = ({ accounts }: Instruction) => accounts.map(({ key }) => key);

t.test('transfers are those of the public client', async (t) => {
  const lamports = 2n ** 60n;
  t.strictSame(
    lamportsTransfer(from.toBase58(), to.toBase58(), lamports),
    ours(SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports })),
  );
  const token = {
    ...{ address: mint.toBase58(), program: TOKEN_2022_PROGRAM_ID.toBase58(), decimals: 9, fees: [], hasHook: false },
    ...{ accountSize: 170, extensions: new Map() },
  };
  t.strictSame(
    tokensTransfer({
      ...{ mint: token, source: source.toBase58(), destination: destination.toBase58() },
      ...{ authority: from.toBase58(), amount: lamports },
    }),
    ours(createTransferCheckedInstruction(source, mint, destination, from, lamports, 9, [], TOKEN_2022_PROGRAM_ID)),
  );
  t.throws(() => lamportsTransfer(from.toBase58(), to.toBase58(), 2n ** 64n), RangeError);
});

t.test('what moves lamports is read, and nothing else', async (t) => {
  const plain = lamportsTransfer(from.toBase58(), to.toBase58(), 7n);
  t.strictSame(readLamports(plain.program, named(plain), plain.data), {
    ...{ from: from.toBase58(), to: to.toBase58(), lamports: 7n },
  });
  const seed = { basePubkey: source, seed: 'x', programId: mint };
  const seeded = ours(SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: 9, ...seed }));
  t.strictSame(readLamports(seeded.program, named(seeded), seeded.data), {
    ...{ from: from.toBase58(), to: to.toBase58(), lamports: 9n },
  });
  const assign = ours(SystemProgram.assign({ accountPubkey: from, programId: mint }));
  t.equal(readLamports(assign.program, named(assign), assign.data), undefined);
  t.equal(readLamports(mint.toBase58(), named(plain), plain.data), undefined);
  t.equal(readLamports(plain.program, named(plain), plain.data.subarray(0, 11)), undefined);
});
