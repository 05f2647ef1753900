import { fromBase58 } from './base58.ts';
import { type Fields, oneOf } from './params.ts';
import { invalidParams } from './rpc-error.ts';
import {
  isSane,
  readMessage,
  readTransaction,
  WireFault,
  type WireMessage,
  type WireTransaction,
} from './wire-transaction.ts';

const TYPE = 'solana_transaction::versioned::VersionedTransaction';

/** Encoded characters and raw bytes: one packet, or what version 1 may fill. */
const LIMITS = { base58: 1683, base64: 1644, raw: 1232, rawOfOne: 4096, base64OfOne: 5464 };

/** A transaction of a call's first parameter, whose counts and indexes agree. @throws RpcError */
export function transactionIn(text: string, { encoding }: Fields): WireTransaction {
  const bytes = bytesIn(text, oneOf(encoding, ['base58', 'base64'], 'encoding') ?? 'base58');
  const transaction = read(() => readTransaction(bytes), TYPE);
  if (!isSane(transaction)) {
    throw invalidParams('invalid transaction: Transaction failed to sanitize accounts offsets correctly');
  }
  return transaction;
}

/** A message in base64. @throws RpcError */
export function messageIn(text: string): WireMessage {
  const bytes = base64(text);
  return read(() => readMessage(bytes), 'solana_message::versions::VersionedMessage');
}

function bytesIn(text: string, encoding: 'base58' | 'base64'): Uint8Array {
  const bytes = encoding === 'base64' ? base64(text) : base58(text);
  const isOne = bytes[0] === 0x81;
  const [mostText, mostRaw] = isOne ? [LIMITS.base64OfOne, LIMITS.rawOfOne] : [LIMITS[encoding], LIMITS.raw];
  if (text.length > mostText) {
    throw invalidParams(
      `${encoding} encoded ${TYPE} too large: ${text.length} bytes (max: encoded/raw ${mostText}/${mostRaw})`,
    );
  }
  if (bytes.length > mostRaw) {
    throw invalidParams(`decoded ${TYPE} too large: ${bytes.length} bytes (max: ${mostRaw} bytes)`);
  }
  return bytes;
}

function base64(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw invalidParams('invalid base64 encoding: Invalid byte or padding');
  return bytes;
}

function base58(text: string): Uint8Array {
  if (text.length > LIMITS.base58) {
    throw invalidParams(
      `base58 encoded ${TYPE} too large: ${text.length} bytes (max: encoded/raw ${LIMITS.base58}/${LIMITS.raw})`,
    );
  }
  const bytes = fromBase58(text);
  if (bytes === undefined) throw invalidParams('invalid base58 encoding: InvalidCharacter');
  return bytes;
}

function read<T>(parse: () => T, type: string): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof WireFault) throw invalidParams(`failed to deserialize ${type}: ${error.message}`);
    throw error;
  }
}
