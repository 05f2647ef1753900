import { createTransferCheckedInstruction, TOKEN_2022_PROGRAM_ID } from '@solana/spl-token';
import { SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import t from 'tap';
import { lamportsTransfer, readLamports, tokensTransfer } from '../../../../../../src/chains/solana/tokens/transfer.ts';
import { keypair } from '../../../../../support/solana-messages.ts';

const [from, to, mint, source, destination] = [1, 2, 3, 4, 5].map((seed) => keypair(seed).publicKey);
if (!from || !to || !mint || !source || !destination) throw new Error('there are five keys');

const named = ({ keys }: TransactionInstruction) => keys.map(({ pubkey }) => pubkey.toBase58());
const readIn = (instruction: TransactionInstruction, data = instruction.data) =>
  readLamports(instruction.programId.toBase58(), named(instruction), data);

t.test('transfers are those of the public client', async (t) => {
  const lamports = 2n ** 60n;
  t.strictSame(
    lamportsTransfer(from.toBase58(), to.toBase58(), lamports),
    SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports }),
  );
  const token = {
    address: mint.toBase58(),
    program: TOKEN_2022_PROGRAM_ID.toBase58(),
    decimals: 9,
    fees: [],
    hasHook: false,
    permanentDelegate: null,
    accountSize: 170,
    extensions: new Map(),
  };
  t.strictSame(
    tokensTransfer({
      mint: token,
      source: source.toBase58(),
      destination: destination.toBase58(),
      authority: from.toBase58(),
      amount: lamports,
    }),
    createTransferCheckedInstruction(source, mint, destination, from, lamports, 9, [], TOKEN_2022_PROGRAM_ID),
  );
  t.throws(() => lamportsTransfer(from.toBase58(), to.toBase58(), 2n ** 64n), /expected number to be in the range/);
});

t.test('what moves lamports is read, and nothing else', async (t) => {
  const plain = lamportsTransfer(from.toBase58(), to.toBase58(), 7n);
  t.strictSame(readIn(plain), {
    from: from.toBase58(),
    to: to.toBase58(),
    lamports: 7n,
  });
  const seed = { basePubkey: source, seed: 'x', programId: mint };
  const seeded = SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: 9, ...seed });
  t.strictSame(readIn(seeded), {
    from: from.toBase58(),
    to: to.toBase58(),
    lamports: 9n,
  });
  const assign = SystemProgram.assign({ accountPubkey: from, programId: mint });
  t.equal(readIn(assign), undefined);
  t.equal(readLamports(mint.toBase58(), named(plain), plain.data), undefined);
  t.equal(readIn(plain, plain.data.subarray(0, 11)), undefined);
});
