import { PublicKey, TransactionInstruction, TransactionMessage } from '@solana/web3.js';
import t from 'tap';
import {
  compileLegacy,
  type Instruction,
  instructionsOf,
} from '../../../../../../src/chains/solana/message/compile.ts';
import { decodeMessage, encodeMessage } from '../../../../../../src/chains/solana/message/message.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';
import { keypair, messagePlan, realTransactions } from '../../../../../support/solana-messages.ts';

const ours = ({ programId, keys, data }: TransactionInstruction): Instruction => ({
  program: programId.toBase58(),
  accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({ key: pubkey.toBase58(), isSigner, isWritable })),
  data,
});

const theirs = ({ program, accounts, data }: Instruction) =>
  new TransactionInstruction({
    programId: new PublicKey(program),
    keys: accounts.map(({ key, isSigner, isWritable }) => ({ pubkey: new PublicKey(key), isSigner, isWritable })),
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

t.test('a message’s instructions are those that the public client finds in it', async (t) => {
  let unknown = 0;
  const property = fc.property(messagePlan, fc.boolean(), ({ payer, blockhash, instructions, tables }, isLegacy) => {
    const draft = new TransactionMessage({ payerKey: payer, recentBlockhash: blockhash, instructions });
    const message = isLegacy ? draft.compileToLegacyMessage() : draft.compileToV0Message(tables);
    const found = instructionsOf(decodeMessage(message.serialize()));
    if (message.addressTableLookups.length > 0) {
      unknown += 1;
      t.equal(found, undefined);
      return;
    }
    t.strictSame(found, TransactionMessage.decompile(message).instructions.map(ours));
  });
  fc.assert(property, { numRuns: runsOf(300) });
  t.ok(unknown > 0, 'some needed a lookup table');
});

t.test('a lookup table that no instruction uses hides none', async (t) => {
  const real = realTransactions['a transfer of tokens with two lookup tables'];
  const message = decodeMessage(real?.message.serialize() ?? Buffer.alloc(0));
  const idle = message.instructions.filter(({ accounts }) => accounts.length === 0);
  t.ok(idle.length > 0);
  t.equal(instructionsOf({ ...message, instructions: idle })?.length, idle.length);
  t.equal(instructionsOf(message), undefined);
});

t.test('what is taken apart and put together again is the same', async (t) => {
  for (const [name, { message }] of Object.entries(realTransactions)) {
    if (message.version === 0) continue;
    const before = decodeMessage(message.serialize());
    const instructions = instructionsOf(before) ?? [];
    const [payer = ''] = before.keys;
    t.strictSame(compileLegacy({ payer, instructions, blockhash: before.blockhash }), before, name);
    t.strictSame(instructions.map(theirs).map(ours), instructions);
  }
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
