import { createPublicKey, verify } from 'node:crypto';
import { toBase58 } from './base58.ts';

export type Version = 'legacy' | 0 | 1;

export interface WireInstruction {
  program: number;
  accounts: number[];
  data: Uint8Array;
}

export interface WireLookup {
  table: string;
  writable: number[];
  readonly: number[];
}

/** The settings in a message of version 1; null: not set. */
export interface WireConfig {
  /** Lamports in addition to the fee for signatures. */
  priorityFee: bigint | null;
  computeUnitLimit: number | null;
  loadedAccountsDataSizeLimit: number | null;
  heapSize: number | null;
}

export interface WireMessage {
  version: Version;
  /** The signed bytes. */
  bytes: Uint8Array;
  signers: number;
  readonlySigners: number;
  readonlyOthers: number;
  keys: string[];
  blockhash: string;
  instructions: WireInstruction[];
  lookups: WireLookup[];
  /** Of version 1 alone. */
  config: WireConfig | null;
}

export interface WireTransaction {
  bytes: Uint8Array;
  signatures: Uint8Array[];
  /** The first signature, in base58. */
  signature: string;
  message: WireMessage;
}

/** Thrown for bytes that are no transaction. The text is the reason. */
export class WireFault extends Error {}

const KEY = 32;
const SIGNATURE = 64;
const VERSION_1 = 0x81;
const SPKI_OF_ED25519 = Buffer.from('302a300506032b6570032100', 'hex');

class Reader {
  readonly #bytes: Uint8Array;
  place = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  take(count: number): Uint8Array {
    if (this.place + count > this.#bytes.length) throw new WireFault('io error: unexpected end of file');
    this.place += count;
    return this.#bytes.subarray(this.place - count, this.place);
  }

  byte(): number {
    return this.take(1)[0] as number;
  }

  peek(): number {
    const byte = this.byte();
    this.place -= 1;
    return byte;
  }

  bytesOf(count: number): number[] {
    return [...this.take(count)];
  }

  number(count: number): bigint {
    return BigInt(`0x${Buffer.from(this.take(count)).reverse().toString('hex')}`);
  }

  /** compact-u16: seven bits a byte, at most three bytes, no needless zero byte. */
  short(): number {
    let value = 0;
    for (let shift = 0; shift < 21; shift += 7) {
      const byte = this.byte();
      if (shift > 0 && byte === 0) break;
      value += (byte & 0x7f) << shift;
      if (byte < 0x80 && value <= 0xffff) return value;
      if (byte < 0x80) break;
    }
    throw new WireFault('invalid value: compact-u16, expected a canonical one');
  }

  key(): string {
    return toBase58(this.take(KEY));
  }

  many<T>(count: number, read: () => T): T[] {
    return Array.from({ length: count }, read);
  }
}

/** Reads a transaction as the node does. @throws WireFault */
export function readTransaction(bytes: Uint8Array): WireTransaction {
  const reader = new Reader(bytes);
  let signatures: Uint8Array[] = [];
  if (bytes[0] !== VERSION_1) signatures = reader.many(reader.short(), () => reader.take(SIGNATURE));
  const message = readMessage(bytes.subarray(reader.place));
  if (message.version === 1) {
    reader.take(message.bytes.length);
    signatures = reader.many(message.signers, () => reader.take(SIGNATURE));
  }
  return { bytes, signatures, signature: toBase58(signatures[0] ?? new Uint8Array(SIGNATURE)), message };
}

/** Reads a message, without signatures. @throws WireFault */
export function readMessage(bytes: Uint8Array): WireMessage {
  const reader = new Reader(bytes);
  const first = reader.peek();
  if (first < 0x80) return readClassic(reader, bytes, 'legacy');
  reader.byte();
  if (first === 0x80) return readClassic(reader, bytes, 0);
  if (first === VERSION_1) return readOne(reader, bytes);
  throw new WireFault(`invalid value: integer \`${first & 0x7f}\`, expected a valid transaction message version`);
}

function readClassic(reader: Reader, bytes: Uint8Array, version: 'legacy' | 0): WireMessage {
  const [signers = 0, readonlySigners = 0, readonlyOthers = 0] = reader.bytesOf(3);
  const keys = reader.many(reader.short(), () => reader.key());
  const blockhash = reader.key();
  const instructions = reader.many(reader.short(), () => ({
    program: reader.byte(),
    accounts: reader.bytesOf(reader.short()),
    data: reader.take(reader.short()),
  }));
  const lookups =
    version === 'legacy'
      ? []
      : reader.many(reader.short(), () => ({
          table: reader.key(),
          writable: reader.bytesOf(reader.short()),
          readonly: reader.bytesOf(reader.short()),
        }));
  const head = { version, signers, readonlySigners, readonlyOthers, keys, blockhash, config: null };
  return { ...head, instructions, lookups, bytes: bytes.subarray(0, reader.place) };
}

/** SIMD-0385. */
function readOne(reader: Reader, bytes: Uint8Array): WireMessage {
  const [signers = 0, readonlySigners = 0, readonlyOthers = 0] = reader.bytesOf(3);
  const mask = Number(reader.number(4));
  const blockhash = reader.key();
  const [instructionCount = 0, keyCount = 0] = reader.bytesOf(2);
  const keys = reader.many(keyCount, () => reader.key());
  const size = (bit: number) => ((mask & bit) === 0 ? null : Number(reader.number(4)));
  const config = {
    priorityFee: (mask & 0b11) === 0b11 ? reader.number(8) : null,
    computeUnitLimit: size(0b100),
    loadedAccountsDataSizeLimit: size(0b1000),
    heapSize: size(0b10000),
  };
  const sizes = reader.many(instructionCount, () => {
    const [program = 0, accounts = 0] = reader.bytesOf(2);
    return { program, accounts, data: Number(reader.number(2)) };
  });
  const instructions = sizes.map(({ program, accounts, data }) => ({
    program,
    accounts: reader.bytesOf(accounts),
    data: reader.take(data),
  }));
  const head = { version: 1 as const, signers, readonlySigners, readonlyOthers, keys, blockhash, config };
  return { ...head, instructions, lookups: [], bytes: bytes.subarray(0, reader.place) };
}

/** Whether counts and indexes agree: the runtime's `sanitize`. */
export function isSane({ signatures, message }: WireTransaction): boolean {
  const { signers, readonlySigners, readonlyOthers, keys, lookups } = message;
  const loaded = lookups.reduce((sum, { writable, readonly }) => sum + writable.length + readonly.length, 0);
  const total = keys.length + loaded;
  return (
    signatures.length === signers &&
    signers + readonlyOthers <= keys.length &&
    readonlySigners < signers &&
    total <= 256 &&
    lookups.every(({ writable, readonly }) => writable.length + readonly.length > 0) &&
    message.instructions.every(
      ({ program, accounts }) => program > 0 && program < keys.length && accounts.every((index) => index < total),
    )
  );
}

/** Whether every signature is by its key over the message. */
export function isSigned({ signatures, message }: WireTransaction, keys: readonly Uint8Array[]): boolean {
  return signatures.every((signature, index) => {
    const key = keys[index];
    if (key === undefined) return false;
    const spki = createPublicKey({ key: Buffer.concat([SPKI_OF_ED25519, key]), format: 'der', type: 'spki' });
    return verify(null, message.bytes, spki, signature);
  });
}

/** Whether an instruction may write the key at this place among the message's own. */
export function isWritable({ signers, readonlySigners, readonlyOthers, keys }: WireMessage, index: number): boolean {
  return index < signers ? index < signers - readonlySigners : index < keys.length - readonlyOthers;
}
