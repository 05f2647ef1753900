import {
  type AddressLookupTableAccount,
  type MessageCompiledInstruction,
  MessageV0,
  PublicKey,
  type TransactionInstruction,
  TransactionMessage,
} from '@solana/web3.js';
import { addressBytes } from '../address.ts';
import { MAX_TRANSACTION } from '../configuration/policy.ts';

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
export interface CompiledMessage {
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
  constructor(reason: string, options?: ErrorOptions) {
    super(`Malformed transaction: ${reason}`, options);
  }
}

/** The most accounts of a message: an instruction names an account with one byte. */
const MAX_KEYS = 256;

/** The bytes of a transaction around its message: one signature, and the number of signatures. */
const MIN_AROUND = 1 + 64;

/**
 * Set in the first byte where the other seven bits hold a version. A legacy message begins with the number of its
 * signers.
 */
const VERSIONED = 0x80;

/**
 * A legacy message is a message of version 0 without its first byte and without its last, the number of its lookup
 * tables. So one class of the package reads and writes both. Its class for legacy messages keeps data in base58, which
 * takes milliseconds for a thousand bytes of data: fifty times as long.
 */
const NO_TABLES = Buffer.of(0);
const VERSION_0 = Buffer.of(VERSIONED);

/**
 * Reads a message, at least as strictly as the runtime does. {@link encodeMessage} gives back the same bytes, and every
 * index in the message is valid.
 * @throws MalformedTransaction
 */
export function decodeMessage(bytes: Uint8Array): CompiledMessage {
  const [first] = bytes;
  if (first === undefined) throw new MalformedTransaction('it ends too early');
  const version = messageVersion(first);
  const complete = Buffer.concat(version === 0 ? [bytes] : [VERSION_0, bytes, NO_TABLES]);
  const message = viewOf(version, read(complete));
  assertSound(message);
  // The package ignores what follows a message, and takes lengths that are longer than they have to be.
  const written = encodeMessage(message);
  if (written.equals(bytes)) return message;
  const isBegun = written.length < bytes.length && written.equals(bytes.subarray(0, written.length));
  throw new MalformedTransaction(
    isBegun
      ? `it goes on after its end, for ${bytes.length - written.length} bytes`
      : 'a length in it is no canonical compact-u16',
  );
}

function read(complete: Buffer): MessageV0 {
  try {
    return MessageV0.deserialize(complete);
  } catch (error) {
    throw new MalformedTransaction('it ends too early', { cause: error });
  }
}

function viewOf(version: CompiledMessage['version'], compiled: MessageV0): CompiledMessage {
  const { header, staticAccountKeys, recentBlockhash, compiledInstructions, addressTableLookups } = compiled;
  const lookups = addressTableLookups.map(({ accountKey, writableIndexes, readonlyIndexes }) => ({
    table: accountKey.toBase58(),
    writable: writableIndexes,
    readonly: readonlyIndexes,
  }));
  return {
    version,
    signers: header.numRequiredSignatures,
    readonlySigners: header.numReadonlySignedAccounts,
    readonlyOthers: header.numReadonlyUnsignedAccounts,
    keys: staticAccountKeys.map((key) => key.toBase58()),
    blockhash: recentBlockhash,
    instructions: compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
      program: programIdIndex,
      accounts: accountKeyIndexes,
      data: Buffer.from(data),
    })),
    // Bytes after a legacy message look like tables.
    lookups: version === 'legacy' ? [] : lookups,
  };
}

/**
 * The bytes of a message, to be signed.
 * @throws MalformedTransaction where {@link decodeMessage} would, and where it is too large for a packet
 * @throws TypeError for a key that is not an address
 */
export function encodeMessage(message: CompiledMessage): Buffer {
  assertSound(message);
  const size = messageLength(message) + MIN_AROUND;
  if (size > MAX_TRANSACTION) {
    throw new MalformedTransaction(`it is too large, it has ${size} bytes and ${MAX_TRANSACTION} are the most`);
  }
  const written = Buffer.from(toMessageV0(message).serialize());
  return message.version === 'legacy' ? written.subarray(1, -1) : written;
}

/** The message in the package's form. */
export function toMessageV0(message: CompiledMessage): MessageV0 {
  return new MessageV0({
    header: {
      numRequiredSignatures: message.signers,
      numReadonlySignedAccounts: message.readonlySigners,
      numReadonlyUnsignedAccounts: message.readonlyOthers,
    },
    staticAccountKeys: message.keys.map(publicKeyOf),
    recentBlockhash: message.blockhash,
    compiledInstructions: message.instructions.map(
      ({ program, accounts, data }): MessageCompiledInstruction => ({
        programIdIndex: program,
        accountKeyIndexes: [...accounts],
        data,
      }),
    ),
    addressTableLookups: message.lookups.map(({ table, writable, readonly }) => ({
      accountKey: publicKeyOf(table),
      writableIndexes: [...writable],
      readonlyIndexes: [...readonly],
    })),
  });
}

/** @throws TypeError for a text that is not an address */
export function publicKeyOf(address: string): PublicKey {
  return new PublicKey(addressBytes(address));
}

/** The number of a message's bytes, also where they are too many to be written. */
export function messageLength({ version, keys, instructions, lookups }: CompiledMessage): number {
  const list = (count: number, bytes = count) => (count < 0x80 ? 1 : count < 0x40_00 ? 2 : 3) + bytes;
  const sum = (lengths: readonly number[]) => lengths.reduce((total, one) => total + one, 0);
  const parts = instructions.map(({ accounts, data }) => 1 + list(accounts.length) + list(data.length));
  const tables = lookups.map(({ writable, readonly }) => 32 + list(writable.length) + list(readonly.length));
  const own = 3 + list(keys.length, 32 * keys.length) + 32 + list(parts.length, sum(parts));
  return version === 'legacy' ? own : 1 + own + list(tables.length, sum(tables));
}

/** Instructions that are to become a message. */
export interface MessageComposition {
  payer: string;
  instructions: readonly TransactionInstruction[];
  blockhash: string;
}

/**
 * Compiles instructions into a legacy message.
 * @throws MalformedTransaction for more accounts than a message has, and where the payer is called
 */
export function compileLegacyMessage(composition: MessageComposition): CompiledMessage {
  return compileMessage('legacy', composition, []);
}

/** Compiles instructions into a message of either version; one of version 0 takes accounts from these tables. */
export function compileMessage(
  version: CompiledMessage['version'],
  { payer, instructions, blockhash }: MessageComposition,
  tables: AddressLookupTableAccount[],
): CompiledMessage {
  const named = new Set([
    payer,
    ...instructions.flatMap(({ programId, keys }) => [programId, ...keys.map(({ pubkey }) => pubkey)].map(String)),
  ]);
  assertRoom(named.size);
  const draft = new TransactionMessage({
    payerKey: publicKeyOf(payer),
    recentBlockhash: blockhash,
    instructions: [...instructions],
  });
  const message = viewOf(version, draft.compileToV0Message(tables));
  assertSound(message);
  return message;
}

/**
 * The version by a message's first byte.
 * @throws MalformedTransaction for a version that is not supported
 */
export function messageVersion(first: number): 'legacy' | 0 {
  if (first < VERSIONED) return 'legacy';
  if (first === VERSIONED) return 0;
  throw new MalformedTransaction(
    first === (VERSIONED | 1)
      ? 'version 1 (SIMD-0385) is not supported, send a legacy transaction or one of version 0'
      : `version ${first - VERSIONED} is unknown, send a legacy transaction or one of version 0`,
  );
}

/**
 * Whether the message lets instructions write the account at this index. The runtime still protects its own accounts.
 */
export function isWritableAccount(message: CompiledMessage, index: number): boolean {
  const { signers, readonlySigners, readonlyOthers, keys, lookups } = message;
  if (index < signers) return index < signers - readonlySigners;
  if (index < keys.length) return index < keys.length - readonlyOthers;
  return index < keys.length + lookups.reduce((sum, { writable }) => sum + writable.length, 0);
}

/**
 * Checks a message like the runtime's `sanitize` (anza-xyz/solana-sdk, message). Also refuses an account that is loaded
 * twice, which the runtime refuses later.
 */
function assertSound(message: CompiledMessage): void {
  const fault = headerFault(message) ?? lookupFault(message) ?? instructionFault(message);
  if (fault !== undefined) throw new MalformedTransaction(fault);
}

function headerFault({ signers, readonlySigners, readonlyOthers, keys }: CompiledMessage): string | undefined {
  if (signers < 1) return 'nobody is to sign it';
  if (signers >= VERSIONED) return `${signers} are to sign it, whose signatures have no room`;
  if (readonlySigners >= signers) return 'its payer is not writable';
  if (signers + readonlyOthers > keys.length) {
    return `its header counts ${signers + readonlyOthers} accounts, and it has ${keys.length}`;
  }
  return new Set(keys).size < keys.length ? 'it has an account twice' : undefined;
}

function lookupFault({ version, keys, lookups }: CompiledMessage): string | undefined {
  if (version === 'legacy' && lookups.length > 0) return 'a legacy one has no lookup tables';
  const entries = lookups.flatMap(({ table, writable, readonly }) =>
    [...writable, ...readonly].map((entry) => `${table} ${entry}`),
  );
  assertRoom(keys.length + entries.length);
  const idle = lookups.find(({ writable, readonly }) => writable.length + readonly.length === 0);
  if (idle !== undefined) return `it takes no account from the lookup table ${idle.table}`;
  if (new Set(entries).size < entries.length) return 'it takes an account from a lookup table twice';
  return undefined;
}

function assertRoom(accounts: number): void {
  if (accounts <= MAX_KEYS) return;
  throw new MalformedTransaction(`it has ${accounts} accounts, and ${MAX_KEYS} are the most`);
}

function instructionFault({ keys, instructions, lookups }: CompiledMessage): string | undefined {
  const lookedUp = lookups.reduce((sum, { writable, readonly }) => sum + writable.length + readonly.length, 0);
  const total = keys.length + lookedUp;
  for (const [index, { program, accounts }] of instructions.entries()) {
    if (program === 0) return `instruction ${index} calls the payer`;
    if (program >= keys.length) return `instruction ${index} calls account ${program}, which is none of its own`;
    const stray = accounts.find((account) => account >= total);
    if (stray !== undefined) return `instruction ${index} names account ${stray}, and there are ${total}`;
  }
  return undefined;
}
