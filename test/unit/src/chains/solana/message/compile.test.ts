import { PublicKey, type TransactionInstruction, TransactionMessage } from '@solana/web3.js';
import t from 'tap';
import { compileLegacy, type Instruction } from '../../../../../../src/chains/solana/message/compile.ts';
import { encodeMessage } from '../../../../../../src/chains/solana/message/compiled-message.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';
import { keypair, messagePlan } from '../../../../../support/solana-messages.ts';

const ours = ({ programId, keys, data }: TransactionInstruction): Instruction => ({
  program: programId.toBase58(),
  accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({ key: pubkey.toBase58(), isSigner, isWritable })),
  data,
});

t.test('instructions become the bytes that the public client makes of them', async (t) => {
  const property = fc.property(messagePlan, ({ payer, blockhash, instructions }) => {
    const message = new TransactionMessage({ payerKey: payer, recentBlockhash: blockhash, instructions });
    const compiled = compileLegacy({ payer: payer.toBase58(), blockhash, instructions: instructions.map(ours) });
    t.ok(encodeMessage(compiled).equals(message.compileToLegacyMessage().serialize()));
  });
  fc.assert(property, { numRuns: runsOf(300) });
});

t.test('what cannot be a message is not written', async (t) => {
  const key = (number: number) => new PublicKey(Buffer.alloc(32).fill(number + 1, 0, 2)).toBase58();
  const payer = key(0);
  const calls = (program: string, count: number): Instruction => ({
    program,
    accounts: Array.from({ length: count }, (_, index) => ({ key: key(index), isSigner: false, isWritable: false })),
    data: Buffer.alloc(0),
  });
  const bytes = (instruction: Instruction) =>
    encodeMessage(compileLegacy({ payer, blockhash: payer, instructions: [instruction] }));
  t.throws(() => bytes(calls(payer, 0)), /instruction 0 calls the payer/);
  t.throws(() => bytes(calls('x', 0)), TypeError);
  const other = keypair(1).publicKey.toBase58();
  t.doesNotThrow(() => bytes(calls(other, 255)));
  t.throws(() => bytes(calls(other, 256)), /it has 257 accounts, and 256 are the most/);
});
