import {
  Message as LegacyMessage,
  type MessageAddressTableLookup,
  type MessageCompiledInstruction,
  PublicKey,
  type TransactionInstruction,
  TransactionMessage,
  VersionedMessage,
} from '@solana/web3.js';
import t from 'tap';
import { MAX_TRANSACTION } from '../../../../../../src/chains/solana/configuration/policy.ts';
import {
  compileLegacy,
  decodeMessage,
  encodeMessage,
  isWritable,
  lengthOf,
  MalformedTransaction,
  type Message,
  versionOf,
} from '../../../../../../src/chains/solana/message/compiled-message.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';
import {
  callOf,
  keypair,
  type MessagePlan,
  messagePlan,
  realTransactions,
} from '../../../../../support/solana-messages.ts';

/** The message as Solana's public client compiles it. */
function compiled({ payer, blockhash, instructions, tables }: MessagePlan, version: 'legacy' | 0): VersionedMessage {
  const message = new TransactionMessage({ payerKey: payer, recentBlockhash: blockhash, instructions });
  return version === 'legacy' ? message.compileToLegacyMessage() : message.compileToV0Message(tables);
}

/** A message of the public client in our own format. */
function told(message: VersionedMessage): Message {
  return {
    version: message.version as 'legacy' | 0,
    signers: message.header.numRequiredSignatures,
    readonlySigners: message.header.numReadonlySignedAccounts,
    readonlyOthers: message.header.numReadonlyUnsignedAccounts,
    keys: message.staticAccountKeys.map((key) => key.toBase58()),
    blockhash: message.recentBlockhash,
    instructions: message.compiledInstructions.map((each: MessageCompiledInstruction) => ({
      program: each.programIdIndex,
      accounts: [...each.accountKeyIndexes],
      data: Buffer.from(each.data),
    })),
    lookups: message.addressTableLookups.map((each: MessageAddressTableLookup) => ({
      table: each.accountKey.toBase58(),
      writable: [...each.writableIndexes],
      readonly: [...each.readonlyIndexes],
    })),
  };
}

const version = fc.constantFrom<'legacy' | 0>('legacy', 0);

t.test('what the public client writes is read as it reads it, and written back byte for byte', async (t) => {
  let lookups = 0;
  const property = fc.property(messagePlan, version, (plan, version) => {
    const message = compiled(plan, version);
    const bytes = message.serialize();
    const decoded = decodeMessage(bytes);
    t.strictSame(decoded, told(message));
    t.ok(encodeMessage(decoded).equals(bytes));
    lookups += decoded.lookups.length;
  });
  fc.assert(property, { numRuns: runsOf(300) });
  t.ok(lookups > 0, 'some had lookup tables');
});

t.test('what we write is read by the public client as it was meant', async (t) => {
  const property = fc.property(messagePlan, version, (plan, version) => {
    const message = told(compiled(plan, version));
    t.strictSame(told(VersionedMessage.deserialize(encodeMessage(message))), message);
  });
  fc.assert(property, { numRuns: runsOf(100) });
});

t.test('who signs and what may be written is as the public client tells', async (t) => {
  const property = fc.property(messagePlan, version, (plan, version) => {
    const message = compiled(plan, version);
    const decoded = decodeMessage(message.serialize());
    const taken = decoded.lookups.flatMap(({ writable, readonly }) => [...writable, ...readonly]).length;
    for (let index = 0; index < decoded.keys.length + taken; index += 1) {
      t.equal(index < decoded.signers, message.isAccountSigner(index));
      t.equal(isWritable(decoded, index), message.isAccountWritable(index));
    }
  });
  fc.assert(property, { numRuns: runsOf(100) });
});

t.test('any bytes are a message that is written back the same, or malformed', async (t) => {
  const start = fc.constantFrom([1, 0, 1, 2], [0x80, 1, 0, 1, 2], [0x81, 1], []);
  const property = fc.property(start, fc.uint8Array({ maxLength: 300 }), (head, rest) => {
    const bytes = Buffer.from([...head, ...rest]);
    try {
      return encodeMessage(decodeMessage(bytes)).equals(bytes);
    } catch (error) {
      return error instanceof MalformedTransaction;
    }
  });
  fc.assert(property, { numRuns: runsOf(2000) });
  t.pass();
});

t.test('a message is kept apart from the bytes that it was read from', async (t) => {
  const bytes = realTransactions['a transfer of SOL']?.message.serialize() ?? Buffer.alloc(0);
  const message = decodeMessage(bytes);
  const before = encodeMessage(message);
  bytes.fill(0);
  t.same(encodeMessage(message), before);
});

const [a, b, c, d] = [1, 2, 3, 4].map((seed) => keypair(seed).publicKey.toBase58()) as [string, string, string, string];

/** A message with two signers, one of them readonly, one writable account and one program. */
const sound: Message = {
  version: 'legacy',
  signers: 2,
  readonlySigners: 1,
  readonlyOthers: 1,
  keys: [a, b, c, d],
  blockhash: keypair(5).publicKey.toBase58(),
  instructions: [{ program: 3, accounts: [0, 1, 2, 2], data: Buffer.from([9]) }],
  lookups: [],
};

/** A version 0 message with two keys from a lookup table, one of them writable. */
const looking: Message = {
  ...sound,
  version: 0,
  instructions: [{ program: 3, accounts: [0, 4, 5], data: Buffer.alloc(0) }],
  lookups: [{ table: keypair(6).publicKey.toBase58(), writable: [7], readonly: [255] }],
};

/** Encodes a message without the checks that would refuse it. */
function unchecked(message: Message): Buffer {
  const { version, keys, instructions, lookups } = message;
  const key = (text: string) => [...new PublicKey(text).toBytes()];
  const counted = (list: readonly number[]) => [list.length, ...list];
  const tables = lookups.flatMap((each) => [...key(each.table), ...counted(each.writable), ...counted(each.readonly)]);
  return Buffer.from([
    ...(version === 'legacy' ? [] : [0x80 | version]),
    message.signers,
    message.readonlySigners,
    message.readonlyOthers,
    keys.length,
    ...keys.flatMap(key),
    ...key(message.blockhash),
    instructions.length,
    ...instructions.flatMap((each) => [each.program, ...counted(each.accounts), ...counted([...each.data])]),
    ...(version === 'legacy' ? [] : [lookups.length, ...tables]),
  ]);
}

t.test('a sound message is taken', async (t) => {
  for (const message of [sound, looking, { ...sound, instructions: [] }, { ...looking, readonlyOthers: 2 }]) {
    t.strictSame(decodeMessage(encodeMessage(message)), message);
    t.same(unchecked(message), encodeMessage(message));
  }
  const many = Array.from({ length: 252 }, (_, index) => index);
  const full = { ...looking, lookups: [{ table: a, writable: many.slice(0, 100), readonly: many.slice(100) }] };
  const call = { program: 3, accounts: [255], data: Buffer.alloc(0) };
  const fullest = { ...full, instructions: [call] };
  t.strictSame(decodeMessage(encodeMessage(fullest)), fullest, '256 accounts');
  t.same(
    [103, 104, 255].map((index) => isWritable(fullest, index)),
    [true, false, false],
  );
});

const {
  instructions: [call = { program: 3, accounts: [], data: Buffer.alloc(0) }],
} = sound;
const table = looking.lookups[0] ?? { table: a, writable: [], readonly: [] };

/** Messages that the runtime refuses, by the reason that we give. */
const refused: Readonly<Record<string, Message>> = {
  'nobody is to sign it': { ...sound, signers: 0, readonlySigners: 0 },
  'its payer is not writable': { ...sound, readonlySigners: 2 },
  'its header counts 5 accounts, and it has 4': { ...sound, readonlyOthers: 3 },
  'it has an account twice': { ...sound, keys: [a, b, a, d] },
  'instruction 0 calls the payer': { ...sound, instructions: [{ ...call, program: 0 }] },
  'instruction 0 calls account 4, which is none of its own': { ...looking, instructions: [{ ...call, program: 4 }] },
  'instruction 1 names account 4, and there are 4': { ...sound, instructions: [call, { ...call, accounts: [3, 4] }] },
  'instruction 0 names account 6, and there are 6': { ...looking, instructions: [{ ...call, accounts: [6] }] },
  [`it takes no account from the lookup table ${table.table}`]: {
    ...looking,
    lookups: [table, { table: table.table, writable: [], readonly: [] }],
  },
  'it takes an account from a lookup table twice': { ...looking, lookups: [{ ...table, writable: [255] }] },
  'it has 257 accounts, and 256 are the most': {
    ...looking,
    lookups: [table, { table: a, writable: Array.from({ length: 251 }, (_, index) => index), readonly: [] }],
  },
};

t.test('an unsound message is neither read nor written', async (t) => {
  for (const [reason, message] of Object.entries(refused)) {
    const refusal = new MalformedTransaction(reason);
    if (!reason.includes('257')) t.throws(() => decodeMessage(unchecked(message)), refusal, reason);
    t.throws(() => encodeMessage(message), refusal, reason);
  }
  t.throws(() => encodeMessage({ ...sound, lookups: looking.lookups }), /a legacy one has no lookup tables/);
  t.throws(() => encodeMessage({ ...sound, signers: 128 }), /128 are to sign it/);
  t.throws(() => encodeMessage({ ...sound, keys: [a, b, c, 'd'] }), TypeError);
  t.throws(() => encodeMessage({ ...sound, instructions: [{ ...call, accounts: [-1] }] }), RangeError);
});

t.test('bytes before, after or instead of a message', async (t) => {
  const bytes = encodeMessage(looking);
  t.throws(() => decodeMessage(Buffer.concat([bytes, Buffer.alloc(1)])), /goes on after its end, for 1 bytes/);
  for (let length = 0; length < bytes.length; length += 1) {
    t.throws(() => decodeMessage(bytes.subarray(0, length)), /^Malformed transaction: /);
  }
  const long = encodeMessage(sound);
  const stretched = Buffer.concat([long.subarray(0, 3), Buffer.from([0x84, 0x00]), long.subarray(4)]);
  t.throws(() => decodeMessage(stretched), /no canonical compact-u16/);
  // What follows a legacy message could be a list of lookup tables in one of version 0.
  const table = [...new PublicKey(a).toBytes(), 1, 0, 0];
  for (const more of [[0], [0, 0], [1, ...table], [1, ...table, 0]]) {
    t.throws(() => decodeMessage(Buffer.concat([long, Buffer.from(more)])), /after its end/);
  }
});

t.test('of versions there are legacy and 0', async (t) => {
  t.same([0, 1, 127, 128].map(versionOf), ['legacy', 'legacy', 'legacy', 0]);
  const bytes = encodeMessage(looking);
  bytes[0] = 0x81;
  t.throws(
    () => decodeMessage(bytes),
    /^Malformed transaction: version 1 \(SIMD-0385\) is not supported, send a legacy/,
  );
  bytes[0] = 0xff;
  t.throws(() => decodeMessage(bytes), /^Malformed transaction: version 127 is unknown, send a legacy/);
});

t.test('what the public client lets pass and the runtime does not', async (t) => {
  const trailing = Buffer.concat([encodeMessage(sound), Buffer.alloc(3)]);
  t.doesNotThrow(() => LegacyMessage.from(trailing));
  t.throws(() => decodeMessage(trailing), /^Malformed transaction: /);
  const stray = unchecked({ ...sound, instructions: [{ ...call, accounts: [200] }] });
  t.doesNotThrow(() => LegacyMessage.from(stray));
  t.throws(() => decodeMessage(stray), /^Malformed transaction: /);
});

t.test('the size of a message is that of its bytes, and it is known where they are too many', async (t) => {
  const property = fc.property(messagePlan, version, (plan, version) => {
    const bytes = compiled(plan, version).serialize();
    t.equal(lengthOf(decodeMessage(bytes)), bytes.length);
  });
  fc.assert(property, { numRuns: runsOf(100) });
  const large = (length: number): Message => ({ ...sound, instructions: [{ ...call, data: Buffer.alloc(length) }] });
  const most = MAX_TRANSACTION - 65 - lengthOf(large(500)) + 500;
  t.equal(encodeMessage(large(most)).length, MAX_TRANSACTION - 65, 'a signature has room');
  t.throws(() => encodeMessage(large(most + 1)), /it is too large, it has 1233 bytes and 1232 are the most/);
  t.equal(lengthOf(large(20_000)) - lengthOf(large(10_000)), 10_001, 'a length takes up to three bytes');
});

t.test('instructions become the bytes that the public client makes of them', async (t) => {
  const property = fc.property(messagePlan, ({ payer, blockhash, instructions }) => {
    const message = new TransactionMessage({ payerKey: payer, recentBlockhash: blockhash, instructions });
    const ours = compileLegacy({ payer: payer.toBase58(), blockhash, instructions });
    t.ok(encodeMessage(ours).equals(message.compileToLegacyMessage().serialize()));
  });
  fc.assert(property, { numRuns: runsOf(300) });
});

t.test('what cannot be a message is not compiled', async (t) => {
  const key = (number: number) => new PublicKey(Buffer.alloc(32).fill(number + 1, 0, 2)).toBase58();
  const calls = (program: string, count: number) =>
    callOf({
      program,
      accounts: Array.from({ length: count }, (_, index) => ({ key: key(index), isSigner: false, isWritable: false })),
      data: Buffer.alloc(0),
    });
  const compile = (instruction: TransactionInstruction) =>
    compileLegacy({ payer: key(0), blockhash: key(0), instructions: [instruction] });
  t.throws(() => compile(calls(key(0), 0)), new MalformedTransaction('instruction 0 calls the payer'));
  t.equal(compile(calls(d, 255)).keys.length, 256);
  t.throws(() => compile(calls(d, 256)), new MalformedTransaction('it has 257 accounts, and 256 are the most'));
});
