import { createPublicKey, verify } from 'node:crypto';
import { addressBytes } from '../address.ts';
import { MAX_TRANSACTION } from '../configuration/policy.ts';
import {
  type CompiledMessage,
  decodeMessage,
  MalformedTransaction,
  messageLength,
  messageVersion,
} from './compiled-message.ts';

export const SIGNATURE_LENGTH = 64;

/** The most bytes of a transaction of any version (SIMD-0385). Longer input is not decoded. */
const MAX_OF_ALL = 4096;

/** DER of an ed25519 public key up to the key (RFC 8410 section 4). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** A transaction as it travels. */
export interface WireTransaction {
  /** One for each signer of the message, in their order; 64 zero bytes where a signer has not signed yet. */
  signatures: readonly Buffer[];
  message: CompiledMessage;
  /** The bytes that are signed. */
  messageBytes: Buffer;
}

/** The size of a message's transaction with all its signatures, in bytes. */
export function transactionSize(message: CompiledMessage): number {
  return messageLength(message) + 1 + SIGNATURE_LENGTH * message.signers;
}

/**
 * Reads a transaction of a client: standard base64 with its padding.
 * @throws MalformedTransaction
 */
export function decodeTransaction(base64: string): WireTransaction {
  const bytes = bytesOf(base64);
  const [count = 0] = bytes;
  const messageBytes = bytes.subarray(1 + SIGNATURE_LENGTH * count);
  const message = decodeMessage(messageBytes);
  const signatures = Array.from({ length: count }, (_, index) => {
    const at = 1 + SIGNATURE_LENGTH * index;
    return bytes.subarray(at, at + SIGNATURE_LENGTH);
  });
  if (count === message.signers) return { signatures, message, messageBytes };
  throw new MalformedTransaction(`it has ${count} signatures, and ${message.signers} are to sign it`);
}

/**
 * A transaction in base64, with one signature for each signer of its message.
 * @throws MalformedTransaction when it does not fit into a packet
 * @throws RangeError for a signature that is not 64 bytes
 */
export function encodeTransaction(signatures: readonly Uint8Array[], messageBytes: Uint8Array): string {
  const odd = signatures.find(({ length }) => length !== SIGNATURE_LENGTH);
  if (odd !== undefined) throw new RangeError(`a signature has ${odd.length} bytes`);
  const bytes = Buffer.concat([Buffer.of(signatures.length), ...signatures, messageBytes]);
  assertFits(bytes.length);
  return bytes.toString('base64');
}

/** Whether a place for a signature is empty. */
export function isEmptySignature(signature: Uint8Array): boolean {
  return signature.every((byte) => byte === 0);
}

/** Whether the chain takes this as the account's signature of the message. */
export function isSignatureOf(account: string, signature: Uint8Array, message: Uint8Array): boolean {
  const spki = createPublicKey({
    key: Buffer.concat([SPKI_PREFIX, addressBytes(account)]),
    format: 'der',
    type: 'spki',
  });
  return verify(null, message, spki, signature);
}

/** Decodes canonical base64: the bytes must give the same text again. */
function bytesOf(base64: string): Buffer {
  if (base64.length > Math.ceil(MAX_OF_ALL / 3) * 4) {
    throw new MalformedTransaction(`it is too large, ${MAX_TRANSACTION} bytes are the most`);
  }
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') !== base64) throw new MalformedTransaction('it is not standard base64 with padding');
  // A packet holds fewer than 0x80 signatures. A transaction of version 1 begins with its version instead of a count.
  const first = bytes[0] ?? 0;
  if (first >= 0x80 && messageVersion(first) === 0) throw new MalformedTransaction('it has no room for signatures');
  assertFits(bytes.length);
  return bytes;
}

function assertFits(length: number): void {
  if (length <= MAX_TRANSACTION) return;
  throw new MalformedTransaction(`it is too large, it has ${length} bytes and ${MAX_TRANSACTION} are the most`);
}
