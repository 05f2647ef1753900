import { createHash } from 'node:crypto';
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Message as LegacyMessage,
  type MessageAddressTableLookup,
  type MessageCompiledInstruction,
  NONCE_ACCOUNT_LENGTH,
  NonceAccount,
  PublicKey,
  SystemInstruction,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import t, { type Test } from 'tap';
import { addressBytes, addressOfPublicKey } from '../../../../../src/chains/solana/address.ts';
import { MAX_TRANSACTION } from '../../../../../src/chains/solana/configuration/policy.ts';
import {
  type CompiledMessage,
  compileLegacyMessage,
  decodeMessage,
  encodeMessage,
  isWritableAccount,
  MalformedTransaction,
  messageLength,
  messageVersion,
  type TableLookup,
} from '../../../../../src/chains/solana/message/compiled-message.ts';
import { readComputeBudget } from '../../../../../src/chains/solana/message/compute-budget.ts';
import { durableNonceOf, getDurableNonceState } from '../../../../../src/chains/solana/message/durable-nonce.ts';
import { resolveLookupTables } from '../../../../../src/chains/solana/message/lookup-tables.ts';
import { recomposeMessage } from '../../../../../src/chains/solana/message/recompose.ts';
import {
  decodeTransaction,
  encodeTransaction,
  isEmptySignature,
  isSignatureOf,
  SIGNATURE_LENGTH,
  transactionSize,
} from '../../../../../src/chains/solana/message/transaction.ts';
import {
  ADDRESS_LOOKUP_TABLE_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAMS,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../../../src/chains/solana/programs.ts';
import { ed25519Pair } from '../../../../../src/signers/ed25519.ts';
import { fc, runsOf } from '../../../../support/properties.ts';
import {
  type Call,
  callOf,
  keypair,
  type MessagePlan,
  messagePlan,
  realTransactions,
} from '../../../../support/solana-messages.ts';
import { keyOf, type NodeAccount, openSolana, readOf } from '../../../../support/solana-node.ts';

t.test('compiled message', async (t) => {
  /** The message as Solana's public client compiles it. */
  function compiled({ payer, blockhash, instructions, tables }: MessagePlan, version: 'legacy' | 0): VersionedMessage {
    const message = new TransactionMessage({ payerKey: payer, recentBlockhash: blockhash, instructions });
    return version === 'legacy' ? message.compileToLegacyMessage() : message.compileToV0Message(tables);
  }

  /** A message of the public client in our own format. */
  function told(message: VersionedMessage): CompiledMessage {
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
        t.equal(isWritableAccount(decoded, index), message.isAccountWritable(index));
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

  const [a, b, c, d] = [1, 2, 3, 4].map((seed) => keypair(seed).publicKey.toBase58()) as [
    string,
    string,
    string,
    string,
  ];

  /** A message with two signers, one of them readonly, one writable account and one program. */
  const sound: CompiledMessage = {
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
  const looking: CompiledMessage = {
    ...sound,
    version: 0,
    instructions: [{ program: 3, accounts: [0, 4, 5], data: Buffer.alloc(0) }],
    lookups: [{ table: keypair(6).publicKey.toBase58(), writable: [7], readonly: [255] }],
  };

  /** Encodes a message without the checks that would refuse it. */
  function unchecked(message: CompiledMessage): Buffer {
    const { version, keys, instructions, lookups } = message;
    const key = (text: string) => [...new PublicKey(text).toBytes()];
    const counted = (list: readonly number[]) => [list.length, ...list];
    const tables = lookups.flatMap((each) => [
      ...key(each.table),
      ...counted(each.writable),
      ...counted(each.readonly),
    ]);
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
      [103, 104, 255].map((index) => isWritableAccount(fullest, index)),
      [true, false, false],
    );
  });

  const {
    instructions: [call = { program: 3, accounts: [], data: Buffer.alloc(0) }],
  } = sound;
  const table = looking.lookups[0] ?? { table: a, writable: [], readonly: [] };

  /** Messages that the runtime refuses, by the reason that we give. */
  const refused: Readonly<Record<string, CompiledMessage>> = {
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
    t.same([0, 1, 127, 128].map(messageVersion), ['legacy', 'legacy', 'legacy', 0]);
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
      t.equal(messageLength(decodeMessage(bytes)), bytes.length);
    });
    fc.assert(property, { numRuns: runsOf(100) });
    const large = (length: number): CompiledMessage => ({
      ...sound,
      instructions: [{ ...call, data: Buffer.alloc(length) }],
    });
    const most = MAX_TRANSACTION - 65 - messageLength(large(500)) + 500;
    t.equal(encodeMessage(large(most)).length, MAX_TRANSACTION - 65, 'a signature has room');
    t.throws(() => encodeMessage(large(most + 1)), /it is too large, it has 1233 bytes and 1232 are the most/);
    t.equal(messageLength(large(20_000)) - messageLength(large(10_000)), 10_001, 'a length takes up to three bytes');
  });

  t.test('instructions become the bytes that the public client makes of them', async (t) => {
    const property = fc.property(messagePlan, ({ payer, blockhash, instructions }) => {
      const message = new TransactionMessage({ payerKey: payer, recentBlockhash: blockhash, instructions });
      const ours = compileLegacyMessage({ payer: payer.toBase58(), blockhash, instructions });
      t.ok(encodeMessage(ours).equals(message.compileToLegacyMessage().serialize()));
    });
    fc.assert(property, { numRuns: runsOf(300) });
  });

  t.test('what cannot be a message is not compiled', async (t) => {
    const key = (number: number) => new PublicKey(Buffer.alloc(32).fill(number + 1, 0, 2)).toBase58();
    const calls = (program: string, count: number) =>
      callOf({
        program,
        accounts: Array.from({ length: count }, (_, index) => ({
          key: key(index),
          isSigner: false,
          isWritable: false,
        })),
        data: Buffer.alloc(0),
      });
    const compile = (instruction: TransactionInstruction) =>
      compileLegacyMessage({ payer: key(0), blockhash: key(0), instructions: [instruction] });
    t.throws(() => compile(calls(key(0), 0)), new MalformedTransaction('instruction 0 calls the payer'));
    t.equal(compile(calls(d, 255)).keys.length, 256);
    t.throws(() => compile(calls(d, 256)), new MalformedTransaction('it has 257 accounts, and 256 are the most'));
  });
});

t.test('transaction', async (t) => {
  const samples = Object.entries(realTransactions).map(([name, it]) => [name, Buffer.from(it.serialize())] as const);
  const [, transfer = Buffer.alloc(0)] = samples[0] ?? [];
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

  /** A vector of the public client's own tests: the payer's seed is 32 bytes of 8; it transfers 49 lamports. */
  const VECTOR =
    'AVuErQHaXv0SG0/PchunfxHKt8wMRfMZzqV0tkC5qO6owYxWU2v871AoWywGoFQr4z+q/7mE8lIufNl/kxj+nQ0BAAEDE5j2LG0aRXxRumpLXz29L2n8' +
    'qTIWIY3ImX5Ba9F9k8r9Q5/Mtmcn8onFxt47xKj+XdXXd3C8j/FcPu7csUrz/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAxJrndgN4IFTx' +
    'ep3s6kO0ROug7bEsbx0xxuDkqEvwUusBAgIAAQwCAAAAMQAAAAAAAAA=';

  t.test('a transaction that is known elsewhere', async (t) => {
    const { signatures, message, messageBytes } = decodeTransaction(VECTOR);
    const [signature = Buffer.alloc(0)] = signatures;
    t.same(
      [message.blockhash, message.keys],
      [
        'EETubP5AKHgjPAhzPAFcb8BAY1hMH639CWCFTqi3hq1k',
        [keypair(8).publicKey.toBase58(), 'J3dxNj7nDRRqRRXuEMynDG57DkZK4jYRuv3Garmb1i99', SYSTEM_PROGRAM],
      ],
    );
    t.ok(isSignatureOf(keypair(8).publicKey.toBase58(), signature, messageBytes));
    t.equal(encodeTransaction(signatures, messageBytes), VECTOR);
  });

  t.test('what a wallet made is read whole and written back', async (t) => {
    for (const [name, bytes] of samples) {
      const { signatures, message, messageBytes } = decodeTransaction(base64(bytes));
      const theirs = VersionedTransaction.deserialize(bytes);
      t.same(signatures, theirs.signatures.map(Buffer.from), name);
      t.same(messageBytes, Buffer.from(theirs.message.serialize()));
      t.same(encodeMessage(message), messageBytes);
      t.equal(encodeTransaction(signatures, messageBytes), base64(bytes));
      for (const [index, signature] of signatures.entries()) {
        const isSigned = isSignatureOf(message.keys[index] ?? '', signature, messageBytes);
        t.equal(isSigned, !isEmptySignature(signature));
      }
    }
    const half = decodeTransaction(base64(samples[1]?.[1] ?? transfer));
    t.same(half.signatures.map(isEmptySignature), [true, false], 'the payer has not signed yet');
  });

  /** Whether the bytes are refused as malformed. Bytes that are read must encode to the same bytes again. */
  function isRefused(bytes: Buffer): boolean {
    let read: ReturnType<typeof decodeTransaction>;
    try {
      read = decodeTransaction(base64(bytes));
    } catch (error) {
      if (error instanceof MalformedTransaction) return true;
      throw error;
    }
    const written = encodeTransaction(read.signatures, encodeMessage(read.message));
    if (written !== base64(bytes)) throw new Error(`read, and written as ${written}`);
    return false;
  }

  /** The indexes of the bytes that do not belong to a key, a hash or a signature. */
  function structureOf(bytes: Buffer): Set<number> {
    const { signatures, message } = decodeTransaction(base64(bytes));
    const keys = [...message.keys, message.blockhash, ...message.lookups.map(({ table }) => table)].map(addressBytes);
    const places = new Set(bytes.keys());
    for (const field of [...signatures, ...keys]) {
      const start = bytes.indexOf(field);
      for (let at = start; at < start + field.length; at += 1) places.delete(at);
    }
    return places;
  }

  const BITS = Array.from({ length: 8 }, (_, bit) => 1 << bit);
  /**
   * The changes to try on a structural byte: each single bit and every ninth value, or all values if properties run more
   * often.
   */
  const CHANGES = Array.from({ length: 255 }, (_, index) => index + 1).filter(
    (change) => runsOf(1) > 1 || BITS.includes(change) || change % 9 === 0,
  );

  t.test('a transaction with any one byte changed is read as what it is, or malformed', async (t) => {
    for (const [name, bytes] of samples) {
      const structure = structureOf(bytes);
      const count = { read: 0, refused: 0 };
      for (const at of bytes.keys()) {
        const changed = Buffer.from(bytes);
        for (const change of structure.has(at) ? CHANGES : [1 << (at % 8)]) {
          changed[at] = bytes.readUInt8(at) ^ change;
          count[isRefused(changed) ? 'refused' : 'read'] += 1;
        }
      }
      t.ok(count.read > 0 && count.refused > 0, `${name}: ${JSON.stringify(count)}`);
    }
  });

  t.test('where a changed transaction is read, the public client reads the same', async (t) => {
    for (const [name, bytes] of samples) {
      let agreed = 0;
      for (let at = 0; at < bytes.length; at += 1) {
        const changed = Buffer.from(bytes);
        changed[at] = bytes.readUInt8(at) ^ (1 << (at % 8));
        if (isRefused(changed)) continue;
        if (!Buffer.from(VersionedTransaction.deserialize(changed).serialize()).equals(changed)) t.fail(`byte ${at}`);
        agreed += 1;
      }
      t.ok(agreed > 0, `${name}: ${agreed}`);
    }
  });

  t.test('a part of a transaction is malformed, and so is more than one', async (t) => {
    for (const [name, bytes] of samples) {
      const parts = Array.from({ length: bytes.length }, (_, length) => bytes.subarray(0, length));
      t.ok(parts.every(isRefused), name);
      t.ok(isRefused(Buffer.concat([bytes, Buffer.alloc(1)])));
      t.ok(isRefused(Buffer.concat([bytes, bytes])));
    }
  });

  t.test('as many signatures as signers', async (t) => {
    const { signatures, messageBytes } = decodeTransaction(base64(transfer));
    const [signature = Buffer.alloc(0)] = signatures;
    for (const wrong of [[], [signature, signature], [signature, signature, signature]]) {
      const refusal = `it has ${wrong.length} signatures, and 1 are to sign it`;
      t.throws(() => decodeTransaction(encodeTransaction(wrong, messageBytes)), new MalformedTransaction(refusal));
    }
    t.throws(() => decodeTransaction(base64(messageBytes)), /^Malformed transaction: /, 'a message alone');
    const looking = decodeTransaction(base64(samples[3]?.[1] ?? transfer)).messageBytes;
    t.throws(() => decodeTransaction(base64(looking)), new MalformedTransaction('it has no room for signatures'));
    t.throws(() => encodeTransaction([signature.subarray(1)], messageBytes), RangeError);
  });

  t.test('base64 has one form', async (t) => {
    const text = 'AP/+vw==';
    t.throws(() => decodeTransaction(text), /version 127 is unknown/, 'base64 it is');
    const others = [
      'AP_-vw==',
      'AP/+vw=',
      'AP/+vw',
      'AP/+vw===',
      ' AP/+vw==',
      'AP/+vw==\n',
      'AP/+ vw==',
      'AP/+vx==',
      'AP/+v',
    ];
    for (const other of [...others, 'AP/+vw==AAAA', '====', '%', 'é', '\u0000', transfer.toString('latin1')]) {
      t.throws(() => decodeTransaction(other), new MalformedTransaction('it is not standard base64 with padding'));
    }
    t.throws(() => decodeTransaction(''), /ends too early/);
  });

  /** A transfer with enough data to make the transaction this long. */
  function ofLength(length: number): { signatures: readonly Buffer[]; message: CompiledMessage } {
    const { signatures, message } = decodeTransaction(VECTOR);
    const [call] = message.instructions;
    // The data length takes two bytes from 128 on.
    const data = Buffer.alloc(length - Buffer.from(VECTOR, 'base64').length + 12 - 1);
    const instructions = call === undefined ? [] : [{ ...call, data }];
    return { signatures, message: { ...message, instructions } };
  }

  t.test('a transaction fits into a packet', async (t) => {
    const { signatures, message } = ofLength(MAX_TRANSACTION);
    const most = encodeMessage(message);
    t.equal(Buffer.from(encodeTransaction(signatures, most), 'base64').length, 1232);
    t.same(decodeTransaction(encodeTransaction(signatures, most)).messageBytes, most);

    const more = ofLength(MAX_TRANSACTION + 1);
    const large = Buffer.concat([most, Buffer.alloc(1)]);
    const refusal = new MalformedTransaction('it is too large, it has 1233 bytes and 1232 are the most');
    t.equal(transactionSize(more.message), 1233);
    t.throws(() => encodeMessage(more.message), refusal);
    t.throws(() => encodeTransaction(signatures, large), refusal);
    t.throws(() => decodeTransaction(base64(Buffer.concat([Buffer.from([1]), ...signatures, large]))), refusal);
    t.throws(() => decodeTransaction('A'.repeat(5468)), /it is too large, 1232 bytes are the most/);
  });

  t.test('version 1 is refused by its name, however large it is', async (t) => {
    for (const length of [1, 400, 2000, 4096]) {
      const bytes = Buffer.alloc(length, 1);
      bytes[0] = 0x81;
      t.throws(() => decodeTransaction(base64(bytes)), /version 1 \(SIMD-0385\) is not supported/);
    }
  });

  t.test('a signature is of one account over one message', async (t) => {
    const pair = ed25519Pair(Buffer.alloc(32, 8));
    const account = addressOfPublicKey(pair.publicKey);
    const message = Buffer.from('message');
    const signature = Buffer.from(pair.sign(message));
    t.ok(isSignatureOf(account, signature, message));
    t.notOk(isSignatureOf(keypair(9).publicKey.toBase58(), signature, message));
    t.notOk(isSignatureOf(account, signature, Buffer.from('massage')));
    t.notOk(isSignatureOf(account, Buffer.alloc(SIGNATURE_LENGTH), message));
    t.notOk(isSignatureOf(account, signature.subarray(1), message));
    t.notOk(isSignatureOf(addressOfPublicKey(Buffer.alloc(32, 2)), signature, message), 'no point of the curve');
    t.throws(() => isSignatureOf('x', signature, message), TypeError);
    for (let bit = 0; bit < 512; bit += 1) {
      const changed = Buffer.from(signature);
      changed[bit >> 3] = changed.readUInt8(bit >> 3) ^ (1 << (bit & 7));
      if (isSignatureOf(account, changed, message)) t.fail(`bit ${bit}`);
    }
    t.notOk(isSignatureOf(account, addOrder(signature), message), 'S is below the order of the group');
  });

  /** The order of the group that signatures use (RFC 8032, section 5.1). */
  const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

  const integer = (littleEndian: Uint8Array) => BigInt(`0x${Buffer.from(littleEndian).reverse().toString('hex')}`);
  const littleEndian = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();

  /**
   * Adds the group order to S. A lax verifier accepts the result as another valid signature (RFC 8032, section 5.1.7).
   */
  function addOrder(signature: Buffer): Buffer {
    return Buffer.concat([signature.subarray(0, 32), littleEndian(integer(signature.subarray(32)) + ORDER)]);
  }

  t.test('nobody signs for the System program, whose key is a point of small order', async (t) => {
    // The threat: with R = sB the equation sB = R + kA holds without A's secret if kA is zero. For a key of small order
    // that is so for each message with a k that 8 divides. The chain refuses such keys (verify_strict of ed25519-dalek),
    // and so does OpenSSL.
    const seed = Buffer.alloc(32, 21);
    const R = ed25519Pair(seed).publicKey;
    const scalar = createHash('sha512').update(seed).digest().subarray(0, 32);
    scalar[0] = scalar.readUInt8(0) & 248;
    scalar[31] = (scalar.readUInt8(31) & 127) | 64;
    const forged = Buffer.concat([R, littleEndian(integer(scalar) % ORDER)]);

    const points = [
      '0000000000000000000000000000000000000000000000000000000000000000',
      '0100000000000000000000000000000000000000000000000000000000000000',
      '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
      'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
      'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
      'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
      'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    ].map((hex) => Buffer.from(hex, 'hex'));
    t.equal(addressOfPublicKey(points[0] ?? R), SYSTEM_PROGRAM);
    for (const key of points) {
      let holds = 0;
      for (let number = 0; number < 64; number += 1) {
        const message = Buffer.from([number]);
        const k = integer(createHash('sha512').update(R).update(key).update(message).digest()) % ORDER;
        if (k % 8n === 0n) holds += 1;
        if (isSignatureOf(addressOfPublicKey(key), forged, message))
          t.fail(`${key.toString('hex')} has signed ${number}`);
      }
      t.ok(holds > 0, `the equation holds for ${holds} messages`);
    }
  });
});

t.test('recompose', async (t) => {
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
  function lookedUp({ lookups }: CompiledMessage, tables: Tables): string[] {
    const addressOf = (table: string) => (entry: number) =>
      tables.find(({ key }) => key.toBase58() === table)?.state.addresses[entry]?.toBase58() ?? '';
    return [
      ...lookups.flatMap(({ table, writable }) => writable.map(addressOf(table))),
      ...lookups.flatMap(({ table, readonly }) => readonly.map(addressOf(table))),
    ];
  }

  /** Each instruction with its accounts, and whether it may write them. */
  function said(message: CompiledMessage, tables: Tables) {
    const keys = [...message.keys, ...lookedUp(message, tables)];
    return message.instructions.map(({ program, accounts, data }) => ({
      program: keys[program],
      accounts: accounts.map((place) => [keys[place], isWritableAccount(message, place)]),
      data: data.toString('hex'),
    }));
  }

  function compiled({ payer, blockhash, instructions, tables }: MessagePlan, isLegacy: boolean): CompiledMessage {
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
      const after = recomposeMessage(before, {
        payer: RELAYER,
        blockhash: BLOCKHASH,
        before: [EXTRA],
        lookedUp: taken,
      });
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
    const before = compileLegacyMessage({
      payer: keypair(1).publicKey.toBase58(),
      blockhash: BLOCKHASH,
      instructions: [memo],
    });
    const after = recomposeMessage(before, { payer: RELAYER, blockhash: BLOCKHASH, before: [], lookedUp: [] });
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
      const after = recomposeMessage(before, {
        payer: RELAYER,
        blockhash: before.blockhash,
        before: [EXTRA],
        lookedUp: [],
      });
      t.match(durableNonceOf(after), { account: nonce.toBase58(), value: BLOCKHASH });
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
      const after = recomposeMessage(before, { payer: RELAYER, blockhash: BLOCKHASH, before: [extra], lookedUp: all });
      t.strictSame(decodeMessage(encodeMessage(after)), after, 'it is a message');
      const loaded = [...after.keys, ...lookedUp(after, plan.tables)];
      t.equal(new Set(loaded).size, loaded.length);
      const rights = (message: CompiledMessage) =>
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
    const after = recomposeMessage(before, {
      payer: RELAYER,
      blockhash: BLOCKHASH,
      before: [EXTRA],
      lookedUp: lookups,
    });
    t.strictSame(after.lookups, [{ table: table.toBase58(), writable: [1], readonly: [] }]);
    t.ok(after.keys.includes(PROGRAM) && after.keys[0] === RELAYER);
  });
});

t.test('compute budget', async (t) => {
  const payer = keypair(1).publicKey.toBase58();
  const budgetOf = (...instructions: TransactionInstruction[]) =>
    readComputeBudget(compileLegacyMessage({ payer, blockhash: payer, instructions }));
  const call = (program: string, ...data: number[]) => callOf({ program, accounts: [], data: Buffer.from(data) });
  const setLimit = (units: number) => ComputeBudgetProgram.setComputeUnitLimit({ units });
  const setPrice = (microLamports: bigint) => ComputeBudgetProgram.setComputeUnitPrice({ microLamports });

  t.test('limit and price are as the public client writes them', async (t) => {
    const property = fc.property(fc.nat(0xffffffff), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (units, price) => {
      t.strictSame(budgetOf(call(SYSTEM_PROGRAM, 2), setPrice(price), setLimit(units)), { limit: units, price });
    });
    fc.assert(property);
  });

  t.test('a wallet’s transaction, with lookup tables too', async (t) => {
    for (const name of [
      'a transfer of tokens that another is to pay for',
      'a transfer of tokens with two lookup tables',
    ]) {
      const bytes = realTransactions[name]?.message.serialize() ?? Buffer.alloc(0);
      t.strictSame(readComputeBudget(decodeMessage(bytes)), { limit: 60_000, price: 12_345n }, name);
    }
    const transfer = realTransactions['a transfer of SOL']?.message.serialize() ?? Buffer.alloc(0);
    t.strictSame(readComputeBudget(decodeMessage(transfer)), { limit: undefined, price: undefined });
  });

  t.test('what says neither says nothing', async (t) => {
    const nothing = { limit: undefined, price: undefined };
    t.strictSame(budgetOf(), nothing);
    t.strictSame(budgetOf(call(SYSTEM_PROGRAM, 2, 1, 0, 0, 0)), nothing, 'another program');
    t.equal(SystemProgram.programId.toBase58(), SYSTEM_PROGRAM);
    for (const first of [0, 1, 4, 5, 255]) {
      t.strictSame(budgetOf(call(COMPUTE_BUDGET_PROGRAM, first, 1, 0, 0, 0, 0, 0, 0, 0)), nothing, `kind ${first}`);
    }
    for (const half of [[], [2], [2, 1, 0, 0], [3], [3, 1, 0, 0, 0, 0, 0, 0]]) {
      t.strictSame(budgetOf(call(COMPUTE_BUDGET_PROGRAM, ...half)), nothing, `half: ${half.join()}`);
    }
  });

  t.test('bytes after the value do not hide it, for the runtime does not mind them', async (t) => {
    t.strictSame(budgetOf(call(COMPUTE_BUDGET_PROGRAM, 2, 7, 0, 0, 0, 9)), { limit: 7, price: undefined });
    const price = call(COMPUTE_BUDGET_PROGRAM, 3, 8, 0, 0, 0, 0, 0, 0, 0, 9);
    t.strictSame(budgetOf(price, setPrice(1n)), { limit: undefined, price: 8n });
  });
});

t.test('durable nonce', async (t) => {
  const [payer, account, authority, sysvar, value] = [1, 2, 3, 4, 5].map((seed) =>
    keypair(seed).publicKey.toBase58(),
  ) as [string, string, string, string, string];

  const messageOf = (...calls: Call[]): CompiledMessage =>
    compileLegacyMessage({ payer, blockhash: value, instructions: calls.map(callOf) });

  const advance: Call = {
    program: SYSTEM_PROGRAM,
    accounts: [
      { key: account, isSigner: false, isWritable: true },
      { key: sysvar, isSigner: false, isWritable: false },
      { key: authority, isSigner: true, isWritable: false },
    ],
    data: Buffer.from([4, 0, 0, 0]),
  };
  const memo: Call = { program: MEMO_PROGRAMS[0] ?? '', accounts: [], data: Buffer.from('memo') };

  t.test('a wallet’s durable nonce is the one that the public client finds', async (t) => {
    for (const [name, { message }] of Object.entries(realTransactions)) {
      const nonce = durableNonceOf(decodeMessage(message.serialize()));
      if (name !== 'a durable nonce') {
        t.equal(nonce, undefined, name);
        continue;
      }
      const [first] = TransactionMessage.decompile(message).instructions;
      if (first === undefined) throw new Error('it has instructions');
      const { noncePubkey, authorizedPubkey } = SystemInstruction.decodeNonceAdvance(first);
      t.strictSame(nonce, {
        account: noncePubkey.toBase58(),
        authority: authorizedPubkey.toBase58(),
        value: message.recentBlockhash,
      });
    }
  });

  t.test('it is the first instruction, whatever follows in its data, its accounts and after it', async (t) => {
    const nonce = { account, authority, value };
    t.strictSame(durableNonceOf(messageOf(advance)), nonce);
    t.strictSame(durableNonceOf(messageOf(advance, memo)), nonce);
    t.strictSame(durableNonceOf(messageOf({ ...advance, data: Buffer.from([4, 0, 0, 0, 9]) })), nonce);
    const more = { ...advance, accounts: [...advance.accounts, { key: payer, isSigner: true, isWritable: true }] };
    t.strictSame(durableNonceOf(messageOf(more)), nonce);
    t.strictSame(durableNonceOf({ ...messageOf(advance), version: 0 }), nonce);
  });

  t.test('anything else lives by its blockhash', async (t) => {
    t.equal(durableNonceOf(messageOf()), undefined);
    t.equal(durableNonceOf(messageOf(memo, advance)), undefined, 'it is not the first');
    t.equal(durableNonceOf(messageOf({ ...advance, program: memo.program })), undefined, 'another program');
    for (const data of [[], [4], [4, 0, 0], [5, 0, 0, 0], [4, 1, 0, 0], [4, 0, 0, 1]]) {
      t.equal(durableNonceOf(messageOf({ ...advance, data: Buffer.from(data) })), undefined, `data ${data.join()}`);
    }
    for (const count of [0, 1, 2]) {
      t.equal(durableNonceOf(messageOf({ ...advance, accounts: advance.accounts.slice(0, count) })), undefined);
    }
    const readonly = advance.accounts.map((each) => ({ ...each, isWritable: false }));
    t.equal(
      durableNonceOf(messageOf({ ...advance, accounts: readonly })),
      undefined,
      'the runtime would not advance it',
    );
  });

  t.test('a nonce in a lookup table is none to the runtime', async (t) => {
    const message = messageOf(advance);
    const [first = { program: 0, accounts: [], data: Buffer.alloc(0) }] = message.instructions;
    const looked = message.keys.length;
    const lookups = [{ table: payer, writable: [0], readonly: [] }];
    for (const place of [0, 2]) {
      const accounts = first.accounts.map((index, at) => (at === place ? looked : index));
      t.equal(durableNonceOf({ ...message, version: 0, instructions: [{ ...first, accounts }], lookups }), undefined);
    }
  });

  const [NONCE, AUTHORITY, VALUE] = [keyOf(41), keyOf(42), keyOf(43)];

  /** A nonce account in the layout of the System program: version 1, state, authority, value, lamports per signature. */
  function nonceData({ state = 1 } = {}): Buffer {
    const data = Buffer.alloc(80);
    data.writeUInt32LE(1, 0);
    data.writeUInt32LE(state, 4);
    new PublicKey(AUTHORITY).toBuffer().copy(data, 8);
    new PublicKey(VALUE).toBuffer().copy(data, 40);
    data.writeBigUInt64LE(5_000n, 72);
    return data;
  }

  t.test('the value is what the public client reads', async (t) => {
    t.equal(nonceData().length, NONCE_ACCOUNT_LENGTH);
    t.equal(NonceAccount.fromAccountData(nonceData()).nonce, VALUE);
    const { rpc, doubles } = await openSolana(t, {
      accounts: { [NONCE]: { owner: SYSTEM_PROGRAM, data: nonceData() } },
    });
    const told = await rpc.onOne((read) => getDurableNonceState(read, NONCE, 'finalized'));
    t.strictSame(told, { slot: 968n, value: VALUE });
    t.match(doubles[0]?.calls, [{ method: 'getMultipleAccounts', params: [[NONCE], { commitment: 'finalized' }] }]);
  });

  t.test('what is no nonce has no value', async (t) => {
    const others: Record<string, NodeAccount> = {
      [keyOf(1)]: { owner: TOKEN_PROGRAM, data: nonceData() },
      [keyOf(2)]: { owner: SYSTEM_PROGRAM, data: nonceData({ state: 0 }) },
      [keyOf(3)]: { owner: SYSTEM_PROGRAM, data: Buffer.alloc(0) },
      [keyOf(4)]: { owner: SYSTEM_PROGRAM, data: nonceData().subarray(0, 79) },
      [keyOf(5)]: { owner: SYSTEM_PROGRAM, data: Buffer.concat([nonceData(), Buffer.alloc(1)]) },
    };
    const { rpc } = await openSolana(t, { accounts: others });
    for (const account of [...Object.keys(others), keyOf(6)]) {
      t.match(
        await rpc.onOne((read) => getDurableNonceState(read, account, 'confirmed')),
        { slot: 998n, value: undefined },
        account,
      );
    }
  });
});

t.test('lookup tables', async (t) => {
  /**
   * A table in the layout of its program (`LookupTableMeta`): discriminator, slots, authority, padding; then the
   * addresses.
   */
  function tableData(addresses: readonly Uint8Array[]): Buffer {
    const meta = Buffer.alloc(56);
    meta.writeUInt32LE(1, 0);
    meta.writeBigUInt64LE(2n ** 64n - 1n, 4);
    return Buffer.concat([meta, ...addresses]);
  }

  const message = (...lookups: TableLookup[]) => ({ ...decodeMessage(empty), lookups });
  const empty = new TransactionMessage({
    payerKey: new PublicKey(keyOf(1)),
    recentBlockhash: keyOf(2),
    instructions: [],
  })
    .compileToLegacyMessage()
    .serialize();

  t.test('what tables name is what the public client finds in them, in its order', async (t) => {
    const property = fc.asyncProperty(messagePlan, async ({ payer, blockhash, instructions, tables }) => {
      const theirs = new TransactionMessage({ payerKey: payer, recentBlockhash: blockhash, instructions });
      const compiled = theirs.compileToV0Message(tables);
      const keys = compiled.getAccountKeys({ addressLookupTableAccounts: tables });
      const ours = decodeMessage(compiled.serialize());
      const value = ours.lookups.map(({ table }) => {
        const { state } = tables.find(({ key }) => key.toBase58() === table) as AddressLookupTableAccount;
        const data = tableData(state.addresses.map((address) => address.toBytes()));
        if (AddressLookupTableAccount.deserialize(data).addresses.length !== state.addresses.length) return null;
        const there = { lamports: 1, owner: ADDRESS_LOOKUP_TABLE_PROGRAM, executable: false };
        return { ...there, data: [data.toString('base64'), 'base64'] };
      });
      const found = await resolveLookupTables(readOf({ getMultipleAccounts: { context: { slot: 1 }, value } }), ours);
      const { writable = [], readonly = [] } = keys.accountKeysFromLookups ?? {};
      const first = ours.keys.length;
      return (
        found.kind === 'found' &&
        found.writable === writable.length &&
        found.addresses.join() === [...writable, ...readonly].map((key) => key.toBase58()).join() &&
        found.addresses.every((_address, index) => isWritableAccount(ours, first + index) === index < found.writable)
      );
    });
    await fc.assert(property, { numRuns: runsOf(100) });
    t.pass('100 messages');
  });

  t.test('without tables no node is asked', async (t) => {
    const read = readOf({});
    t.strictSame(await resolveLookupTables(read, message()), { kind: 'found', addresses: [], writable: 0 });
    t.strictSame(read.asked, []);
  });

  const [TABLE, ONE, OTHER] = [keyOf(11), keyOf(12), keyOf(13)];

  /** The result of a look-up where the table is this account. */
  async function found(t: Test, account: { owner: string; data: Buffer } | undefined, lookup: Partial<TableLookup>) {
    const { rpc } = await openSolana(t, { accounts: account === undefined ? {} : { [TABLE]: account } });
    const asked = message({ table: TABLE, writable: [], readonly: [], ...lookup });
    return rpc.onOne((read) => resolveLookupTables(read, asked));
  }

  t.test('what a table does not have is a fault that names it', async (t) => {
    const addresses = [ONE, OTHER].map((key) => new PublicKey(key).toBytes());
    const table = { owner: ADDRESS_LOOKUP_TABLE_PROGRAM, data: tableData(addresses) };
    t.strictSame(await found(t, table, { writable: [1], readonly: [0] }), {
      kind: 'found',
      addresses: [OTHER, ONE],
      writable: 1,
    });
    const cases = [
      [undefined, { writable: [0] }, `Lookup table ${TABLE} does not exist`],
      [{ ...table, owner: SYSTEM_PROGRAM }, { writable: [0] }, `${TABLE} is not a lookup table`],
      [table, { readonly: [1, 2] }, `Lookup table ${TABLE} has 2 addresses and none at 2`],
      [table, { writable: [255] }, `Lookup table ${TABLE} has 2 addresses and none at 255`],
      [{ ...table, data: Buffer.alloc(4) }, { writable: [0] }, `Lookup table ${TABLE} has 0 addresses and none at 0`],
      [
        { ...table, data: table.data.subarray(0, -1) },
        { writable: [1] },
        `Lookup table ${TABLE} has 0 addresses and none at 1`,
      ],
    ] as const;
    const twice = { ...table, data: tableData([...addresses, ...addresses, new PublicKey(keyOf(1)).toBytes()]) };
    for (const [lookup, key] of [
      [{ writable: [0], readonly: [2] }, ONE],
      [{ readonly: [1, 4] }, keyOf(1)],
    ] as const) {
      const reason = `Account ${key} is loaded twice, by a lookup table for the second time`;
      t.strictSame(await found(t, twice, lookup as Partial<TableLookup>), {
        kind: 'fault',
        reason,
        mayBeBehind: false,
      });
    }
    for (const [account, lookup, reason] of cases) {
      const mayBeBehind = !reason.includes('is not a lookup table');
      t.strictSame(await found(t, account, lookup as Partial<TableLookup>), { kind: 'fault', reason, mayBeBehind });
    }
  });
});
