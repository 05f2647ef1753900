import { PublicKey, SystemProgram, TransactionMessage } from '@solana/web3.js';
import t from 'tap';
import { compileLegacy, type Instruction } from '../../../../../../src/chains/solana/message/compile.ts';
import {
  decodeMessage,
  encodeMessage,
  isSigner,
  isWritable,
  type Message,
} from '../../../../../../src/chains/solana/message/compiled-message.ts';
import { nonceOf } from '../../../../../../src/chains/solana/message/durable-nonce.ts';
import { recompose } from '../../../../../../src/chains/solana/message/recompose.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';
import { keypair, messagePlan } from '../../../../../support/solana-messages.ts';

const RELAYER = keypair(77).publicKey.toBase58();
const OTHER = keypair(78).publicKey.toBase58();
const BLOCKHASH = keypair(79).publicKey.toBase58();
const PROGRAM = keypair(80).publicKey.toBase58();

const EXTRA: Instruction = {
  program: PROGRAM,
  accounts: [
    { key: RELAYER, isSigner: true, isWritable: true },
    { key: OTHER, isSigner: false, isWritable: true },
  ],
  data: Buffer.from('fee'),
};

/** Each instruction with its accounts: static ones by key, ones from tables by table and entry. */
function said(message: Message) {
  const { keys, lookups } = message;
  const entries = [
    ...lookups.flatMap(({ table, writable }) => writable.map((entry) => `${table} ${entry}`)),
    ...lookups.flatMap(({ table, readonly }) => readonly.map((entry) => `${table} ${entry}`)),
  ];
  return message.instructions.map(({ program, accounts, data }) => ({
    program: keys[program],
    accounts: accounts.map((place) => [keys[place] ?? entries[place - keys.length], isWritable(message, place)]),
    data: data.toString('hex'),
  }));
}

t.test('the instructions stay what they are, behind those that are put before them, for another payer', async (t) => {
  let looked = 0;
  const property = fc.property(messagePlan, fc.boolean(), ({ payer, blockhash, instructions, tables }, isLegacy) => {
    const draft = new TransactionMessage({ payerKey: payer, recentBlockhash: blockhash, instructions });
    const compiled = isLegacy ? draft.compileToLegacyMessage() : draft.compileToV0Message(tables);
    const before = decodeMessage(compiled.serialize());
    looked += before.lookups.length;
    const after = recompose(before, { payer: RELAYER, blockhash: BLOCKHASH, before: [EXTRA], lookedUp: [] });
    t.strictSame(decodeMessage(encodeMessage(after)), after, 'it is a message');
    t.equal(after.keys[0], RELAYER);
    t.equal(after.blockhash, BLOCKHASH);
    t.strictSame(after.lookups, before.lookups);
    const [first, ...others] = said(after);
    t.strictSame(first?.program, PROGRAM);
    t.strictSame(others, said(before));
    for (const [place, key] of before.keys.entries()) {
      const now = after.keys.indexOf(key);
      if (now > 0) t.equal(isSigner(after, now), isSigner(before, place), 'who signs still signs');
    }
  });
  fc.assert(property, { numRuns: runsOf(200) });
  t.ok(looked > 0, 'some had lookup tables');
});

t.test('who only paid takes part no longer', async (t) => {
  const memo = { ...EXTRA, accounts: [{ key: OTHER, isSigner: false, isWritable: true }] };
  const before = compileLegacy({ payer: keypair(1).publicKey.toBase58(), blockhash: BLOCKHASH, instructions: [memo] });
  const after = recompose(before, { payer: RELAYER, blockhash: BLOCKHASH, before: [], lookedUp: [] });
  t.equal(after.signers, 1);
  t.strictSame(after.keys, [RELAYER, OTHER, PROGRAM]);
});

t.test('the advance of a durable nonce stays first', async (t) => {
  const [authority, nonce] = [keypair(1).publicKey, keypair(2).publicKey];
  const instructions = [
    SystemProgram.nonceAdvance({ noncePubkey: nonce, authorizedPubkey: authority }),
    SystemProgram.transfer({ fromPubkey: authority, toPubkey: new PublicKey(OTHER), lamports: 1 }),
  ];
  const draft = new TransactionMessage({ payerKey: authority, recentBlockhash: BLOCKHASH, instructions });
  const before = decodeMessage(draft.compileToLegacyMessage().serialize());
  const after = recompose(before, { payer: RELAYER, blockhash: before.blockhash, before: [EXTRA], lookedUp: [] });
  t.match(nonceOf(after), { account: nonce.toBase58(), value: BLOCKHASH });
  t.strictSame(
    after.instructions.map(({ program }) => after.keys[program]),
    [SystemProgram.programId.toBase58(), PROGRAM, SystemProgram.programId.toBase58()],
  );
});

t.test('what the new instructions name is taken out of the lookup tables', async (t) => {
  let taken = 0;
  const property = fc.property(messagePlan, fc.nat(), ({ payer, blockhash, instructions, tables }, pick) => {
    const draft = new TransactionMessage({ payerKey: payer, recentBlockhash: blockhash, instructions });
    const before = decodeMessage(draft.compileToV0Message(tables).serialize());
    const addressOf = (table: string) => (entry: number) =>
      tables.find(({ key }) => key.toBase58() === table)?.state.addresses[entry]?.toBase58() ?? '';
    const lookedUp = ({ lookups }: Message) => [
      ...lookups.flatMap(({ table, writable }) => writable.map(addressOf(table))),
      ...lookups.flatMap(({ table, readonly }) => readonly.map(addressOf(table))),
    ];
    const all = lookedUp(before);
    const shared = all[pick % Math.max(1, all.length)];
    if (shared === undefined) return;
    taken += 1;
    const extra = { ...EXTRA, accounts: [{ key: shared, isSigner: false, isWritable: false }] };
    const after = recompose(before, { payer: RELAYER, blockhash: BLOCKHASH, before: [extra], lookedUp: all });
    t.strictSame(decodeMessage(encodeMessage(after)), after, 'it is a message');
    t.ok(after.keys.includes(shared));
    t.strictSame(lookedUp(after).toSorted(), all.filter((key) => key !== shared).toSorted());
    const rights = (message: Message) => {
      const keys = [...message.keys, ...lookedUp(message)];
      return message.instructions.map(({ program, accounts }) => ({
        program: keys[program],
        accounts: accounts.map((place) => [keys[place], isWritable(message, place)]),
      }));
    };
    t.strictSame(rights(after).slice(1), rights(before), 'whatever was named is named still, with the same rights');
  });
  fc.assert(property, { numRuns: runsOf(300) });
  t.ok(taken > 0, 'some shared an account');
});
