import { addressOf, keyOf } from '../address.ts';
import { ByteReader, ByteWriter } from './binary.ts';

/** A call of a program. */
export interface CompiledInstruction {
  /** The index of its key, which is always a static one. */
  program: number;
  /** Indexes into the static keys, then the looked-up writable ones, then the looked-up readonly ones. */
  accounts: readonly number[];
  data: Buffer;
}

/** Keys that are taken from a table on the chain. */
export interface TableLookup {
  table: string;
  writable: readonly number[];
  readonly: readonly number[];
}

/** The part of a transaction that is signed. */
export interface Message {
  version: 'legacy' | 0;
  /** How many of the keys have to sign: the first ones. */
  signers: number;
  /** How many of the signers are readonly: the last ones. */
  readonlySigners: number;
  /** How many of the static keys that do not sign are readonly: the last ones. */
  readonlyOthers: number;
  /** The static keys, in base58; the first pays. */
  keys: readonly string[];
  /** In base58; with a durable nonce it is the nonce's value. */
  blockhash: string;
  instructions: readonly CompiledInstruction[];
  /** Empty in a legacy message. */
  lookups: readonly TableLookup[];
}

/** Thrown for bytes that are no transaction. Its text tells the client why. */
export class MalformedTransaction extends Error {
  constructor(reason: string) {
    super(`Malformed transaction: ${reason}`);
  }
}

const KEY_LENGTH = 32;

/** The most accounts of a message: an instruction names an account with one byte. */
const MOST_KEYS = 256;

/**
 * Set in the first byte where the other seven bits hold a version. A legacy message begins with the number of its
 * signers.
 */
const VERSIONED = 0x80;

/**
 * Reads a message, at least as strictly as the runtime does. {@link encodeMessage} gives back the same bytes, and every
 * index in the message is valid.
 * @throws MalformedTransaction
 */
export function decodeMessage(bytes: Uint8Array): Message {
  const reader = new ByteReader(Buffer.from(bytes), MalformedTransaction);
  const first = reader.byte();
  const version = versionOf(first);
  const message: Message = {
    version,
    signers: version === 'legacy' ? first : reader.byte(),
    readonlySigners: reader.byte(),
    readonlyOthers: reader.byte(),
    keys: reader.list(reader.shortvec(), () => readKey(reader)),
    blockhash: readKey(reader),
    instructions: reader.list(reader.shortvec(), () => ({
      program: reader.byte(),
      accounts: readIndexes(reader),
      data: reader.take(reader.shortvec()),
    })),
    lookups: version === 'legacy' ? [] : reader.list(reader.shortvec(), () => readLookup(reader)),
  };
  reader.end();
  assertSound(message);
  return message;
}

/**
 * The bytes of a message, to be signed.
 * @throws MalformedTransaction where {@link decodeMessage} would
 * @throws TypeError for a key that is no address
 */
export function encodeMessage(message: Message): Buffer {
  assertSound(message);
  const { version, signers, readonlySigners, readonlyOthers, keys, blockhash, instructions, lookups } = message;
  const writer = new ByteWriter();
  if (version !== 'legacy') writer.byte(VERSIONED | version);
  writer.byte(signers).byte(readonlySigners).byte(readonlyOthers).shortvec(keys.length);
  for (const key of keys) writer.bytes(keyOf(key));
  writer.bytes(keyOf(blockhash)).shortvec(instructions.length);
  for (const { program, accounts, data } of instructions) {
    writer.byte(program).indexes(accounts).shortvec(data.length).bytes(data);
  }
  if (version === 'legacy') return writer.finish();
  writer.shortvec(lookups.length);
  for (const { table, writable, readonly } of lookups) writer.bytes(keyOf(table)).indexes(writable).indexes(readonly);
  return writer.finish();
}

/**
 * The version by a message's first byte.
 * @throws MalformedTransaction for a version that is not supported
 */
export function versionOf(first: number): 'legacy' | 0 {
  if (first < VERSIONED) return 'legacy';
  if (first === VERSIONED) return 0;
  throw new MalformedTransaction(
    first === (VERSIONED | 1)
      ? 'version 1 (SIMD-0385) is not supported, send a legacy transaction or one of version 0'
      : `version ${first - VERSIONED} is unknown, send a legacy transaction or one of version 0`,
  );
}

/** Whether the message needs a signature of the key at this index. */
export function isSigner({ signers }: Message, index: number): boolean {
  return index < signers;
}

/**
 * Whether the message lets instructions write the account at this index. The runtime still protects its own accounts.
 */
export function isWritable(message: Message, index: number): boolean {
  const { signers, readonlySigners, readonlyOthers, keys, lookups } = message;
  if (index < signers) return index < signers - readonlySigners;
  if (index < keys.length) return index < keys.length - readonlyOthers;
  return index < keys.length + lookups.reduce((sum, { writable }) => sum + writable.length, 0);
}

function readKey(reader: ByteReader): string {
  return addressOf(reader.take(KEY_LENGTH));
}

function readIndexes(reader: ByteReader): number[] {
  return [...reader.take(reader.shortvec())];
}

function readLookup(reader: ByteReader): TableLookup {
  return { table: readKey(reader), writable: readIndexes(reader), readonly: readIndexes(reader) };
}

/**
 * Checks a message like the runtime's `sanitize` (anza-xyz/solana-sdk, message). Also refuses an account that is loaded
 * twice, which the runtime refuses later.
 */
function assertSound(message: Message): void {
  const fault = headerFault(message) ?? lookupFault(message) ?? instructionFault(message);
  if (fault !== undefined) throw new MalformedTransaction(fault);
}

function headerFault({ signers, readonlySigners, readonlyOthers, keys }: Message): string | undefined {
  if (signers < 1) return 'nobody is to sign it';
  if (signers >= VERSIONED) return `${signers} are to sign it, whose signatures have no room`;
  if (readonlySigners >= signers) return 'its payer is not writable';
  if (signers + readonlyOthers > keys.length) {
    return `its header counts ${signers + readonlyOthers} accounts, and it has ${keys.length}`;
  }
  return new Set(keys).size < keys.length ? 'it has an account twice' : undefined;
}

function lookupFault({ version, keys, lookups }: Message): string | undefined {
  if (version === 'legacy' && lookups.length > 0) return 'a legacy one has no lookup tables';
  const entries = lookups.flatMap(({ table, writable, readonly }) =>
    [...writable, ...readonly].map((entry) => `${table} ${entry}`),
  );
  if (keys.length + entries.length > MOST_KEYS) {
    return `it has ${keys.length + entries.length} accounts, and ${MOST_KEYS} are the most`;
  }
  const idle = lookups.find(({ writable, readonly }) => writable.length + readonly.length === 0);
  if (idle !== undefined) return `it takes no account from the lookup table ${idle.table}`;
  if (new Set(entries).size < entries.length) return 'it takes an account from a lookup table twice';
  return undefined;
}

function instructionFault({ keys, instructions, lookups }: Message): string | undefined {
  const taken = lookups.reduce((sum, { writable, readonly }) => sum + writable.length + readonly.length, 0);
  const total = keys.length + taken;
  for (const [index, { program, accounts }] of instructions.entries()) {
    if (program === 0) return `instruction ${index} calls the payer`;
    if (program >= keys.length) return `instruction ${index} calls account ${program}, which is none of its own`;
    const stray = accounts.find((account) => account >= total);
    if (stray !== undefined) return `instruction ${index} names account ${stray}, and there are ${total}`;
  }
  return undefined;
}
