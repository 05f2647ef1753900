import { AddressLookupTableAccount, PublicKey, SystemProgram, TransactionMessage } from '@solana/web3.js';
import t from 'tap';
import {
  compileLegacy,
  decodeMessage,
  encodeMessage,
  isWritable,
  type Message,
} from '../../../../../../src/chains/solana/message/compiled-message.ts';
import { nonceOf } from '../../../../../../src/chains/solana/message/durable-nonce.ts';
import { recompose } from '../../../../../../src/chains/solana/message/recompose.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';
import { callOf, keypair, type MessagePlan, messagePlan } from '../../../../../support/solana-messages.ts';

const RELAYER = keypair(77).publicKey.toBase58();
const OTHER = keypair(78).publicKey.toBase58();
const BLOCKHASH = keypair(79).publicKey.toBase58();
const PROGRAM = keypair(80).publicKey.toBase58();

const EXTRA = callOf({
  program: PROGRAM,
  accounts: [
    { key: RELAYER, isSigner: true, isWritable: true },
    { key: OTHER, isSigner: false, isWritable: true },
  ],
  data: Buffer.from('fee'),
});

type Tables = MessagePlan['tables'];

/** The accounts that the lookup tables name. */
function lookedUp({ lookups }: Message, tables: Tables): string[] {
  const addressOf = (table: string) => (entry: number) =>
    tables.find(({ key }) => key.toBase58() === table)?.state.addresses[entry]?.toBase58() ?? '';
  return [
    ...lookups.flatMap(({ table, writable }) => writable.map(addressOf(table))),
    ...lookups.flatMap(({ table, readonly }) => readonly.map(addressOf(table))),
  ];
}

/** Each instruction with its accounts, and whether it may write them. */
function said(message: Message, tables: Tables) {
  const keys = [...message.keys, ...lookedUp(message, tables)];
  return message.instructions.map(({ program, accounts, data }) => ({
    program: keys[program],
    accounts: accounts.map((place) => [keys[place], isWritable(message, place)]),
    data: data.toString('hex'),
  }));
}

function compiled({ payer, blockhash, instructions, tables }: MessagePlan, isLegacy: boolean): Message {
  const draft = new TransactionMessage({ payerKey: payer, recentBlockhash: blockhash, instructions });
  const message = isLegacy ? draft.compileToLegacyMessage() : draft.compileToV0Message(tables);
  return decodeMessage(message.serialize());
}

t.test('the instructions stay what they are, behind those that are put before them, for another payer', async (t) => {
  let looked = 0;
  const property = fc.property(messagePlan, fc.boolean(), (plan, isLegacy) => {
    const before = compiled(plan, isLegacy);
    const taken = lookedUp(before, plan.tables);
    looked += before.lookups.length;
    const after = recompose(before, { payer: RELAYER, blockhash: BLOCKHASH, before: [EXTRA], lookedUp: taken });
    t.strictSame(decodeMessage(encodeMessage(after)), after, 'it is a message');
    t.equal(after.version, before.version);
    t.equal(after.keys[0], RELAYER);
    t.equal(after.blockhash, BLOCKHASH);
    t.strictSame(lookedUp(after, plan.tables).toSorted(), taken.toSorted(), 'the same accounts come from tables');
    const [first, ...others] = said(after, plan.tables);
    t.strictSame(first?.program, PROGRAM);
    t.strictSame(others, said(before, plan.tables));
    for (const [place, key] of before.keys.entries()) {
      const now = after.keys.indexOf(key);
      if (now > 0) t.equal(now < after.signers, place < before.signers, 'who signs still signs');
    }
  });
  fc.assert(property, { numRuns: runsOf(200) });
  t.ok(looked > 0, 'some had lookup tables');
});

t.test('who only paid takes part no longer', async (t) => {
  const memo = callOf({
    program: PROGRAM,
    accounts: [{ key: OTHER, isSigner: false, isWritable: true }],
    data: Buffer.from('fee'),
  });
  const before = compileLegacy({ payer: keypair(1).publicKey.toBase58(), blockhash: BLOCKHASH, instructions: [memo] });
  const after = recompose(before, { payer: RELAYER, blockhash: BLOCKHASH, before: [], lookedUp: [] });
  t.equal(after.signers, 1);
  t.strictSame(after.keys, [RELAYER, OTHER, PROGRAM]);
});

t.test('the advance of a durable nonce stays first, and its account out of tables', async (t) => {
  const [authority, nonce] = [keypair(1).publicKey, keypair(2).publicKey];
  const instructions = [
    SystemProgram.nonceAdvance({ noncePubkey: nonce, authorizedPubkey: authority }),
    SystemProgram.transfer({ fromPubkey: authority, toPubkey: new PublicKey(OTHER), lamports: 1 }),
  ];
  for (const isLegacy of [true, false]) {
    const before = compiled({ payer: authority, blockhash: BLOCKHASH, instructions, tables: [] }, isLegacy);
    const after = recompose(before, { payer: RELAYER, blockhash: before.blockhash, before: [EXTRA], lookedUp: [] });
    t.match(nonceOf(after), { account: nonce.toBase58(), value: BLOCKHASH });
    t.strictSame(
      after.instructions.map(({ program }) => after.keys[program]),
      [SystemProgram.programId.toBase58(), PROGRAM, SystemProgram.programId.toBase58()],
    );
  }
});

t.test('no account is loaded twice, whatever the new instructions name', async (t) => {
  let taken = 0;
  const property = fc.property(messagePlan, fc.nat(), fc.boolean(), (plan, pick, isWritten) => {
    const before = compiled(plan, false);
    const all = lookedUp(before, plan.tables);
    const shared = all[pick % Math.max(1, all.length)];
    if (shared === undefined) return;
    taken += 1;
    const extra = callOf({
      program: PROGRAM,
      data: Buffer.from('fee'),
      accounts: [{ key: shared, isSigner: false, isWritable: isWritten }],
    });
    const after = recompose(before, { payer: RELAYER, blockhash: BLOCKHASH, before: [extra], lookedUp: all });
    t.strictSame(decodeMessage(encodeMessage(after)), after, 'it is a message');
    const loaded = [...after.keys, ...lookedUp(after, plan.tables)];
    t.equal(new Set(loaded).size, loaded.length);
    const rights = (message: Message) =>
      said(message, plan.tables).map(({ program, accounts }) => ({
        program,
        accounts: accounts.map(([key, written]) => [key, written === true || (key === shared && isWritten)]),
      }));
    t.strictSame(rights(after).slice(1), rights(before), 'whatever was named is named still, with the same rights');
  });
  fc.assert(property, { numRuns: runsOf(300) });
  t.ok(taken > 0, 'some shared an account');
});

t.test('a payer, a signer and a program that a table names are taken out of it', async (t) => {
  const table = keypair(70).publicKey;
  const state = { deactivationSlot: 0n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0 };
  const addresses = [RELAYER, OTHER, PROGRAM].map((key) => new PublicKey(key));
  const tables = [new AddressLookupTableAccount({ key: table, state: { ...state, addresses } })];
  const called = callOf({
    program: keypair(71).publicKey.toBase58(),
    accounts: [RELAYER, OTHER, PROGRAM].map((key) => ({ key, isSigner: false, isWritable: false })),
    data: Buffer.alloc(0),
  });
  const payer = keypair(1).publicKey;
  const before = compiled({ payer, blockhash: BLOCKHASH, instructions: [called], tables }, false);
  t.match(before.lookups, [{ readonly: [0, 1, 2] }]);
  const lookups = lookedUp(before, tables);
  const after = recompose(before, { payer: RELAYER, blockhash: BLOCKHASH, before: [EXTRA], lookedUp: lookups });
  t.strictSame(after.lookups, [{ table: table.toBase58(), writable: [1], readonly: [] }]);
  t.ok(after.keys.includes(PROGRAM) && after.keys[0] === RELAYER);
});
