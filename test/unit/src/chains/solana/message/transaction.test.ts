import { createHash } from 'node:crypto';
import { VersionedTransaction } from '@solana/web3.js';
import t from 'tap';
import { addressOf, keyOf } from '../../../../../../src/chains/solana/address.ts';
import { MAX_TRANSACTION } from '../../../../../../src/chains/solana/configuration/policy.ts';
import {
  encodeMessage,
  MalformedTransaction,
  type Message,
} from '../../../../../../src/chains/solana/message/compiled-message.ts';
import {
  decodeTransaction,
  encodeTransaction,
  isSignatureOf,
  isUnsigned,
  SIGNATURE_LENGTH,
  sizeOf,
} from '../../../../../../src/chains/solana/message/transaction.ts';
import { SYSTEM_PROGRAM } from '../../../../../../src/chains/solana/programs.ts';
import { ed25519Pair } from '../../../../../../src/signers/ed25519.ts';
import { runsOf } from '../../../../../support/properties.ts';
import { keypair, realTransactions } from '../../../../../support/solana-messages.ts';

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
      t.equal(isSigned, !isUnsigned(signature));
    }
  }
  const half = decodeTransaction(base64(samples[1]?.[1] ?? transfer));
  t.same(half.signatures.map(isUnsigned), [true, false], 'the payer has not signed yet');
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
  const keys = [...message.keys, message.blockhash, ...message.lookups.map(({ table }) => table)].map(keyOf);
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
function ofLength(length: number): { signatures: readonly Buffer[]; message: Message } {
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
  t.equal(sizeOf(more.message), 1233);
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
  const account = addressOf(pair.publicKey);
  const message = Buffer.from('message');
  const signature = Buffer.from(pair.sign(message));
  t.ok(isSignatureOf(account, signature, message));
  t.notOk(isSignatureOf(keypair(9).publicKey.toBase58(), signature, message));
  t.notOk(isSignatureOf(account, signature, Buffer.from('massage')));
  t.notOk(isSignatureOf(account, Buffer.alloc(SIGNATURE_LENGTH), message));
  t.notOk(isSignatureOf(account, signature.subarray(1), message));
  t.notOk(isSignatureOf(addressOf(Buffer.alloc(32, 2)), signature, message), 'no point of the curve');
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
  t.equal(addressOf(points[0] ?? R), SYSTEM_PROGRAM);
  for (const key of points) {
    let holds = 0;
    for (let number = 0; number < 64; number += 1) {
      const message = Buffer.from([number]);
      const k = integer(createHash('sha512').update(R).update(key).update(message).digest()) % ORDER;
      if (k % 8n === 0n) holds += 1;
      if (isSignatureOf(addressOf(key), forged, message)) t.fail(`${key.toString('hex')} has signed ${number}`);
    }
    t.ok(holds > 0, `the equation holds for ${holds} messages`);
  }
});
